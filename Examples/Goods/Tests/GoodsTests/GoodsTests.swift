import AggregatorSourceTesting
import Goods
import Testing

@Test func `keeps its guarantees in all fault scenarios`() async throws {
  let goods = FakeRows(
    (1...30).map {
      #"{"id": \#($0), "title": "Kettle \#($0)", "brand": "Sol", "category": "kitchen"}"#
    })
  try await expectLawsUnderFaults(of: GoodsPlugin()) { request in
    if let id = request.path.wholeMatch(of: /\/products\/(\d+)/)?.1 { return goods.reply(id) }
    let (skip, limit) = (request.number("skip") ?? 0, request.number("limit") ?? 30)
    let page = goods.page(from: skip, size: limit, with: request.parameter("q"))
    return .json(#"{"products": \#(page.json), "total": \#(page.total)}"#)
  }
}
