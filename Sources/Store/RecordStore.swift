public import AggregatorCore
public import AggregatorFoundation
public import AggregatorText

/// The typed view of one source's records in a ``SourceStore``.
public struct RecordStore<Item: SourceRecord>: Sendable {
  public let source: String
  public let store: any SourceStore

  /// True if lists have all that there is to know of a record, so that a sync that finds one unchanged has seen all of it.
  package var listsAreWhole = false

  /// True if the source has secrets, for which `REDACTED` may stand in its records.
  package var mayHaveRedacted = false

  private let text: @Sendable (Item) -> FoldedText

  /// `text` returns the folded text of a record, in which searches look.
  public init(
    _ source: String, in store: any SourceStore, text: @escaping @Sendable (Item) -> FoldedText
  ) {
    self.source = source
    self.store = store
    self.text = text
  }

  /// Saves the records of a page, fetched at `date`.
  package func save(
    _ records: [Item], page: (key: String, page: PageMetadata)? = nil, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await save(StoreBatch(entries(encoded(records)), page: page), at: date)
  }

  package func save(_ batch: StoreBatch, at date: Date) async throws(SourceError) -> StoreChanges {
    try await store.saveObserved(batch, of: source, at: date)
  }

  /// - Parameter folds: False if the store has most of the records, and needs no text then.
  package func encoded(
    _ records: [Item], folding folds: Bool = true
  ) throws(SourceError) -> [EncodedRecord<Item>] {
    do { return try records.map { try EncodedRecord($0, text: folds ? text($0) : nil) } } catch {
      throw SourceError(.malformed, "a record cannot be encoded", cause: error)
    }
  }

  /// A batch of records, and of those that the store has unchanged.
  package func batch(_ records: [EncodedRecord<Item>]) -> StoreBatch {
    var batch = StoreBatch(entries(records.filter { $0.position == nil }))
    batch.unchanged = records.compactMap(\.position)
    return batch
  }

  package func entries(_ records: [EncodedRecord<Item>]) -> [StoreEntry] {
    records.map { encoded in
      StoreEntry(id: encoded.id.description, json: encoded.json) {
        // Encoded records can be decoded: one of the laws of sources.
        encoded.text ?? (try? JSONText(encoded.json)?.read(Item.self)).map(text) ?? FoldedText("")
      } mergedWithStored: { known in
        // A record that another version wrote may be unreadable: then there is nothing to merge.
        guard let (item, known) = items(encoded, known) else { return nil }
        let merged = item.merged(over: known)
        guard merged != item else { return nil }
        return (try? CanonicalJSON.bytes(of: merged)).map { ($0, text(merged)) }
      } isChange: { known in
        // If each form completes the other to the same record, they differ only in what they leave out.
        guard let (item, known) = items(encoded, known) else { return false }
        return known.merged(over: item) != item.merged(over: known)
      }
    }
  }

  /// A record and its stored form; `nil` if that cannot be read.
  private func items(_ encoded: EncodedRecord<Item>, _ known: Data) -> (Item, known: Item)? {
    guard let item = try? JSONText(encoded.json)?.read(Item.self),
      let known = try? JSONText(known)?.read(Item.self)
    else { return nil }
    return (item, known)
  }

  /// True if all words occur in the text of a record.
  package func matches(_ item: Item, _ words: [FoldedText]) -> Bool {
    text(item).containsAll(words)
  }

  /// Decodes stored records, and counts those that cannot be.
  package func decoded(_ stored: [StoredRecord]) -> (records: [Item], unreadable: UnreadableRows) {
    var records: [Item] = []
    var unreadable = UnreadableRows.none
    for record in stored {
      if let item = try? JSONText(record.json)?.read(Item.self) {
        records.append(item)
      } else {
        unreadable = unreadable + UnreadableRows(count: 1, firstReason: "stored by another version")
      }
    }
    return (records, unreadable)
  }

  /// A warning if `REDACTED` stands in one of these records.
  package func warnings(on stored: [StoredRecord]) -> [Warning] {
    mayHaveRedacted && stored.contains { $0.json.hasRedacted } ? [.redacted] : []
  }

  /// The stored record with an ID, deleted or not; `nil` if there is none that can be decoded.
  ///
  /// It is as old as its last change, or as the last complete sync: that writes no record which it finds unchanged, and
  /// marks those as removed which it does not find.
  @concurrent package func item(
    _ id: Item.ID
  ) async throws(SourceError) -> (found: LookupResult<Item>, removedUpstreamAt: Date?)? {
    guard let record = try await store.record(id.description, of: source),
      let item = decoded([record]).records.first
    else { return nil }
    let isListed = listsAreWhole && record.removedUpstreamAt == nil
    let seen = isListed ? try await completeSync()?.begun : nil
    let found = LookupResult(
      item, provenance: Provenance(.cached, fetchedAt: max(record.savedAt, seen ?? record.savedAt)),
      warnings: warnings(on: [record]))
    return (found, record.removedUpstreamAt)
  }
}

/// A record as it is stored: its JSON, in the encoding by which a store detects changes, and the text in which searches look,
/// which is `nil` if it is made when it is needed.
///
/// The record itself would take several times the memory, in each batch that waits for the store.
package struct EncodedRecord<Item: SourceRecord>: SourceRecord {
  package let id: Item.ID
  package let json: Data
  package let text: FoldedText?
  /// The position at which the store has it unchanged, without ``json``; `nil` if it was read.
  package let position: Int64?

  package init(_ item: Item, text: FoldedText?) throws {
    id = item.id
    json = try CanonicalJSON.bytes(of: item)
    self.text = text
    position = nil
  }

  /// A record that the store has; `nil` if its ID cannot be read.
  package init?(unchanged stored: StoredRecord) {
    guard let id = stored.id.flatMap(Item.ID.init) else { return nil }
    (self.id, json, text, position) = (id, Data(), nil, stored.position)
  }

  /// Every ``SourceRecord`` can be decoded; this one never is.
  package init(from decoder: any Decoder) throws {
    try self.init(Item(from: decoder), text: nil)
  }

  package func encode(to encoder: any Encoder) throws {
    try JSONText(json)?.read(Item.self).encode(to: encoder)
  }
}

extension RecordStore {
  /// Marks records as deleted, stored or not: they stay hidden, whatever the service sends.
  ///
  /// Returns the IDs that were not deleted before, each once, in the order of `ids`.
  @discardableResult
  public func delete(
    _ ids: [Item.ID], at date: Date = Date()
  ) async throws(SourceError) -> [Item.ID] {
    try await ids.among(store.delete(ids.map(\.description), of: source, at: date).recordKeys)
  }

  /// Marks a record as deleted, stored or not; `false` if it was deleted before.
  @discardableResult
  public func delete(
    _ id: Item.ID, at date: Date = Date()
  ) async throws(SourceError) -> Bool { try await !delete([id], at: date).isEmpty }

  /// Undoes the deletion of records, which return to their original position.
  ///
  /// Returns the IDs that were deleted before, each once, in the order of `ids`.
  @discardableResult
  public func restore(_ ids: [Item.ID]) async throws(SourceError) -> [Item.ID] {
    try await ids.among(store.restore(ids.map(\.description), of: source).recordKeys)
  }

  /// Undoes the deletion of a record; `false` if it was not deleted.
  @discardableResult
  public func restore(_ id: Item.ID) async throws(SourceError) -> Bool {
    try await !restore([id]).isEmpty
  }

  /// Undoes the deletion of all records, and returns their IDs in any order, but for those that another version
  /// wrote and that this one cannot read.
  @discardableResult
  public func restoreAll() async throws(SourceError) -> [Item.ID] {
    try await store.restore(nil, of: source).compactMap { Item.ID($0) }
  }

  /// The subset of `ids` that is deleted, in their order.
  public func deleted(among ids: [Item.ID]) async throws(SourceError) -> [Item.ID] {
    guard !ids.isEmpty else { return [] }
    return try await ids.among(store.deleted(among: ids.map(\.description), of: source))
  }
}

extension Array where Element: RecordID {
  /// Those with these keys, each once.
  package func among(_ keys: Set<RecordKey>) -> [Element] {
    var rest = keys
    return filter { rest.remove(RecordKey($0)) != nil }
  }
}

extension [String] {
  package var recordKeys: Set<RecordKey> { Set(map { RecordKey($0) }) }
}

extension SourceStore {
  /// Saves a batch, and reports it to the current observer.
  package func saveObserved(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    let begin = ContinuousClock.now
    let changes = try await save(batch, of: source, at: date)
    Observer.current(
      .stored(
        source: source, records: batch.entries.count + batch.unchanged.count, after: .now - begin))
    return changes
  }
}
