public import AggregatorCore
public import AggregatorFoundation
public import AggregatorStore

/// The calls by which a ``PagedList`` deletes records and restores them.
public struct RecordDeletion<Item: Record>: Sendable {
  public typealias Call = @Sendable (Item.ID) async throws(SourceError) -> Void

  let delete: Call
  let restore: Call

  /// Both calls run off the main actor, one after the other, in the order of the changes to the list.
  public init(delete: @escaping Call, restore: @escaping Call) {
    self.delete = delete
    self.restore = restore
  }

  /// Deletes records in a store, as the verb `delete` does; a chain with this store leaves them out.
  public init(
    in recordStore: RecordStore<Item>, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init { id throws(SourceError) in
      try await recordStore.delete(id, at: now())
    } restore: { id throws(SourceError) in
      try await recordStore.restore(id)
    }
  }
}
