public import AggregatorKit
public import AggregatorLaws
import Foundation

/// A promise of `Store`, and the check for it.
public struct StoreLaw: Sendable, CustomStringConvertible {
  typealias Check = @Sendable (inout StoreTrial) async throws(SourceError) -> Void

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
          try await run(&trial)
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
