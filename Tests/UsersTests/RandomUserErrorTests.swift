import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite(.timeLimit(.minutes(10)))
struct RandomUserErrorTests {
  private func error(of reply: LoopbackReply) async throws -> SourceError {
    let service = try FakeRandomUser()
    service.fail(with: reply)
    let users = try service.users()
    let error = await #expect(throws: SourceError.self) { try await users.page(PageRequest()) }
    #expect(service.requests.count == 1)
    return try #require(error)
  }

  @Test(
    arguments: [
      (.tooMany, .rateLimited, "rate limited by randomuser.me"),
      (.tooManyAs503, .rateLimited, "rate limited by randomuser.me"),
      (.tooManyAs200, .rateLimited, "rate limited by randomuser.me"),
      (.wrong, .serverError, "something has gone wrong"),
      (.wrongAs200, .serverError, "something has gone wrong"),
      (.broken, .serverError, #"(500): "Internal Server Error""#),
      (.unknownVersion, .rejected, #"(404): "Not Found""#),
      (.blocked, .rejected, #"(403): "Attention Required! | Cloudflare""#),
      (.outage, .serverError, #"(503): "503 Service Unavailable""#),
      (.page, .malformed, #"an HTML page instead of JSON: "Random User Generator | Home""#),
    ] as [(RandomUserFault, SourceError.Code, String)])
  func `reports the error of the service or its proxy`(
    fault: RandomUserFault, code: SourceError.Code, words: String
  ) async throws {
    let error = try await error(of: fault.reply)
    #expect(error.code == code)
    #expect(error.message.contains(words))
    #expect(error.retryAfter == (code == .rateLimited ? .seconds(300) : nil))
  }

  @Test func `uses the Retry-After of the service`() async throws {
    let reply = LoopbackReply.status(
      429, #"{"error":"Whoa, ease up there cowboy."}"#, headers: [("Retry-After", "77")])
    #expect(try await error(of: reply).retryAfter == .seconds(77))
  }

  @Test(
    arguments: [
      (404, .rejected), (401, .rejected), (429, .rateLimited), (502, .serverError),
      (200, .serverError),
    ] as [(Int, SourceError.Code)])
  func `uses the status if the message is unknown`(
    status: Int, code: SourceError.Code
  ) async throws {
    let error = try await error(of: .json(#"{"error":"No\nway"}"#, status: status))
    #expect(error.code == code)
    #expect(error.message.hasSuffix(": \"No way\""))
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"results":null}"#, #"{"results":{}}"#, #"{"results":["#,
    #"{"results":[],"info":7}"#, #"{"results":[],"info":{"page":"1"}}"#,
  ])
  func `rejects a body that is not a page of people`(body: String) async throws {
    #expect(try await error(of: .json(body)).code == .malformed)
  }

  @Test func `supports neither search nor lookups`() async throws {
    let service = try FakeRandomUser()
    let users = try service.users()
    let search = await #expect(throws: SourceError.self) {
      try await users.page(PageRequest(matching: SearchQuery("ada")))
    }
    #expect(search?.code == .invalidRequest)
    let address = try #require(EmailAddress("a@example.com"))
    let item = await #expect(throws: SourceError.self) { try await users.item(address) }
    #expect(item?.code == .unsupported)
    #expect(service.requests.isEmpty)
  }
}
