import AggregatorSourceTesting
import Quakes
import Testing

@Suite(.timeLimit(.minutes(10))) struct QuakesTests {
  private static let rows = (1...30).map {
    #"{"id": "us\#($0)", "place": "Ridge \#($0)", "occurredAt": "2026-03-14T06:12:09+02:00"}"#
  }

  @Test func `satisfies the laws in all fault scenarios`() async throws {
    try await expectLawsUnderFaults(of: QuakesPlugin()) { request in
      if let id = request.path.wholeMatch(of: /\/quakes\/(.+)/)?.1 {
        let row = Self.rows.first { $0.hasPrefix(#"{"id": "\#(id)""#) }
        return row.map { .json($0) } ?? .json("{}", status: 404)
      }
      func number(_ name: String) -> Int? { request.query[name].flatMap { Int($0) } }
      // It sends 20 rows at most, and 10 by default.
      let (start, size) = (number("from") ?? 0, min(number("size") ?? 10, 20))
      let words = request.query["q"]
      let found = Self.rows.filter { $0.lowercased().contains(words ?? "ridge") }
      let rows = found.dropFirst(start).prefix(size)
      // A link without a host, and one with; none at the end.
      let host = start.isMultiple(of: 2) ? "" : "https://quakes.example"
      let search = words.map { "&q=\($0)" } ?? ""
      let link = #""\#(host)/quakes?from=\#(rows.endIndex)&size=\#(size)\#(search)""#
      let next = rows.endIndex < found.count ? link : "null"
      return .json(#"{"quakes": [\#(rows.joined(separator: ","))], "next": \#(next)}"#)
    }
  }

  @Test func `the bundled quakes satisfy the laws`() async {
    await expectLaws(ofBundledDataOf: QuakesPlugin())
  }
}
