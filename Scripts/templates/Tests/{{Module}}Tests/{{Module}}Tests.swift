{{if secret}}
import AggregatorKit
{{end}}
import AggregatorSourceTesting
import Testing
import {{Module}}Source

@Suite(.timeLimit(.minutes(10))) struct {{Module}}Tests {
{{if images}}
  private static let rows = (1...230).map {
    #"{"id": "\#($0)", "name": "Sample \#($0)", "image": "https://{{name}}.example/\#($0).png"}"#
  }
{{end}}
{{if !images}}
  private static let rows = (1...230).map { #"{"id": "\#($0)", "name": "Sample \#($0)"}"# }
{{end}}

  @Test func `keeps its guarantees in all fault scenarios`() async throws {
{{if secret}}
    let settings = Settings([{{Module}}Plugin.key.key: "a-key-of-this-test"])
    try await expectLawsUnderFaults(of: {{Module}}Plugin(), settings: settings) { request in
      guard request.header("Authorization") == "Bearer a-key-of-this-test" else {
        return .json("{}", status: 401)
      }
{{end}}
{{if !secret}}
    try await expectLawsUnderFaults(of: {{Module}}Plugin()) { request in
{{end}}
      if let id = request.path.wholeMatch(of: /\/items\/(.+)/)?.1 {
        let row = Self.rows.first { $0.hasPrefix(#"{"id": "\#(id)""#) }
        return row.map { .json($0) } ?? .json("{}", status: 404)
      }
      func number(_ name: String) -> Int { request.query[name].flatMap { Int($0) } ?? 0 }
      let words = request.query["q"]?.lowercased() ?? ""
      // Foundation's `contains` does not find empty text.
      let found = Self.rows.filter { words.isEmpty || $0.lowercased().contains(words) }
{{if page}}
      let start = max(number("page") - 1, 0) * number("limit")
{{end}}
{{if offset}}
      let start = number("skip")
{{end}}
{{if link cursor}}
      let start = number("cursor")
{{end}}
      let page = found.dropFirst(start).prefix(number("limit"))
      let items = page.joined(separator: ",")
{{if page offset}}
      return .json(#"{"items": [\#(items)], "total": \#(found.count)}"#)
{{end}}
{{if link}}
      let next = "/items?cursor=\(page.endIndex)&limit=\(number("limit"))&q=\(words)"
      let isLast = page.endIndex >= found.count
      return .json(#"{"items": [\#(items)], "next": "\#(isLast ? "" : next)"}"#)
{{end}}
{{if cursor}}
      let next = page.endIndex < found.count ? "\(page.endIndex)" : ""
      return .json(#"{"items": [\#(items)], "next": "\#(next)"}"#)
{{end}}
    }
  }

  @Test func `bundled {{name}} obey the laws`() async {
    await expectLaws(ofBundledDataOf: {{Module}}Plugin())
  }
}
