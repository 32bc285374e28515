import AggregatorKit
import Foundation
import HeroesSource
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

@Suite struct HintTests {
  private let name = Setting("NOTES_USER", .text, about: "A name.")
  private let key = Setting("NOTES_KEY", .secret, about: "A key.")
  private let keyOfArchive = Setting("NOTES_KEY_2", .secret, about: "Another key.")

  @Test func `a missing key is hinted at by its own name`() {
    let settings = [name, key, keyOfArchive]
    for setting in settings {
      let error = SourceError(.missingKey, "\(setting.key) is not set")
      guard case .command("config set \(setting.key)") = error.hint(settings: settings) else {
        Issue.record("\(setting.key)")
        continue
      }
    }
  }

  @Test(arguments: [nil, SourceError(.unreachable, "cannot connect")])
  func `fresh cached pages beside fetched ones are a note, stale ones a warning`(
    reason: SourceError?
  ) throws {
    let now = Date()
    var outcome = ListingOutcome(of: HeroesPlugin(), at: now)
    let cached = Provenance(.cached, fetchedAt: now, reason: reason)
    for provenance in [cached, Provenance(.live)] {
      outcome.add(Page<HeroesPlugin.Item>([], provenance: provenance), showing: 1)
    }
    let remark = try #require(outcome.allRemarks.last)
    #expect(remark.warning.code == .cached && remark.isNote == (reason == nil))
  }

  @Test(arguments: [(30, "fetched"), (600, "oldest fetched")])
  func `the age of cached records of several times is that of the oldest`(
    seconds: Double, words: String
  ) throws {
    let now = Date()
    var outcome = ListingOutcome(of: HeroesPlugin(), at: now)
    for age in [0, seconds] {
      let provenance = Provenance(
        .cached, fetchedAt: now.addingTimeInterval(age - 1200),
        reason: SourceError(.unreachable, "cannot connect"))
      outcome.add(Page<HeroesPlugin.Item>([], provenance: provenance), showing: 1)
    }
    let remark = try #require(outcome.allRemarks.last)
    #expect(remark.warning.message.hasPrefix("cached, \(words) 20 min ago ("))
  }

  @Test func `a key that is not named is only guessed if there is one`() {
    let error = SourceError(.invalidKey, "invalid API key", remedy: "get a new one")
    guard case .command("config set NOTES_KEY") = error.hint(settings: [name, key]),
      case .words("get a new one") = error.hint(settings: [name, key, keyOfArchive])
    else {
      Issue.record("another hint")
      return
    }
  }
}
