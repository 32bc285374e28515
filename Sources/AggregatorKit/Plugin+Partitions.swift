import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorSync
import AggregatorText

/// The parts of a source's list, each of which is a list of its own at the service.
public enum Partitions: Hashable, Sendable {
  /// One for each record of another source of the program, whose field or member has the ``Partition/value``.
  ///
  /// The value must be another one for each record.
  case records(of: String, field: String)

  /// One for each day in UTC since the first one, `2024-01-01`, or for so many days together.
  ///
  /// A sync reads a day until `lookback` after it began, and at least until it is over.
  case days(since: String, step: Int = 1, lookback: Duration = .zero)

  /// One for each of some texts.
  case values([String])
}

extension Plugin {
  /// The remote source with all of its partitions, if it has any.
  ///
  /// - Throws: As ``remote(in:)``, and `invalidSettings` if there are no such partitions.
  package func wholeRemote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Item> {
    guard let list = try partitionList(in: environment) else { return try remote(in: environment) }
    let pages = PartitionPages(name, for: list) { partition throws(SourceError) in
      try remote(in: environment.reading(partition))
    }
    return PartitionedSource(name, for: list, over: pages, now: environment.now)
  }

  /// The partitions of this source; `nil` if its list is one.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if there is no such source or day, or if a source has itself as a
  ///   parent.
  package func partitionList(
    in environment: PluginEnvironment
  ) throws(SourceError) -> (any PartitionList)? {
    switch partitions {
    case nil: return nil
    case .values(let values): return FixedPartitions(values)
    case .days(let first, let step, let lookback):
      let days = DailyPartitions(
        since: first, step: step, lookback: lookback, now: environment.now)
      guard let days else {
        throw SourceError(
          .invalidSettings, "invalid first day \"\(first)\" of its lists")
      }
      return days
    case .records(let parent, let field):
      let sources = environment.sources()
      try requireNoCycle(among: sources)
      guard let parent = sources.first(where: { $0.name == parent }) else {
        throw SourceError(
          .invalidSettings, "it has a list for each of \(parent), but there is no such source",
          remedy: Remedy("sources list", .command))
      }
      return parent.partitions(by: field, in: environment)
    }
  }

  private func requireNoCycle(among sources: [any Plugin]) throws(SourceError) {
    var chain = [name]
    var next = partitions
    while case .records(let parent, _)? = next {
      chain.append(parent)
      guard chain.dropLast().allSatisfy({ $0 != parent }) else {
        throw SourceError(
          .invalidSettings,
          "cannot have a list for each of itself: \(chain.joined(separator: " for each of "))")
      }
      next = sources.first { $0.name == parent }?.partitions
    }
  }

  private func partitions(by field: String, in environment: PluginEnvironment) -> any PartitionList
  {
    RecordPartitions(self, by: field, in: environment)
  }
}

extension PluginEnvironment {
  func reading(_ partition: Partition) -> PluginEnvironment {
    var environment = self
    environment.partition = partition
    return environment
  }
}

/// A partition for each record of a source, in the order in which the store has them.
///
/// Pages of the service are read, and stored, when the end of those that are stored is reached, unless all of them were
/// read not long ago. So a call of a partition's service is never also one of its parent's.
private struct RecordPartitions<Parent: Plugin>: PartitionList {
  private let name: String
  private let field: String
  private let isEndless: Bool
  private let freshness: Duration
  private let recordStore: RecordStore<Parent.Item>
  private let sync: Lazy<Result<Sync<Parent.Item>, SourceError>, Never>
  private let value: @Sendable (StoredRecord) -> String?
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date

  init(_ parent: Parent, by field: String, in environment: PluginEnvironment) {
    name = parent.name
    self.field = field
    isEndless = parent.policy.isEndless
    freshness = if case .liveFirst(let time) = parent.policy.readOrder { time } else { .zero }
    let store = environment.store ?? InMemoryStore()
    recordStore = parent.recordStore(in: store)
    sync = Lazy {
      Result { () throws(SourceError) in try parent.sync(into: store, in: environment) }
    }
    value = parent.value(of: field)
    clock = environment.clock
    now = environment.now
  }

  func partitions(
    after position: Int64, limit: Int, cachePolicy: CachePolicy
  ) async throws(SourceError) -> PartitionSlice {
    var slice = PartitionSlice([])
    var hasEnded = false
    while true {
      slice.partitions = try await stored(after: position, limit: limit, &slice.warnings)
      if hasEnded || !slice.partitions.isEmpty { return slice }
      let last = try await recordStore.lastSync()
      guard cachePolicy.mayAskService else {
        if last.full == nil { slice.warnings.append(incomplete("not all of them are cached")) }
        return slice
      }
      if isFresh(last) { return slice }
      let result = try await sync.value().get().run(upTo: 1, jobs: 1, waits: false) { _ in }
      slice.warnings += try warnings(of: result, after: last)
      hasEnded = result.failure != nil || result.hasEnded
      if !hasEnded, result.pages == 0 {
        slice.warnings.append(incomplete("another program is reading them"))
        hasEnded = true
      }
    }
  }

  func partition(at position: Int64) async throws(SourceError) -> Partition? {
    let slice = try await recordStore.store.records(
      of: recordStore.source, matching: [], after: position - 1, limit: 1)
    return slice.records.first { $0.position == position }.flatMap(partition(of:))
  }

  func refresh(waits: Bool) async throws(SourceError) -> [Warning] {
    let last = try await recordStore.lastSync()
    // Of an endless list those that are there.
    guard !isEndless, !isFresh(last) else { return [] }
    var result = SyncResult()
    repeat {
      if result.failure != nil {
        // Another machine reads them.
        do { try await clock.sleep(for: .seconds(1)) } catch { throw SourceError.cancelled }
        if try await isFresh(recordStore.lastSync()) { return [] }
      }
      result = try await sync.value().get().run(upTo: nil, jobs: 1, waits: waits) { _ in }
    } while result.failure?.code == .busy && recordStore.store.isShared
    return try warnings(of: result, after: last)
  }

  func hiddenKeys() async throws(SourceError) -> Set<String> {
    var keys: Set<String> = []
    var last: String?
    while true {
      let deletions = try await recordStore.store.deletions(
        of: recordStore.source, after: last, limit: 1000)
      for deletion in deletions {
        if let record = deletion.record.flatMap(partition(of:)) { keys.insert(record.key) }
      }
      guard let end = deletions.last else { return keys }
      last = end.id
    }
  }

  private func isFresh(_ last: LastSync) -> Bool {
    guard let completed = last.completed else { return false }
    return 0..<(freshness / .seconds(1)) ~= now().timeIntervalSince(completed)
  }

  /// The reason the list may lack partitions after a sync, or a part of it.
  ///
  /// - Throws: Its failure, if no complete sync before it has left a list.
  private func warnings(
    of result: SyncResult, after last: LastSync
  ) throws(SourceError) -> [Warning] {
    if let failure = result.failure {
      guard failure.allowsFallback || failure.code == .busy, let full = last.full else {
        throw failure
      }
      return [
        incomplete("\(failure.message); those of \(ChangeTracking.text(of: full.iso8601)) are used")
      ]
    }
    if let reason = result.inconclusiveReason { return [incomplete(reason)] }
    return result.reachedDepth.map { [incomplete("the service lists only the first \($0)")] } ?? []
  }

  private func incomplete(_ reason: String) -> Warning {
    Warning(.incomplete, "some \(name) may be missing: \(reason)")
  }

  // MARK: - The store

  /// The partitions that are stored after a position; none if no record with a value follows it.
  private func stored(
    after position: Int64, limit: Int, _ warnings: inout [Warning]
  ) async throws(SourceError) -> [Partition] {
    var (position, skipped) = (position, 0)
    while true {
      let records = try await recordStore.store.records(
        of: recordStore.source, matching: [], after: position, limit: limit
      ).records
      let partitions = records.compactMap(partition(of:))
      skipped += records.count - partitions.count
      if let last = records.last, partitions.isEmpty {
        position = last.position
        continue
      }
      if skipped > 0 { warnings.append(incomplete("\(skipped) of them have no \(field)")) }
      return partitions
    }
  }

  private func partition(of record: StoredRecord) -> Partition? {
    value(record).map { Partition(position: record.position, value: $0) }
  }
}

extension Plugin {
  /// Reads the text, or the whole number, of a field or a member of a stored record; `nil` if it has none.
  fileprivate func value(of field: String) -> @Sendable (StoredRecord) -> String? {
    let known = fields.first { $0.name == field }
    let row = (Item.self as? any RowRecord.Type)?.rowMember
    let path = ([row].compactMap(\.self) + field.split(separator: ".").map(String.init))
      .map(JSONPathComponent.member)
    return { record in
      guard let text = JSONText(record.json) else { return nil }
      let value =
        known.flatMap { known in (try? text.read(Item.self)).map { known[$0] } }
        ?? path.values(in: JSON(text)).first
      switch value {
      case .string(let text): return text.isEmpty || text.utf8.count > 512 ? nil : text
      case .integer(let number): return String(number)
      default: return nil
      }
    }
  }
}
