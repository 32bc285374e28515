import AggregatorSourceTesting
import Testing
import {{Module}}Source

@Suite(.timeLimit(.minutes(5))) struct {{Module}}Tests {
  private static let rows = (1...30).map { #"{"id": "\#($0)", "name": "Sample \#($0)"}"# }

  @Test func `keeps its promises in all fault scenarios`() async throws {
    try await expectLawsUnderFaults(of: {{Module}}Plugin()) { request in
      if let id = request.path.wholeMatch(of: /\/items\/(.+)/)?.1 {
        let row = Self.rows.first { $0.hasPrefix(#"{"id": "\#(id)""#) }
        return row.map { .json($0) } ?? .json("{}", status: 404)
      }
      func number(_ name: String) -> Int { request.query[name].flatMap { Int($0) } ?? 0 }
      let words = request.query["q"]?.lowercased() ?? ""
      let found = Self.rows.filter { $0.lowercased().contains(words) }
      let page = found.dropFirst(number("skip")).prefix(number("limit"))
      return .json(#"{"items": [\#(page.joined(separator: ","))], "total": \#(found.count)}"#)
    }
  }

  @Test func `bundled {{name}} obey the laws`() async {
    await expectLaws(ofBundledOf: {{Module}}Plugin())
  }
}
