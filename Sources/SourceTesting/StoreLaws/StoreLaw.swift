public import AggregatorKit
public import AggregatorLaws
import Foundation
public import Testing

/// A promise of `SourceStore`, and the check for it.
public struct StoreLaw: Sendable, CustomStringConvertible {
  /// Checks a store, and a source that is new to it.
  typealias Check =
    @Sendable (inout StoreTrial, any SourceStore, String) async throws(SourceError) -> Void

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
    _ open: @escaping @Sendable () async throws -> any SourceStore
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
    firstSeenOrder, firstPassOrders, noRecordMissed, anyPageSize, sourcesSeparate, textsExact,
    checkpointCompareAndSet, checkpointOneWinner, sharedValuesSerial,
    deletionsLast, deletionsOrdered,
    searchMatches, searchLiteral, searchRanked,
    pagesCurrent, pageKeys,
    removalsFound, removalsOfPart, removalsConfirmed, removalsNeedCompletePass,
    statusCounts, clearForgets, renamedMoves, historyTells, changesNotified,
  ]
}

/// Expects a store to keep the promises of `SourceStore`.
///
/// ```swift
/// @Test func `keeps the promises of a store`() async {
///   let contents = URL.temporaryDirectory.appending(path: "\(UUID()).sqlite")
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
  of open: @escaping @Sendable () async throws -> any SourceStore
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

/// A store on which a law is checked.
struct StoreTrial: Sendable {
  private let opening: @Sendable () async throws -> any SourceStore

  let store: any SourceStore

  /// The same contents, opened as by another process.
  let other: any SourceStore

  /// A source that is new to the store.
  let source: String

  var context: LawContext

  init(
    of law: String, _ open: @escaping @Sendable () async throws -> any SourceStore
  ) async throws(SourceError) {
    opening = open
    store = try await Self.open(open)
    other = try await Self.open(open)
    source = "\(law) \(UUID())"
    context = LawContext(of: law, hiding: [])
  }

  func open() async throws(SourceError) -> any SourceStore { try await Self.open(opening) }

  private static func open(
    _ open: @Sendable () async throws -> any SourceStore
  ) async throws(SourceError) -> any SourceStore {
    do { return try await open() } catch let error as SourceError { throw error } catch {
      throw SourceError(.storage, "cannot open the store", cause: error)
    }
  }

  /// Notes a violation unless the two are equal.
  mutating func expect<Value: Equatable>(
    _ found: Value, _ expected: Value, at call: @autoclosure () -> String
  ) {
    guard found != expected else { return }
    context.violation(
      expected: String(reflecting: expected), found: String(reflecting: found), at: call())
  }

  mutating func expect(_ isTrue: Bool, _ expected: String, at call: @autoclosure () -> String) {
    guard !isTrue else { return }
    context.violation(expected: expected, found: "otherwise", at: call())
  }

  /// Reads again and again while `write` runs, and once afterwards.
  static func read(
    _ read: () async throws(SourceError) -> Void,
    while write: @escaping @Sendable () async throws(SourceError) -> Void
  ) async throws(SourceError) {
    let isWritten = Watched(false)
    async let written = Result { () async throws(SourceError) in
      defer { isWritten.change { $0 = true } }
      try await write()
    }
    var isLast = false
    repeat {
      isLast = isWritten.state
      try await read()
      await Task.yield()
    } while !isLast
    try await written.get()
  }

  /// Runs a task for each of `count` numbers, and returns their answers in the order of the numbers.
  static func concurrently<Answer: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws(SourceError) -> Answer
  ) async throws(SourceError) -> [Answer] {
    let results = await (0..<count).concurrentMap { number in
      await Result { () async throws(SourceError) in try await body(number) }
    }
    var answers: [Answer] = []
    for result in results { answers.append(try result.get()) }
    return answers
  }
}

struct LawRecord: SourceRecord {
  let id: String
  var number = 0

  var json: Data { (try? CanonicalJSON.bytes(of: self)) ?? Data() }
}

extension StoreEntry {
  /// The record with a number that searches do not see.
  init(_ id: String, _ number: Int = 0, text: String? = nil) {
    let text = text ?? "text of \(id)"
    self.init(id: id, json: LawRecord(id: id, number: number).json) { FoldedText(text) }
  }
}

extension StoredRecord {
  private var record: LawRecord? { try? JSONText(json)?.read(LawRecord.self) }

  /// The ID and the number: `b 3`.
  var text: String { record.map { "\($0.id) \($0.number)" } ?? "unreadable" }

  var id: String { record?.id ?? "unreadable" }

  var number: Int { record?.number ?? -1 }
}

extension Date {
  /// A second of the laws, whose dates are whole: a store may keep milliseconds only.
  static func law(_ second: Int = 0) -> Date {
    Date(timeIntervalSince1970: 1_700_000_000 + Double(second))
  }
}

extension SourceStore {
  @discardableResult
  func save(
    _ entries: [StoreEntry], of source: String, page: String? = nil,
    update: CheckpointUpdate? = nil, at second: Int = 0
  ) async throws(SourceError) -> StoreChanges {
    try await save(
      StoreBatch(
        entries, page: page.map { ($0, PageMetadata(next: nil, total: second, endpoint: nil)) },
        update: update),
      of: source, at: .law(second))
  }

  /// All matches, by slices of `limit`, whose number is bounded for a store that never ends.
  func all(
    _ words: [FoldedText] = [], of source: String, by limit: Int = 100
  ) async throws(SourceError) -> [StoredRecord] {
    var records: [StoredRecord] = []
    for _ in 0..<1000 {
      let slice = try await self.records(
        of: source, matching: words, after: records.last?.position ?? 0, limit: limit)
      records += slice.records
      guard slice.hasMore, !slice.records.isEmpty else { break }
    }
    return records
  }

  func ids(
    _ query: String? = nil, of source: String
  ) async throws(SourceError) -> [String] {
    let words = if let query { try SearchQuery(query).words } else { [FoldedText]() }
    return try await all(words, of: source).map(\.id)
  }
}
