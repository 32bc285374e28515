import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite struct FakeRowsTests {
  private static let rows = FakeRows(
    (1...5).map { #"{"key": {"id": \#($0)}, "name": "Lamp \#($0)"}"# }, id: "key.id")

  @Test(
    arguments: [
      (0, 2, nil, [1, 2], 2), (2, 2, nil, [3, 4], 4), (4, 2, nil, [5], nil), (5, 2, nil, [], nil),
      (-3, 2, nil, [1, 2], 2), (0, 0, nil, [], 0), (0, 5, "lamp 4", [4], nil),
      (0, 5, "", [1, 2, 3, 4, 5], nil), (0, 5, "shade", [], nil),
    ] as [(Int, Int, String?, [Int], Int?)])
  func `pages are slices of what was found`(
    position: Int, size: Int, text: String?, expected: [Int], next: Int?
  ) throws {
    let page = Self.rows.page(from: position, size: size, with: text)
    #expect(page.rows == expected.map { Self.rows["\($0)"] })
    #expect(page.next == next)
    #expect(page.total == (text.map { $0 == "lamp 4" ? 1 : $0.isEmpty ? 5 : 0 } ?? 5))
    #expect(
      try JSONDecoder().decode([JSON].self, from: Data(page.json.utf8)).count == expected.count)
  }

  @Test func `rows are found by a member, or by the IDs that are given`() {
    #expect(Self.rows["3"]?.contains("Lamp 3") == true)
    #expect(Self.rows["6"] == nil)
    let others = FakeRows([#"{"name": "a"}"#], ids: ["x/1"])
    #expect(others["x/1"] == #"{"name": "a"}"#)
  }

  @Test func `a request tells its parameters and the rest of its path`() async throws {
    let server = try LoopbackServer { request in
      let values = [
        request.parameter("q"), request.number("limit").map(String.init),
        request.number("page.size").map(String.init), request.path(below: "/v1/lamps"),
        request.path(below: "/v1/lamps/a/7"), request.path(below: "/v1/lamp"),
        request.number("q").map(String.init),
      ]
      return .json(JSON.array(values.map { $0.map(JSON.string) ?? .null }).text)
    }
    defer { server.stop() }
    let url = try #require(URL(string: "\(server.baseURL)/v1/lamps/a%2F7?q=old+lamp&limit=-2"))
    let request = HTTPRequest(.post, url, body: Data(#"{"limit": 9, "page": {"size": 5}}"#.utf8))
    let reply = try await LongTimeoutTransport().send(request)
    let values = try JSONDecoder().decode([JSON].self, from: reply.body)
    #expect(values == ["old lamp", "-2", "5", "a/7", nil, nil, nil])
  }
}
