public import AggregatorKit
public import AggregatorLaws
import Foundation
public import Testing

/// A promise of `Store`, and the check for it.
public struct StoreLaw: Sendable, CustomStringConvertible {
  /// Checks a store, and a source that is new to it.
  typealias Check =
    @Sendable (inout StoreTrial, any Store, String) async throws(SourceError) -> Void

  /// The stable identifier: `batch-atomic`.
  public let name: String

  public let summary: String

  private let run: Check

  init(_ name: String, _ summary: String, _ run: @escaping Check) {
    self.name = name
    self.summary = summary
    self.run = run
  }

  /// Checks the law on a store, which `open` opens as often as there are processes.
  ///
  /// If the store fails, the verdict is `inconclusive`.
  public func check(
    _ open: @escaping @Sendable () async throws -> any Store
  ) async -> Verdict {
    await RunningCheck.named("store: \(name)") {
      do throws(SourceError) {
        var trial = try await StoreTrial(of: name, open)
        do throws(SourceError) {
          try await run(&trial, trial.store, trial.source)
          return trial.context.verdict
        } catch { return trial.context.verdict(after: error) }
      } catch { return .inconclusive(error) }
    }
  }

  public var description: String { "\(name): \(summary)" }

  public static let all: [StoreLaw] = [
    batchAtomic, batchShared, unchangedUnwritten, mergeStored, recordTwice,
    firstSeenOrder, noRecordMissed, anyPageSize, sourcesSeparate, textsExact,
    checkpointCompareAndSet, checkpointOneWinner, sharedValuesSerial,
    deletionsLast, deletionsOrdered,
    searchMatches, searchLiteral, searchRanked,
    pagesCurrent, pageKeys,
    removalsFound, removalsConfirmed, removalsNeedCompletePass,
    statusCounts, clearForgets, historyTells, changesNotified,
  ]
}

/// Expects a store to keep the promises of `Store`.
///
/// ```swift
/// @Test func `keeps the promises of a store`() async {
///   let contents = URL.temporaryDirectory.appending(path: "\(UUID()).sqlite").path
///   await expectStoreLaws { SQLiteStore(at: contents) }
/// }
/// ```
///
/// `open` opens the same contents each time, as another process would; for a store in memory it returns the
/// same object. A law works on sources with new names, so all of them, and other data, can share a database,
/// in which they leave those sources.
///
/// Records an issue for every violation, and for every law that could not be checked because the store
/// failed. Returns the verdicts, in the order of `laws`.
@discardableResult
public func expectStoreLaws(
  _ laws: [StoreLaw] = StoreLaw.all, sourceLocation location: SourceLocation = #_sourceLocation,
  of open: @escaping @Sendable () async throws -> any Store
) async -> [(law: StoreLaw, verdict: Verdict)] {
  CrashNote.install()
  var verdicts: [(law: StoreLaw, verdict: Verdict)] = []
  for law in laws {
    let verdict = await law.check(open)
    verdicts.append((law, verdict))
    switch verdict {
    case .holds: break
    case .violated(let violations):
      for violation in violations { Issue.record("\(violation)", sourceLocation: location) }
    case .notApplicable: print("\(law.name) is \(verdict)")
    case .inconclusive: Issue.record("\(law.name) is \(verdict)", sourceLocation: location)
    }
  }
  return verdicts
}
