import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import ProductsSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProductErrorTests {
  private static let replies: [(LoopbackReply, SourceError.Code, String)] = [
    (.json("{}", status: 500), .serverError, "failed (500)"),
    (.html(title: "502 Bad Gateway", status: 502), .serverError, "502 Bad Gateway"),
    (.html(title: "Error", status: 400), .rejected, "refused the request (400)"),
    (.html(title: "Error", status: 404), .rejected, "refused the request (404)"),
    (.html(title: "Welcome"), .malformed, #"an HTML page instead of JSON: "Welcome""#),
    (.json("{}"), .malformed, "is missing"), (.json("null"), .malformed, "invalid response"),
    (.json(#"{"products":null,"product":null}"#), .malformed, "invalid response"),
    (.json(#"{"products":{},"product":[]}"#), .malformed, "invalid response"),
    (.json(#"{"products":["#), .malformed, "ends early"), (.json(""), .malformed, "empty response"),
    (.closed, .connectionLost, "without a response"),
  ]

  @Test(arguments: replies.indices)
  func `reports the error`(index: Int) async throws {
    let (reply, code, words) = Self.replies[index]
    let service = try FakeProducts()
    service.fail(with: reply)
    let products = try service.products()
    let list = await #expect(throws: SourceError.self) { try await products.page(PageRequest()) }
    #expect(list?.code == code)
    #expect(list?.message.contains(words) == true)
    let item = await #expect(throws: SourceError.self) { try await products.item("x") }
    #expect(item?.code == code)
    #expect(item?.message.contains(words) == true)
    #expect(service.requests.count == 2)
  }

  @Test func `rejects searches`() async throws {
    let service = try FakeProducts()
    let products = try service.products()
    let error = await #expect(throws: SourceError.self) {
      try await products.page(PageRequest(matching: SearchQuery("lamp")))
    }
    #expect(error?.code == .invalidRequest)
    #expect(service.requests.isEmpty)
  }
}
