import AggregatorKit
import AggregatorSourceTesting
import Paintings
import Testing

@Suite(.timeLimit(.minutes(10))) struct PaintingsTests {
  private static let key = "a-key-of-this-test"

  /// Years are text, some are empty; some rows have one artist, some several.
  private static let rows = (1...120).map { number in
    let artist = number.isMultiple(of: 3) ? #"["Ann", "Bob"]"# : #""Ann""#
    let year = number.isMultiple(of: 4) ? "" : "\(1700 + number)"
    return #"{"objectID": \#(number), "title": "Iris \#(number)", "artist": \#(artist), "#
      + #""year": "\#(year)", "picture": "https://museum.example/\#(number).jpg"}"#
  }

  @Test func `satisfies the laws in all fault scenarios`() async throws {
    let settings = Settings([PaintingsPlugin.key: Self.key])
    try await expectLawsUnderFaults(of: PaintingsPlugin(), settings: settings) { request in
      guard request.header("X-Api-Key") == Self.key else { return .json("{}", status: 401) }
      if let id = request.path.wholeMatch(of: /.*\/paintings\/(.+)/)?.1 {
        let row = Self.rows.first { $0.hasPrefix(#"{"objectID": \#(id),"#) }
        return row.map { .json($0) } ?? .json("{}", status: 404)
      }
      func number(_ name: String) -> Int { request.query[name].flatMap { Int($0) } ?? 1 }
      let found = Self.rows.filter { $0.lowercased().contains(request.query["q"] ?? "iris") }
      let page = found.dropFirst(max(number("page") - 1, 0) * number("per_page")).prefix(
        number("per_page"))
      return .json(#"{"data": [\#(page.joined(separator: ","))], "total": "\#(found.count)"}"#)
    }
  }

  @Test func `requires the key`() {
    let environment = PluginEnvironment(settings: Settings(), transport: HTTPTransport.standard)
    let error = #expect(throws: SourceError.self) { try PaintingsPlugin().remote(in: environment) }
    #expect(error?.code == .missingKey)
    #expect(error?.message == "PAINTINGS_KEY is not set")
  }

  @Test func `the bundled paintings satisfy the laws`() async {
    await expectLaws(ofBundledDataOf: PaintingsPlugin())
  }
}
