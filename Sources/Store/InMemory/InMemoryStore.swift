public import AggregatorCore
public import AggregatorFoundation
public import AggregatorText
import Synchronization

/// A store in memory, for tests, previews, and apps that keep nothing.
///
/// Nothing is durable: everything goes away with the object, which all who share its data must share. It
/// keeps no history, and has no clock of its own.
///
/// A record is found by its ID or position at once, a page of a list takes time proportional to its records,
/// and saving to those of the batch. A search looks at every record that follows its position, and a search
/// by rank at all.
public final class InMemoryStore: SourceStore, ScopeKeepingStore {
  private struct Contents {
    var sources: [RecordKey: InMemoryContents] = [:]
    var shared: [RecordKey: String] = [:]
  }

  private let contents = Mutex(Contents())
  private let listeners = ChangeListeners()

  public init() {}

  private func read<Answer: Sendable>(
    _ source: String, _ body: (InMemoryContents) -> sending Answer
  ) -> Answer {
    contents.withLock { body($0.sources[RecordKey(source)] ?? InMemoryContents()) }
  }

  private func write<Answer: Sendable>(
    _ source: String, _ body: (inout InMemoryContents) -> sending Answer
  ) -> Answer {
    let key = RecordKey(source)
    let (answer, isChanged) = contents.withLock { contents in
      let revision = contents.sources[key]?.revision ?? 0
      let answer = body(&contents.sources[key, default: InMemoryContents()])
      return (answer, contents.sources[key]?.revision != revision)
    }
    if isChanged { listeners.notify { $0 == key } }
    return answer
  }

  public func changeNotifications(of source: String) async -> AsyncStream<Void> {
    listeners.stream(of: source)
  }

  public func revision(of source: String) async throws(SourceError) -> String? {
    read(source) { "\($0.revision)" }
  }

  public func update(
    of source: String, since mark: RecordMark?
  ) async throws(SourceError) -> RecordUpdate? {
    read(source) { $0.update(since: mark) }
  }

  public func records(
    of source: String, matching words: [FoldedText], after position: Int64, limit: Int
  ) async throws(SourceError) -> RecordSlice {
    read(source) { $0.records(matching: words, after: position, limit: limit) }
  }

  public func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    read(source) { $0.records(matching: search, after: start, limit: limit) }
  }

  public func records(
    of source: String, at positions: [Int64]
  ) async throws(SourceError) -> [StoredRecord] {
    read(source) { contents in positions.compactMap(contents.identifiedRecord) }
  }

  public func record(_ id: String, of source: String) async throws(SourceError) -> StoredRecord? {
    read(source) { $0.row(of: id)?.record }
  }

  public func page(_ key: String, of source: String) async throws(SourceError) -> CachedPage? {
    read(source) { $0.page(RecordKey(key)) }
  }

  public func pageKeys(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String] {
    read(source) { $0.pages.keys.map(\.text).filter { $0.utf8.starts(with: prefix.utf8) } }
  }

  public func state(
    of source: String, checkpoints names: [String]
  ) async throws(SourceError) -> StoredState {
    read(source) { contents in
      var state = StoredState(contents.status)
      state.pages = contents.pages.sorted { $0.value.fetchedAt > $1.value.fetchedAt }
        .map { (key: $0.key.text, page: $0.value.page) }
      for name in names { state.checkpoints[name] = contents.checkpoints[RecordKey(name)] }
      return state
    }
  }

  public func checkpoint(_ name: String, of source: String) async throws(SourceError) -> String? {
    read(source) { $0.checkpoints[RecordKey(name)] }
  }

  public func checkpoints(
    of source: String, startingWith prefix: String
  ) async throws(SourceError) -> [String: String] {
    read(source) { contents in
      let found = contents.checkpoints.filter { $0.key.text.utf8.starts(with: prefix.utf8) }
      return Dictionary(uniqueKeysWithValues: found.map { ($0.key.text, $0.value) })
    }
  }

  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    write(source) { $0.save(batch, of: source, at: date, keeping: .off) }
  }

  public func delete(
    _ ids: [String], of source: String, at date: Date
  ) async throws(SourceError) -> [String] {
    write(source) { contents in
      ids.filter { contents.delete(RecordKey($0)) }
    }
  }

  public func restore(_ ids: [String]?, of source: String) async throws(SourceError) -> [String] {
    write(source) { contents in
      (ids ?? contents.tombstones.map(\.text)).filter { contents.restore(RecordKey($0)) }
    }
  }

  public func deleted(
    among ids: [String], of source: String
  ) async throws(SourceError) -> Set<RecordKey> {
    read(source) { contents in contents.tombstones.intersection(ids.map { RecordKey($0) }) }
  }

  public func deletions(
    of source: String, after id: String?, limit: Int
  ) async throws(SourceError) -> [StoredDeletion] {
    read(source) { contents in
      let start = id.map { RecordKey($0) }
      return contents.tombstones.filter { key in start.map { key > $0 } ?? true }
        .sorted().prefix(limit)
        .map { StoredDeletion(id: $0.text, record: contents.row(of: $0.text)?.record) }
    }
  }

  public func change(
    _ key: String, timed body: @escaping @Sendable (String?, Date?) -> String?
  ) async throws(SourceError) {
    contents.withLock { contents in
      if let text = body(contents.shared[RecordKey(key)], nil) {
        contents.shared[RecordKey(key)] = text
      }
    }
  }

  public func status(of source: String) async throws(SourceError) -> StoreStatus {
    read(source) { $0.status }
  }

  package func rename(
    _ names: [(old: String, new: String)], droppingPages dropsPages: Bool
  ) async throws(SourceError) {
    contents.withLock { contents in
      for (old, new) in names {
        let (old, new) = (RecordKey(old), RecordKey(new))
        guard contents.sources[new] == nil, var moved = contents.sources.removeValue(forKey: old)
        else { continue }
        if dropsPages { moved.removePages(of: 0) }
        contents.sources[new] = moved
      }
    }
    for name in names { listeners.notify { [name.old, name.new].contains($0.text) } }
  }

  package func names() async throws(SourceError) -> [String] {
    contents.withLock { $0.sources.keys.map(\.text) }
  }

  public func clear(_ source: String, forgetsDeleted: Bool) async throws(SourceError) {
    write(source) { contents in
      // Positions are never reused: an old cursor must not point at new records.
      contents = InMemoryContents(
        start: contents.lastPosition, tombstones: forgetsDeleted ? [] : contents.tombstones,
        revision: contents.revision + 1)
    }
  }
}
