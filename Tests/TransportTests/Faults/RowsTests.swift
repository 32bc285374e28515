import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite struct RowsTests {
  private func json(_ text: String) throws -> JSON {
    try #require(JSON(reading: Data(text.utf8)))
  }

  @Test(arguments: [
    (#"[{"id": 1}, {"id": 2}]"#, 2), (#"{"results": [{"id": 1}], "total": 1}"#, 1),
    (#"{"data": {"rows": [{"a": [1, 2, 3]}, null]}, "tags": [{"b": 1}]}"#, 2),
    (#"{"id": 1, "words": ["a", "b"]}"#, nil), ("[1, 2]", nil), ("7", nil),
  ])
  func `finds the largest list of objects`(text: String, count: Int?) throws {
    #expect(try json(text).rows?.count == count)
  }

  @Test func `changes the rows and nothing else`() throws {
    let page = try json(#"{"data": {"rows": [{"a": 1.5}, {"a": true}], "x": null}, "n": "2"}"#)
    let changed = page.replacingRows { [.null] + $0.dropFirst() }
    #expect(changed?.text == #"{"data":{"rows":[null,{"a":true}],"x":null},"n":"2"}"#)
    #expect(page.replacingRows { $0 } == JSON?.none)
  }

  @Test func `makes totals smaller, wherever they are`() throws {
    let page = try json(
      #"{"number_of_total_results": 257, "meta": {"total": 9}, "count": "9", "id": 9}"#)
    #expect(
      page.dividingTotals(by: 2)?.text
        == #"{"count":"9","id":9,"meta":{"total":4},"number_of_total_results":128}"#)
    #expect(try json(#"{"id": 1}"#).dividingTotals(by: 2) == JSON?.none)
  }

  @Test func `rejects invalid JSON`() {
    #expect(JSON(reading: Data("{".utf8)) == JSON?.none)
  }
}
