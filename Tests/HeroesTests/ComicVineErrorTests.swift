import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import HeroesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ComicVineErrorTests {
  private func error(
    of reply: LoopbackReply, at now: Date = Fixture.date
  ) async throws -> SourceError {
    let service = try FakeComicVine()
    service.fail(with: reply)
    return try await error(of: service, at: now) { try await $0.page(PageRequest()) }
  }

  private func error<Answer>(
    of service: FakeComicVine, at now: Date = Fixture.date,
    asking ask: (any DataSource<Hero>) async throws -> Answer
  ) async throws -> SourceError {
    let heroes = try service.heroes(at: now)
    let error = await #expect(throws: SourceError.self) { try await ask(heroes) }
    #expect(service.requests.count <= 1)
    return try #require(error)
  }

  @Test(
    arguments: [
      (.quota, .rateLimited, "hourly quota"),
      (.velocity, .rateLimited, "rate limited by Comic Vine (429)"),
      (.blocked, .rejected, #"(403): "Attention Required! | Cloudflare""#),
      (.broken, .serverError, "failed (500)"), (.badGateway, .serverError, "failed (502)"),
      (.unavailable, .serverError, "failed (503)"),
      (.page, .malformed, "an HTML page instead of JSON"),
      (.abnormalTraffic, .rejected, "blocked this IP address"),
    ] as [(ComicVineFault, SourceError.Code, String)])
  func `reports the error of the service or its proxy`(
    fault: ComicVineFault, code: SourceError.Code, words: String
  ) async throws {
    let error = try await error(of: fault.reply)
    #expect(error.code == code)
    #expect(error.message.contains(words))
  }

  @Test(
    arguments: [
      (200, 101, .rejected, "has no such list"), (200, 103, .rejected, "(103: Gone wrong)"),
      (200, 104, .rejected, "(104: Gone wrong)"), (200, 105, .rejected, "subscription"),
      (401, 100, .invalidKey, "invalid API key"), (200, 100, .invalidKey, "key"),
      (404, 102, .rejected, #"(404): "Gone wrong""#), (200, 107, .rateLimited, "quota"),
      // The HTTP status takes precedence over an unknown code.
      (502, 502, .serverError, "failed (502)"), (503, 1, .serverError, "failed (503)"),
      (429, 1, .rateLimited, "rate limited by"), (401, 999, .invalidKey, "(401)"),
    ] as [(Int, Int, SourceError.Code, String)])
  func `reads the service's own status`(
    status: Int, own: Int, code: SourceError.Code, words: String
  ) async throws {
    let body = #"{"error":"Gone\nwrong","limit":0,"status_code":\#(own),"results":[]}"#
    let error = try await error(of: .json(body, status: status))
    #expect(error.code == code)
    #expect(error.message.contains(words))
  }

  @Test(arguments: [1259, 0, -1])
  func `reports an unknown ID`(id: Int) async throws {
    let service = try FakeComicVine()
    let error = try await error(of: service) { try await $0.item(id) }
    #expect(error.code == .notFound)
    #expect(error.message.contains("\"\(id)\""))
  }

  @Test func `rejects a list instead of a character`() async throws {
    let error = try await error(of: try FakeComicVine(quirks: [.wrongShape])) {
      try await $0.item(1253)
    }
    #expect(error.code == .malformed)
  }

  @Test(arguments: ["", "   ", "[]", "{}", "null", "OK", #"{"status_code":"fine"}"#, "{"])
  func `rejects a body without an envelope`(body: String) async throws {
    #expect(try await error(of: .json(body)).code == .malformed)
  }

  @Test(arguments: [
    // 10:10: fifty minutes to the full hour.
    (0, 3000), (2999.5, 300), (2000, 1000), (2701, 300), (3000, 3600),
  ])
  func `waits for the hourly quota, at least five minutes`(
    seconds: Double, wait: Int
  ) async throws {
    let error = try await error(
      of: ComicVineFault.quota.reply, at: Fixture.date.addingTimeInterval(seconds))
    #expect(error.retryAfter == .seconds(wait))
  }

  @Test(arguments: [(420, #"{"status_code":107}"#), (429, "<title>429</title>")])
  func `uses the Retry-After of the service`(
    status: Int, body: String
  ) async throws {
    let error = try await error(of: .status(status, body, headers: [("Retry-After", "77")]))
    #expect(error.code == .rateLimited)
    #expect(error.retryAfter == .seconds(77))
  }

  @Test func `detects the lockout whatever the status`() async throws {
    let error = try await error(of: .html(title: "Abnormal Traffic Detected", status: 403))
    #expect(error.message.contains("blocked this IP address"))
  }

  @Test func `reads a hero whose biography mentions abnormal traffic`() async throws {
    var character = FakeCharacter.complete
    character.description = "<title>Abnormal Traffic</title>"
    let service = try FakeComicVine([character])
    #expect(try await service.heroes().item(character.id).item.id == character.id)
  }
}
