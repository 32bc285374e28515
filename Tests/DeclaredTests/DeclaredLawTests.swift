import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Testing

@testable import DeclaredSource

extension FakeAPI {
  /// `change` changes the text of the manifest.
  func plugin(_ change: (String) -> String = { $0 }) throws -> DeclaredPlugin {
    DeclaredPlugin("lamps", try Manifest(reading: Data(change(manifest).utf8)))
  }

  func environment(over store: (any SourceStore)? = nil) -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(settings), transport: transport, store: store, now: { Fixture.date },
      random: { 0 })
  }
}

/// The laws hold for a declared source as for a compiled one, whatever its paging.
@Suite(.timeLimit(.minutes(10))) struct DeclaredLawTests {
  @Test(arguments: FakeAPI.Paging.allCases)
  func `the remote keeps the laws`(paging: FakeAPI.Paging) async throws {
    let service = try FakeAPI(paging)
    let report = try await expectLaws(
      ofRemoteOf: service.plugin(), in: service.environment(), knowing: Self.ids)
    let lasting: Set = ["cursor-lasts", "pagination-stable"]
    let skipped = Set(report.notApplicable.map(\.law.name))
    #expect(skipped.isSuperset(of: lasting) == (paging == .tokenOnce))
    if paging == .tokenOnce {
      for entry in report.notApplicable where lasting.contains(entry.law.name) {
        #expect("\(entry.verdict)" == "not applicable: the service sends each page only once")
      }
    }
  }

  @Test(arguments: FakeAPI.Paging.allCases)
  func `the chain over a store keeps the laws`(paging: FakeAPI.Paging) async throws {
    let home = URL.temporaryDirectory.appending(path: "laws-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let service = try FakeAPI(paging)
    let store = SQLiteStore(at: home.appending(path: "store.sqlite").path)
    var chain = try LawSubject(
      chainOf: service.plugin(), in: service.environment(over: store))
    chain.query = try SearchQuery("brass")
    await expectLaws(of: chain)
  }

  @Test(arguments: FakeAPI.Paging.allCases)
  func `all guarantees hold in all fault scenarios`(paging: FakeAPI.Paging) async throws {
    let service = try FakeAPI(paging)
    let report = try await expectLawsUnderFaults(
      of: service.plugin(), in: service.environment(), knowing: Self.ids)
    let withoutEffect = Set(report.entries.filter { !$0.hasEffect }.map(\.scenario.name))
    #expect(withoutEffect.isSubset(of: Self.needsTotalOrPages.union(["no-fault"])))
  }

  private static let ids = (1000..<1000 + FakeAPI.count).map(String.init)

  /// Without a total, or in a single page, these change nothing.
  private static let needsTotalOrPages: Set = [
    "shrinking-total", "repeated-page", "ignored-offset", "empty-page", "row-deleted",
    "row-inserted",
  ]
}
