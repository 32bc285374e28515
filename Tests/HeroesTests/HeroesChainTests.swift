import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import HeroesSource
import Testing

/// The service and its fallbacks.
@Suite(.timeLimit(.minutes(10)))
struct HeroesChainTests {
  private func expectBundle(
    of chain: any DataSource<Hero>, because code: SourceError.Code,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> SourceError {
    let page = try await chain.page(PageRequest(limit: 3))
    #expect(page.records.map(\.id) == [1440, 1441, 1442], sourceLocation: sourceLocation)
    #expect(page.provenance.origin == .bundled, sourceLocation: sourceLocation)
    let reason = try #require(page.provenance.reason, sourceLocation: sourceLocation)
    #expect(reason.code == code, sourceLocation: sourceLocation)
    return reason
  }

  @Test func `is answered by the service`() async throws {
    let service = try FakeComicVine()
    let page = try await service.chain().page(PageRequest(limit: 3))
    #expect(page.records.map(\.id) == [1253, 1254, 1255])
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.reason == nil)
    #expect(service.requests.count == 1)
  }

  @Test func `finds the same through the chain with pages in flight`() async throws {
    let walk = try await FakeComicVine(searchLimit: 10).chain().wholeWalk(
      matching: "spider anvil", size: 10, ahead: 4)
    #expect(walk.ids.count == 31)
    #expect(walk.end == .exhausted)
  }

  @Test(arguments: [
    ("", "COMIC_VINE_API_KEY is not set"),
    ("your_api_key_here", "COMIC_VINE_API_KEY is still the example placeholder"),
  ])
  func `sends no request without a key`(key: String, words: String) async throws {
    let service = try FakeComicVine()
    let chain = try service.chain(with: ["COMIC_VINE_API_KEY": key])
    let reason = try await expectBundle(of: chain, because: .missingKey)
    #expect(reason.message == words)
    #expect(service.requests.isEmpty)
  }

  @Test func `reports an invalid key`() async throws {
    let service = try FakeComicVine()
    let chain = try service.chain(with: ["COMIC_VINE_API_KEY": "not-the-right-key"])
    _ = try await expectBundle(of: chain, because: .invalidKey)
    #expect(service.requests.count == 1)
  }

  @Test func `does not retry a refused connection`() async throws {
    let nobody = try RefusingPort()
    let service = try FakeComicVine()
    let log = EventLog()
    let chain = try service.chain(
      with: ["COMIC_VINE_URL": nobody.baseURL.absoluteString], observer: log.observer)
    _ = try await expectBundle(of: chain, because: .unreachable)
    #expect(log.sentCount == 1)
  }

  @Test(arguments: [ComicVineFault.broken, .badGateway, .unavailable])
  func `makes three attempts when the service fails`(fault: ComicVineFault) async throws {
    let service = try FakeComicVine()
    service.fail(with: fault.reply)
    _ = try await expectBundle(of: service.chain(), because: .serverError)
    #expect(service.requests.count == 3)
  }

  @Test func `is answered by the service after retries`() async throws {
    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.unavailable.reply, times: 2)
    let page = try await service.chain().page(PageRequest(limit: 3))
    #expect(page.provenance.origin == .live)
    #expect(service.requests.count == 3)
  }

  @Test func `does not retry when the quota is used up`() async throws {
    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.quota.reply)
    // Ten seconds to the full hour, which a retry could wait for.
    let chain = try service.chain(at: Fixture.date.addingTimeInterval(2990))
    let reason = try await expectBundle(of: chain, because: .rateLimited)
    #expect(reason.retryAfter == .seconds(300))
    #expect(service.requests.count == 1)
  }

  @Test func `does not retry before Retry-After`() async throws {
    let service = try FakeComicVine()
    service.fail(with: .status(429, "<title>429</title>", headers: [("Retry-After", "3600")]))
    let reason = try await expectBundle(of: service.chain(), because: .rateLimited)
    #expect(reason.retryAfter == .seconds(3600))
    #expect(service.requests.count == 1)
  }

  @Test(arguments: [ComicVineFault.blocked, .page, .abnormalTraffic])
  func `does not retry permanent errors`(fault: ComicVineFault) async throws {
    let service = try FakeComicVine()
    service.fail(with: fault.reply)
    let code: SourceError.Code = fault == .page ? .malformed : .rejected
    _ = try await expectBundle(of: service.chain(), because: code)
    #expect(service.requests.count == 1)
  }

  @Test func `opens no socket in offline mode`() async throws {
    let service = try FakeComicVine()
    _ = try await expectBundle(of: service.chain(cachePolicy: .offline), because: .offline)
    #expect(service.requests.isEmpty)
  }

  @Test func `fails without a fallback`() async throws {
    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.blocked.reply)
    let error = await #expect(throws: SourceError.self) {
      try await service.chain(cachePolicy: .noFallback).page(PageRequest())
    }
    #expect(error?.code == .rejected)
  }

  @Test func `continues in the bundled data if pagination started there`() async throws {
    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.blocked.reply, times: 1)
    let chain = try service.chain()
    let first = try await chain.page(PageRequest(limit: 3))
    let second = try await chain.page(PageRequest(after: first.next, limit: 3))
    #expect(second.provenance.origin == .bundled)
    #expect(second.provenance.reason?.code == .rejected)
    #expect(Set(first.records.map(\.id)).isDisjoint(with: second.records.map(\.id)))
    #expect(service.requests.count == 1)
  }

  @Test func `trusts the service that a hero does not exist`() async throws {
    // 1440 is bundled, but the service does not have it.
    let service = try FakeComicVine([.complete])
    let error = await #expect(throws: SourceError.self) { try await service.chain().item(1440) }
    #expect(error?.code == .notFound)
    #expect(service.requests.count == 1)
  }

  @Test func `does not report a hero as not found when the service fails`() async throws {
    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.abnormalTraffic.reply)
    let error = await #expect(throws: SourceError.self) { try await service.chain().item(7) }
    #expect(error?.code == .rejected)
  }

  @Test func `keeps the rate of the settings by default`() throws {
    let plugin = HeroesPlugin()
    #expect(plugin.policy.rate == HeroesPlugin.rate)
    #expect(try SourceSettings([:]).rate(HeroesPlugin.rate)?.description == "1/s 200/h")
    #expect(plugin.policy.deadline == .seconds(30))
  }
}
