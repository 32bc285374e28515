public import AggregatorCore
public import AggregatorFoundation

extension RecordStore {
  /// Marks records as deleted, stored or not: they stay hidden, whatever the service sends.
  ///
  /// Returns the IDs that were not deleted before, each once, in the order of `ids`.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  @discardableResult
  public func delete(
    _ ids: [Item.ID], at date: Date = Date()
  ) async throws(SourceError) -> [Item.ID] {
    try await ids.among(store.delete(ids.map(\.description), of: source, at: date))
  }

  /// Marks a record as deleted, stored or not; `false` if it was deleted before.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  @discardableResult
  public func delete(
    _ id: Item.ID, at date: Date = Date()
  ) async throws(SourceError) -> Bool { try await !delete([id], at: date).isEmpty }

  /// Undoes the deletion of records, which return to their original position.
  ///
  /// Returns the IDs that were deleted before, each once, in the order of `ids`.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  @discardableResult
  public func restore(_ ids: [Item.ID]) async throws(SourceError) -> [Item.ID] {
    try await ids.among(store.restore(ids.map(\.description), of: source))
  }

  /// Undoes the deletion of a record; `false` if it was not deleted.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  @discardableResult
  public func restore(_ id: Item.ID) async throws(SourceError) -> Bool {
    try await !restore([id]).isEmpty
  }

  /// Undoes the deletion of all records, and returns their IDs in any order, but for those that another version
  /// wrote and that this one cannot read.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  @discardableResult
  public func restoreAll() async throws(SourceError) -> [Item.ID] {
    try await store.restore(nil, of: source).compactMap { Item.ID($0) }
  }

  /// The subset of `ids` that is deleted, in their order.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  public func deleted(among ids: [Item.ID]) async throws(SourceError) -> [Item.ID] {
    guard !ids.isEmpty else { return [] }
    return try await ids.among(store.deleted(among: ids.map(\.description), of: source))
  }
}

extension Array where Element: RecordID {
  /// Those of `texts`, each once.
  fileprivate func among(_ texts: some Sequence<String>) -> [Element] {
    among(Set(texts.map { RecordKey($0) }))
  }

  fileprivate func among(_ keys: Set<RecordKey>) -> [Element] {
    var rest = keys
    return filter { rest.remove(RecordKey($0)) != nil }
  }
}
