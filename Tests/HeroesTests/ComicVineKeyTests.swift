import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import HeroesSource
import Testing

/// The key is sent in the query, and nowhere else.
@Suite(.timeLimit(.minutes(10)))
struct ComicVineKeyTests {
  /// The key, plain and as encoded in URLs and JSON.
  private static let forms = [
    FakeComicVine.key, "canary%2F7f3a%2B9c51e2d84b06", #"canary\/7f3a+9c51e2d84b06"#,
    "9c51e2d84b06",
  ]

  private func expectNoKey(
    in text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for form in Self.forms {
      #expect(!text.lowercased().contains(form.lowercased()), sourceLocation: sourceLocation)
    }
  }

  @Test func `is sent in the query only`() async throws {
    let service = try FakeComicVine()
    _ = try await service.heroes().page(PageRequest(limit: 1))
    let request = try #require(service.requests.first)
    #expect(request.queryItems.filter { $0.value == FakeComicVine.key }.map(\.name) == ["api_key"])
    expectNoKey(in: request.path)
    for field in request.headers { expectNoKey(in: "\(field.name): \(field.value)") }
  }

  @Test func `is in no provenance, record, cursor, description or event`() async throws {
    let service = try FakeComicVine()
    let notes = EventLog()
    let heroes = try service.chain(observer: notes.observer)
    let page = try await heroes.page(PageRequest(limit: 2))
    let found = try await heroes.item(1253)
    #expect(page.provenance.endpoint == "\(service.url)/characters/")
    #expect(notes.text.contains("api_key=REDACTED"))
    expectNoKey(in: notes.text)
    for text in [dumped(page), dumped(found), "\(heroes)", "\(try service.heroes())"] {
      expectNoKey(in: text)
    }
  }

  @Test(
    arguments: [
      .status(500, FakeComicVine.key), .status(403, "<title>\(FakeComicVine.key)</title>"),
      .json(
        #"{"error":"Invalid API Key canary\/7f3a+9c51e2d84b06","status_code":104,"results":[]}"#),
      .json("no JSON but \(FakeComicVine.key)"), .reset, .closed,
      .redirect(to: "https://other.example/?api_key=canary%2F7f3a%2B9c51e2d84b06"),
      .redirect(to: "ftp://canary%2F7f3a%2B9c51e2d84b06/"), .redirect(to: "/api/characters/?again"),
    ] as [LoopbackReply])
  func `is in no error and no event of a failure`(reply: LoopbackReply) async throws {
    let service = try FakeComicVine()
    service.fail(with: reply)
    let notes = EventLog()
    let heroes = try service.chain(cachePolicy: .noFallback, observer: notes.observer)
    let error = await #expect(throws: SourceError.self) { try await heroes.page(PageRequest()) }
    expectNoKey(in: dumped(try #require(error)))
    #expect(notes.text.contains("REDACTED"))
    expectNoKey(in: notes.text)
  }

  @Test func `stays out of the events of a redirect that repeats it`() async throws {
    let service = try FakeComicVine()
    let again = "\(service.url)/characters/?format=json&api_key=canary%2F7f3a%2B9c51e2d84b06"
    service.fail(with: .redirect(to: again, status: 301), times: 1)
    let notes = EventLog()
    let page = try await service.chain(observer: notes.observer).page(PageRequest())
    #expect(page.records.count == 20)
    #expect(service.requests.count == 2)
    expectNoKey(in: notes.text + dumped(page))
  }

  @Test func `is not sent without TLS`() async throws {
    let service = try FakeComicVine()
    let environment = service.environment(with: ["COMIC_VINE_URL": "http://comicvine.example/api"])
    let error = await #expect(throws: SourceError.self) {
      try await HeroesPlugin().remote(in: environment).page(PageRequest())
    }
    #expect(error?.code == .invalidSettings)
    expectNoKey(in: dumped(try #require(error)))
  }
}

private func dumped(_ value: some Any) -> String {
  var text = ""
  dump(value, to: &text)
  return text
}
