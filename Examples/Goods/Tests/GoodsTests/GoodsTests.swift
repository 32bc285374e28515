import AggregatorSourceTesting
import Goods
import Testing

@Test func `keeps its guarantees in all fault scenarios`() async throws {
  let goods = (1...30).map {
    #"{"id": \#($0), "title": "Kettle \#($0)", "brand": "Sol", "category": "kitchen"}"#
  }
  try await expectLawsUnderFaults(of: GoodsPlugin()) { request in
    func number(_ name: String) -> Int { request.query[name].flatMap { Int($0) } ?? 0 }
    if let id = Int(request.path.split(separator: "/").last ?? "") {
      return goods.indices.contains(id - 1) ? .json(goods[id - 1]) : .json("{}", status: 404)
    }
    let found = goods.filter { $0.lowercased().contains(request.query["q"] ?? "kettle") }
    let page = found.dropFirst(number("skip")).prefix(number("limit")).joined(separator: ",")
    return .json(#"{"products": [\#(page)], "total": \#(found.count)}"#)
  }
}
