import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

/// Replays recorded replies of randomuser.me.
@Suite(.timeLimit(.minutes(10))) struct RecordedTests {
  private static let plugin = UsersPlugin(now: { Fixture.date })
  private static let working = Fixture("working")
  private static let failing = Fixture("failing")

  private func environment(_ fixture: Fixture) throws -> PluginEnvironment {
    try fixture.environment(for: Self.plugin, with: ["RANDOM_USER_PAGE_SIZE": "10"])
  }

  private func chain(
    _ fixture: Fixture, _ cachePolicy: CachePolicy = .normal
  ) throws -> any DataSource<User> {
    try Self.plugin.source(in: environment(fixture)).cachePolicy(cachePolicy)
  }

  // MARK: - Recording

  @Test func `recording the service again changes nothing`() async throws {
    let service = try FakeRandomUser()
    let files = try await Self.working.recordedAnew(from: service, for: Self.plugin) { users in
      _ = try await users.wholeWalk(size: 10, upTo: PaginationBound(pages: 3))
    }
    #expect(try files == Self.working.files())
  }

  @Test func `recording a failure again changes nothing`() async throws {
    let service = try FakeRandomUser()
    service.fail(with: RandomUserFault.tooMany.reply)
    let files = try await Self.failing.recordedAnew(from: service, for: Self.plugin) { users in
      _ = try? await users.page(PageRequest(limit: 10))
    }
    #expect(try files == Self.failing.files())
  }

  // MARK: - Replaying

  @Test func `lists`() async throws {
    let walk = try await chain(Self.working).wholeWalk(size: 10, upTo: PaginationBound(items: 12))
    // Two people on each page have the same address.
    #expect(walk.ids == Array(FakeRandomUser.everybody(onPages: 1...2).prefix(12)))
    #expect(walk.end == .itemLimit)
    let page = try #require(walk.pages.first)
    #expect(page.unreadable == .none)
    #expect(page.provenance.origin == .live)
    #expect(page.provenance.endpoint == "https://randomuser.me/api/")
    let fetchedAt = try #require(page.provenance.fetchedAt)
    #expect(0..<30 ~= fetchedAt.timeIntervalSince(Fixture.date))
  }

  @Test func `searches`() async throws {
    let page = try await chain(Self.working).page(
      PageRequest(matching: SearchQuery("nunez"), limit: 1))
    #expect(page.records.map(\.name) == ["Miss Ada Núñez"])
  }

  @Test func `shows`() async throws {
    let user = try await chain(Self.working).item(
      #require(EmailAddress("same.person9@example.com"))
    )
    .item
    #expect(user.name == "Miss Oskar Núñez")
    #expect(user.country == "United Kingdom")
    #expect(user.postcode == "SW1A 1AA")
    #expect(user.registeredAt == "2009-02-28")
  }

  @Test func `does not read beyond the recording`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.working).item(#require(EmailAddress("nobody@example.com")))
    }
    #expect(error?.code == .notRecorded)
  }

  @Test func `keeps the laws`() async throws {
    var users = try LawSubject(remoteOf: Self.plugin, in: environment(Self.working))
    users.bound = PaginationBound(items: 12)
    let report = await expectLaws(of: users)
    #expect(
      report.notApplicable.map(\.law.name) == [
        "ids-unique", "list-complete", "skip-consistent", "one-state", "search-matches",
        "search-uses-words", "search-pages", "search-within-list", "search-complete",
        "listed-id-found", "unknown-not-found", "fields-filled", "no-secret",
      ])
  }

  @Test func `reports the failure and the fallback`() async throws {
    let page = try await chain(Self.failing).page(PageRequest(limit: 20))
    #expect(page.provenance.origin == .bundled)
    #expect(page.provenance.reason?.code == .rateLimited)
    let error = await #expect(throws: SourceError.self) {
      try await chain(Self.failing, .noFallback).page(PageRequest(limit: 20))
    }
    #expect(error?.code == .rateLimited)
  }
}
