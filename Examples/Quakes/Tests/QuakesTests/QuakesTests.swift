import AggregatorSourceTesting
import Quakes
import Testing

@Test func `quakes satisfy the laws in all fault scenarios`() async throws {
  let quakes = FakeRows(
    (1...30).map {
      #"{"id": "us\#($0)", "place": "Ridge \#($0)", "occurredAt": "2026-03-14T06:12:09+02:00"}"#
    })
  try await expectLawsUnderFaults(of: QuakesPlugin()) { request in
    if let id = request.path(below: "/quakes") { return quakes.reply(id) }
    // It sends 20 rows at most, and 10 by default.
    let (start, size) = (request.number("from") ?? 0, min(request.number("size") ?? 10, 20))
    let page = quakes.page(from: start, size: size, with: request.parameter("q"))
    // A link without a host, and one with; none at the end.
    let host = start.isMultiple(of: 2) ? "" : "https://quakes.example"
    let search = request.parameter("q").map { "&q=\($0)" } ?? ""
    let next = page.next.map { #""\#(host)/quakes?from=\#($0)&size=\#(size)\#(search)""# }
    return .json(#"{"quakes": \#(page.json), "next": \#(next ?? "null")}"#)
  }
}

@Test func `bundled quakes satisfy the laws`() async {
  await expectLaws(ofBundledDataOf: QuakesPlugin())
}
