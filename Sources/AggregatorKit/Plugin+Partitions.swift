import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorSync
import AggregatorText
import Synchronization

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
          .invalidSettings, "\(name) has a list for each day since \"\(first)\", which is no day")
      }
      return days
    case .records(let parent, let field):
      let sources = environment.sources()
      try requireNoCycle(among: sources)
      guard let parent = sources.first(where: { $0.name == parent }) else {
        throw SourceError(
          .invalidSettings, "\(name) has a list for each of \(parent), but there is no such source",
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
          "\(name) cannot have a list for each of itself: \(chain.joined(separator: " for each of "))"
        )
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
private final class RecordPartitions<Parent: Plugin>: PartitionList {
  /// The records after a position that were read last.
  private struct Buffer {
    var start: Int64 = 0
    var partitions: [Partition] = []
    /// The number of those without a value, until a warning has named them.
    var skipped = 0

    /// The partition after a position; `nil` if it must be read.
    func partition(after position: Int64) -> Partition? {
      position >= start ? partitions.first { $0.position > position } : nil
    }
  }

  private let name: String
  private let field: String
  private let isEndless: Bool
  private let freshness: Duration
  private let recordStore: RecordStore<Parent.Item>
  private let sync: Lazy<Result<Sync<Parent.Item>, SourceError>, Never>
  private let value: @Sendable (StoredRecord) -> String?
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date
  private let buffer = Mutex(Buffer())
  private let knownBase = Mutex<Int64?>(nil)

  private static var bufferSize: Int { 64 }

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

  func partition(
    after position: Int64, cachePolicy: CachePolicy
  ) async throws(SourceError) -> PartitionStep {
    var warnings: [Warning] = []
    var hasEnded = false
    while true {
      if let partition = try await storedPartition(after: position, &warnings) {
        return PartitionStep(partition, warnings: warnings)
      }
      if hasEnded { return PartitionStep(nil, warnings: warnings) }
      let last = try await recordStore.lastSync()
      guard cachePolicy.mayAskService else {
        if last.full == nil { warnings.append(incomplete("not all of them are cached")) }
        return PartitionStep(nil, warnings: warnings)
      }
      if isFresh(last) { return PartitionStep(nil, warnings: warnings) }
      let result = try await sync.value().get().run(upTo: 1, jobs: 1, waits: false) { _ in }
      warnings += try self.warnings(of: result, after: last)
      if result.failure == nil, !result.hasEnded, result.pages == 0 {
        warnings.append(incomplete("another program is reading them"))
        hasEnded = true
      }
      hasEnded = hasEnded || result.failure != nil || result.hasEnded
    }
  }

  func partition(at position: Int64) async throws(SourceError) -> Partition? {
    guard position > 0 else { return nil }
    var warnings: [Warning] = []
    let found = try await storedPartition(after: position - 1, &warnings)
    return found?.position == position ? found : nil
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
    buffer.withLock { $0 = Buffer() }
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

  /// Why the list may lack partitions after a part of a sync, which failed if `nothing` is cached instead.
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

  private func storedPartition(
    after position: Int64, _ warnings: inout [Warning]
  ) async throws(SourceError) -> Partition? {
    var position = position
    while true {
      let known = buffer.withLock { buffer in
        let partition = buffer.partition(after: position)
        defer { if partition != nil { buffer.skipped = 0 } }
        return partition.map { (partition: $0, skipped: buffer.skipped) }
      }
      if let (partition, skipped) = known {
        if skipped > 0 { warnings.append(incomplete("\(skipped) of them have no \(field)")) }
        return partition
      }
      let slice = try await recordStore.store.records(
        of: recordStore.source, matching: [], after: try await base() + position,
        limit: Self.bufferSize)
      guard let last = slice.records.last else { return nil }
      let partitions = slice.records.compactMap(partition(of:))
      buffer.withLock { buffer in
        // Of those before, a warning is still due.
        let skipped = buffer.skipped + slice.records.count - partitions.count
        buffer = Buffer(start: position, partitions: partitions, skipped: skipped)
      }
      if partitions.isEmpty { position = Self.relative(last.position) }
    }
  }

  /// Before the positions of the source.
  private func base() async throws(SourceError) -> Int64 {
    if let known = knownBase.withLock({ $0 }) { return known }
    let last = try await recordStore.store.status(of: recordStore.source).lastPosition
    // Without records there is none yet.
    guard last > 0 else { return 0 }
    let base = last - Self.relative(last)
    knownBase.withLock { $0 = base }
    return base
  }

  private static func relative(_ position: Int64) -> Int64 {
    position & (1 << PositionRange.bits - 1)
  }

  private func partition(of record: StoredRecord) -> Partition? {
    value(record).map { Partition(position: Self.relative(record.position), value: $0) }
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
