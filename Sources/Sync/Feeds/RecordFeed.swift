package import AggregatorCore

/// A program that sends the records of a source in its own order, and from time to time a state from which it can go on.
package protocol RecordFeed<Item>: Sendable {
  associatedtype Item: SourceRecord

  /// True if a run sends only what has changed since its state, so that a record that is not sent is not removed.
  var isIncremental: Bool { get }

  /// Sends what there is after a state, `nil` for everything.
  ///
  /// `save` returns when a batch is stored. If it throws, so does this.
  ///
  /// - Throws: ``SourceError``: the program cannot be started, or its end is no success.
  func run(
    from state: String?, _ save: (FeedBatch<Item>) async throws(SourceError) -> Void
  ) async throws(SourceError) -> FeedEnd
}

/// Records of a feed that are stored in one transaction.
package struct FeedBatch<Item: SourceRecord>: Sendable {
  package var records: [Item] = []
  package var step = FeedStep()

  package init() {}
}

/// The state after the records of a batch, and what is known of them.
package struct FeedStep: Sendable {
  package var unreadable = UnreadableRows.none
  /// The members of the records.
  package var schema: RowSchema?

  /// The latest state after some of the records, and before none of them; `nil` if none came.
  package var state: String?

  /// The version of the whole list to which the records belong; `nil` if they have none.
  package var version: Int?

  /// True if only records of the version exist now.
  package var isWholeVersion = false

  package init() {}
}

/// The successful end of a feed.
package struct FeedEnd: Sendable {
  /// The reason records may be missing; `nil` if all were sent.
  package var incompleteReason: String?
  package var warnings: [Warning] = []

  package init() {}
}
