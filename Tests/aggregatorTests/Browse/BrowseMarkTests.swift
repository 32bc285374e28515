import AggregatorKit
import CountriesSource
import Foundation
import Synchronization
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSync
@testable import AggregatorTerminal

/// What matches a filter, and pauses of a service.
@Suite struct BrowseMarkTests {
  /// The text of the marked cells of each row.
  private func marked(_ screen: Screen) -> [String] {
    (0..<screen.height).map { row in
      String(
        screen.row(row).filter { $0.style.codes.contains("1;4") }.compactMap(\.character))
    }.filter { !$0.isEmpty }
  }

  @Test(arguments: [true, false])
  func `the words of a filter are marked in list and record`(hasColor: Bool) {
    var browsing = BrowsingState()
    browsing.open("heroes", width: 120, height: 24)
    browsing.answer(total: 1)
    browsing.press(.character("/"))
    browsing.type("spiderman keen", of: 2) {
      BrowsingState.row($0, $0 == 0 ? "Spider-Man" : "日本 Spider-Man")
    }
    let found = marked(browsing.screen(Theme(hasColor: hasColor, hasUTF8: true)))
    // In both rows of the list, in the name of the record beside it, and in its field.
    #expect(found.count { $0.contains("Spider-Man") } == 4, "\(found)")
    #expect(found.contains { $0.contains("keen") })
    #expect(found.allSatisfy { !$0.contains("日") })
    browsing.press(.escape)
    browsing.answer(total: 2)
    #expect(marked(browsing.screen()).isEmpty)
  }

  @Test func `the letters of a picker's query are marked where they match`() {
    var browsing = BrowsingState()
    browsing.pick(matching: "sm vel")
    browsing.answer(total: 2) { BrowsingState.row($0, $0 == 0 ? "Spider-Man" : "日本 Sm") }
    let found = marked(browsing.screen())
    #expect(found.contains("SMvel"), "\(found)")
    #expect(found.contains("Smvel"), "\(found)")
  }

  // MARK: - Pauses

  @Test func `a pause is counted down, and ends by itself`() {
    var browsing = BrowsingState(isOffline: false)
    browsing.open("heroes", width: 120)
    browsing.answer(total: 3)
    #expect(!browsing.state.hasCountdown)
    let end = BrowsingState.now.addingTimeInterval(28)
    browsing.handle(
      .paused("heroes", Pause(until: end, "heroes: failed, paused for", isWait: false)))
    #expect(browsing.state.hasCountdown)
    #expect(browsing.text.contains("heroes: failed, paused for 28 s"))
    browsing.state.now = BrowsingState.now.addingTimeInterval(17.5)
    #expect(browsing.text.contains("heroes: failed, paused for 11 s"))
    // A failure that the pause explains does not hide it.
    browsing.handle(.refreshed("heroes", .failure(BrowseFailure("failing repeatedly"))))
    #expect(browsing.text.contains("heroes: failed, paused for 11 s"))
    var refused = SyncEnd()
    refused.isPaused = true
    browsing.handle(.synced("heroes", Notice(.error, "failing repeatedly"), refused))
    #expect(browsing.text.contains("heroes: failed, paused for 11 s"))
    // A request of another part of the service ends no refusal.
    browsing.handle(.paused("heroes", nil))
    #expect(browsing.state.hasCountdown)
    browsing.state.now = end
    #expect(!browsing.state.hasCountdown)
    #expect(!browsing.text.contains("paused for"))
  }

  @Test func `a pause has as many lines as it needs on a narrow screen`() {
    var browsing = BrowsingState(isOffline: false)
    browsing.open("heroes", width: 40)
    let end = BrowsingState.now.addingTimeInterval(86)
    let words = "heroes: rate limited by the service 34 s ago, after GET /heroes, paused for"
    browsing.handle(.paused("heroes", Pause(until: end, words, isWait: false)))
    let text = browsing.text
    #expect(text.contains("/heroes, paused for") && text.contains("86 s"), "\(text)")
  }

  @Test func `a pause after failures is over once the service is asked all the same`() {
    let pause = Pause(
      until: BrowsingState.now.addingTimeInterval(28), "heroes: failed, paused for", isWait: false)
    var browsing = BrowsingState(isOffline: false)
    browsing.open("heroes", width: 120)
    browsing.answer(total: 3)
    var summary = ListingSummary(count: 1)
    summary.provenance = CombinedProvenance(Provenance(.live))
    guard let badge = OriginBadge(summary, choosesLocal: false, at: BrowsingState.now) else {
      Issue.record("no badge")
      return
    }
    browsing.handle(.paused("heroes", pause))
    browsing.handle(.refreshed("heroes", .success(Refreshed(badge, count: 3))))
    #expect(!browsing.text.contains("paused for"))
    browsing.handle(.paused("heroes", pause))
    let effects = browsing.press(.character("r"))
    #expect(effects.contains(.refresh("heroes", query: "", isForced: true)))
    #expect(!browsing.text.contains("paused for"))
  }

  @Test func `a wait is shown beside the progress of a sync, until a request is sent`() {
    var browsing = BrowsingState(isOffline: false)
    browsing.open("heroes", width: 120)
    browsing.answer(total: 3)
    browsing.press(.character("S"))
    browsing.handle(.syncing("heroes", progress: "heroes: page 3"))
    let end = BrowsingState.now.addingTimeInterval(5)
    browsing.handle(
      .paused("heroes", Pause(until: end, "heroes: rate limit 1/s, waiting", isWait: true)))
    #expect(browsing.text.contains("heroes: page 3 · Esc stops · rate limit 1/s, waiting 5 s"))
    // Of another source, too, but its own.
    browsing.handle(.paused("countries", nil))
    #expect(browsing.state.hasCountdown)
    browsing.handle(.paused("heroes", nil))
    #expect(!browsing.text.contains("waiting"))
  }

  @Test func `the end of a sync is said in words, and names the source once`() {
    func notice(_ change: (inout SyncResult) -> Void) -> Notice {
      var result = SyncResult()
      result.pages = 1
      change(&result)
      let report = SyncReport(result, of: CountriesPlugin(), isWaiting: true)
      return EffectRunner.notice(of: report, "countries")
    }
    #expect(notice { _ in } == Notice(.note, "countries: no records (1 page)"))
    let all = notice { result in
      (result.added, result.changed, result.removedUpstream, result.pages) = (12, 3, 2, 10)
    }
    #expect(all == Notice(.note, "countries: 12 new, 3 changed, 2 removed upstream (10 pages)"))
    let short = notice { result in
      (result.added, result.pages) = (150, 4)
      result.shortfall = Shortfall(
        .sentFewer, "the service reports 5000 records but sent 150")
    }
    #expect(short.kind == .warning)
    #expect(
      short.text.hasPrefix("countries: the service reports 5000 records but sent 150"),
      "\(short.text)")
    #expect(short.text.hasSuffix("150 new (4 pages)"))
    let over = notice { result in
      (result.passed, result.total) = (430, 600)
      result.shortfall = Shortfall(.sentFewer, "the service reports 600 records but sent 430")
    }
    #expect(
      over
        == Notice(
          .warning, "countries: the service sent no more, although it reports 600 records"))
    let end = notice { ($0.isComplete, $0.passed) = (true, 430) }
    #expect(end == Notice(.note, "countries: no more records"))
    let failed = notice { $0.failure = SourceError(.unreachable, "no route to host") }
    #expect(failed == Notice(.error, "countries: no route to host"))
  }

  @Test func `waits and refusals of a source are pauses`() {
    let now = BrowsingState.now
    let posted = Posted()
    let observe = RecordBrowser.pauses(of: "heroes", now: { now }, post: { posted.add($0) })
    observe(.waiting(.seconds(3), reason: "rate limit 1/s"))
    observe(.fellBack(SourceError(.circuitOpen, "failing", retryAfter: .seconds(30))))
    observe(
      .failed(
        source: "heroes", call: "list",
        error: SourceError(.rateLimited, "rate limited by the service", retryAfter: .seconds(90))))
    observe(.failed(source: "heroes", call: "list", error: SourceError(.unreachable, "no route")))
    observe(.fellBack(SourceError(.serverError, "500", retryAfter: .seconds(3))))
    observe(.sent(method: "GET", address: "https://example.com"))
    let pauses = posted.all
    #expect(
      pauses == [
        Pause(until: now + 3, "heroes: rate limit 1/s, waiting", isWait: true),
        Pause(
          until: now + 30, "heroes: the service failed repeatedly, paused for", isWait: false),
        Pause(until: now + 90, "heroes: rate limited by the service, paused for", isWait: false),
        nil,
      ])
  }

  private final class Posted: Sendable {
    private let pauses = Mutex<[Pause?]>([])

    var all: [Pause?] { pauses.withLock(\.self) }

    func add(_ event: BrowseEvent) {
      if case .paused("heroes", let pause) = event { pauses.withLock { $0.append(pause) } }
    }
  }
}
