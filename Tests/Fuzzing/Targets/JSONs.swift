import Core
import Foundation

/// JSON, before it is known what it is of.
extension FuzzTarget {
  static let json = [jsonValue, jsonSpacing, lossyArray]

  private static let documents = [
    #"{"b":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00"],"a":{"":"x"},"c":[]}"#, "[[1,2],[3]]", "\"x\"",
  ].map { Array($0.utf8) }

  private static let jsonTokens = [
    "{", "}", "[", "]", ":", ",", "\"", "\\u", "\\ud800", "1e", "null",
  ]

  private static let jsonValue = FuzzTarget("json", samples: documents, tokens: jsonTokens) {
    bytes in
    guard let json = JSON(reading: Data(bytes)) else { return }
    let text = json.text
    let bad = text.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "the text has U+\(String(bad?.value ?? 0, radix: 16))")
    try expect(JSON(reading: Data(text.utf8))?.text == text, "written and read it is another value")
  }

  private static let jsonSpacing = FuzzTarget(
    "json-spacing", samples: documents, tokens: jsonTokens
  ) { bytes in
    guard let compact = JSONSpacing.compact(bytes) else {
      return try expect(JSONSpacing.indented(bytes) == nil, "it is indented although it is no JSON")
    }
    guard let indented = JSONSpacing.indented(bytes) else { throw BrokenPromise("not indented") }
    try expect(JSONSpacing.compact(indented) == compact, "indented it is another text")
    try expect(JSONSpacing.compact(compact) == compact, "compact it is another text")
    try expect(JSONSpacing.indented(indented) == indented, "indented again it is another text")
  }

  /// A row that knows some types.
  private struct Row: Decodable {
    let id: Int
    let name: String?
    let tags: LossyArray<String>?
    let size: Double?
    let kind: JSON?
  }

  private static let lossyArray = FuzzTarget(
    "lossy-array",
    samples: [#"[{"id":1,"name":"a","tags":["x",null],"size":1.5,"kind":{}},{"id":2},{"id":"3"}]"#]
      .map { Array($0.utf8) }, tokens: jsonTokens
  ) { bytes in
    let reply = HTTPResponse(status: 200, body: Data(bytes))
    let rows: LossyArray<Row>
    do throws(SourceError) { rows = try reply.decoded(by: "a service") } catch {
      return try expectHarmless(error)
    }
    try expect(rows.count == rows.elements.count + rows.unreadable.count, "a row is lost")
    let hasReason = rows.unreadable.firstReason != nil
    try expect(hasReason == (rows.unreadable.count > 0), "a row is lost without a reason")
  }
}
