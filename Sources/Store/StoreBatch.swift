import AggregatorCore
public import AggregatorFoundation
public import AggregatorText

/// The contents of a page, or of several consecutive ones, to be saved in one transaction.
public struct StoreBatch: Sendable {
  /// The records, in the order of the page.
  public var entries: [StoreEntry]

  /// The page that the records form, and its key; `nil` to save only the records.
  public var page: (key: String, page: PageMetadata)?

  public var update: CheckpointUpdate?

  /// A change of a checkpoint instead of ``update``, decided when the batch is saved.
  public var decision: CheckpointDecision?

  /// True if it completes a sync, with which later states are compared.
  public var completesSync: Bool

  /// The positions of records that are there and unchanged, besides the entries.
  ///
  /// If one is not there any more, or removed upstream, nothing of the batch is saved: ``StoreChanges/missesUnchanged``.
  package var unchanged: [Int64] = []

  /// The pages among the entries that a sync compares with what it reads next time.
  package var readPages: [ReadPage] = []

  public init(
    _ entries: [StoreEntry], page: (key: String, page: PageMetadata)? = nil,
    update: CheckpointUpdate? = nil, completesSync: Bool = false
  ) {
    self.entries = entries
    self.page = page
    self.update = update
    self.completesSync = completesSync
  }
}

/// A page of a pass, kept as a checkpoint of its own.
package struct ReadPage: Sendable {
  /// The name of the checkpoint.
  package var name: String

  /// The indices of its entries in the batch.
  package var entries: Range<Int>

  /// Returns the text of the checkpoint, given the positions of the entries and the JSON that the store has of them.
  package var text: @Sendable (_ positions: [Int64], _ json: [Data]) -> String?

  package init(
    name: String, entries: Range<Int>,
    text: @escaping @Sendable (_ positions: [Int64], _ json: [Data]) -> String?
  ) {
    self.name = name
    self.entries = entries
    self.text = text
  }
}

/// A change of a checkpoint that is decided in the transaction that saves a batch.
///
/// Workers that share a checkpoint decide one after another, by the time of the store.
public struct CheckpointDecision: Sendable {
  public var name: String

  /// Receives the text of the checkpoint, `nil` for none, and the store's own time, `nil` if it has no clock of
  /// its own; returns the change, and whether it completes a sync.
  ///
  /// `nil` refuses the batch: nothing of it is saved. It may be called more than once; the last call counts.
  public var decide:
    @Sendable (_ text: String?, _ time: Date?) -> (update: CheckpointUpdate, completesSync: Bool)?

  package init(
    name: String,
    decide:
      @escaping @Sendable (String?, Date?) -> (
        update: CheckpointUpdate, completesSync: Bool
      )?
  ) {
    self.name = name
    self.decide = decide
  }
}

extension StoreBatch {
  /// The name of the checkpoint that it may change.
  package var checkpointName: String? { decision?.name ?? update?.name }

  /// True if it comes from the service, so that its time is that of a fetch.
  package var isFetched: Bool {
    !entries.isEmpty || !unchanged.isEmpty
      || decision == nil
        && ![ScopeRecord.checkpoint, Coverage.failureCheckpoint].contains(update?.name)
  }

  /// This batch with its ``decision`` made; `nil` if it is refused.
  package func decided(on text: String?, at time: Date?) -> StoreBatch? {
    guard let decision else { return self }
    guard let (update, completesSync) = decision.decide(text, time) else { return nil }
    var batch = self
    batch.update = update
    batch.completesSync = completesSync
    return batch
  }
}

/// A record to be saved in a ``SourceStore``.
public struct StoreEntry: Sendable {
  public var id: String

  /// The record in the encoding by which the store detects changes.
  public var json: Data

  /// Returns the folded text, in which searches look; called only if the record is new or changed.
  public var text: @Sendable () -> FoldedText

  /// Merges this record over its stored form, if the two differ; `nil` to save it as it is.
  public var mergedWithStored: @Sendable (_ known: Data) -> (json: Data, text: FoldedText)?

  /// True if the service has changed the record, rather than sent other details of it; called only if the
  /// stored form is replaced.
  public var isChange: @Sendable (_ known: Data) -> Bool

  public init(
    id: String, json: Data, text: @escaping @Sendable () -> FoldedText,
    mergedWithStored: @escaping @Sendable (_ known: Data) -> (json: Data, text: FoldedText)? = {
      _ in nil
    },
    isChange: @escaping @Sendable (_ known: Data) -> Bool = { _ in true }
  ) {
    self.id = id
    self.json = json
    self.text = text
    self.mergedWithStored = mergedWithStored
    self.isChange = isChange
  }
}

/// A compare-and-set of a checkpoint.
///
/// It takes effect only if the checkpoint is still where this process read it, so that a slower process
/// never sets a faster one back.
public struct CheckpointUpdate: Hashable, Sendable {
  public var name: String

  /// The expected text; `nil` for no checkpoint.
  public var from: String?

  /// The new text; `nil` to remove the checkpoint.
  public var to: String?

  /// The text instead of ``to`` if the reconciliation turns out to be inconclusive; `nil` for ``to``.
  public var toIfInconclusive: String?

  /// The reconciliation step that this batch performs; `nil` for none.
  public var reconciliation: Reconciliation?

  /// True to drop the cached pages of the source, because they are outdated now.
  public var replacesPages: Bool

  public init(
    _ name: String, from: String?, to: String?, reconciliation: Reconciliation? = nil,
    replacesPages: Bool = false
  ) {
    self.replacesPages = replacesPages
    self.name = name
    self.from = from
    self.to = to
    self.reconciliation = reconciliation
  }
}

/// A step of a complete pass over a service, which finds the records that were removed upstream.
///
/// Seen IDs are kept in a separate table, so that unchanged records are not written. They are removed
/// together with the checkpoint, or with the last step.
public struct Reconciliation: Hashable, Sendable {
  /// The conditions under which unseen records count as removed upstream.
  public struct Completion: Hashable, Sendable {
    /// The last position when the pass began.
    ///
    /// Records first seen after it are never counted as removed: the pass may already be past them.
    public var lastPosition: Int64

    /// The number of different records that a complete pass must have seen.
    public var minRecordCount: Int

    /// True if it is known by other means that there are no records, so that to see none is an answer; false by default.
    public var allowsNone = false

    /// True if the service says that it has no other records than those seen, so that even many missing ones need no second
    /// pass; false by default.
    public var isProved = false

    /// True to only count the seen records, because the pass may have missed others.
    package var onlyCounts = false

    public init(lastPosition: Int64, minRecordCount: Int) {
      self.lastPosition = lastPosition
      self.minRecordCount = minRecordCount
    }
  }

  /// True for the first step, which discards the seen IDs of an earlier pass.
  public var begins: Bool

  /// Set with the last step of a trustworthy pass: records that no step has seen were removed upstream.
  ///
  /// If they are more than ten and more than a tenth of all, only a second such pass proves it.
  public var completion: Completion?

  /// The prefix of the IDs of the records that the pass covers; `nil` for all records.
  public var prefix: String?

  /// The last position when the first pass over a source began; `nil` for any other pass.
  ///
  /// Records that it meets, and that searches and lookups have cached before, take the place that the service gives them: they
  /// get a position like new ones.
  package var movesUpTo: Int64?

  public init(begins: Bool, completion: Completion? = nil, of prefix: String? = nil) {
    self.begins = begins
    self.completion = completion
    self.prefix = prefix
  }
}

/// The effect of saving a ``StoreBatch``.
public struct StoreChanges: Hashable, Sendable {
  /// Records that may have been removed upstream.
  public struct Unconfirmed: Hashable, Sendable {
    public var missing: Int
    public var known: Int

    public init(missing: Int, known: Int) {
      self.missing = missing
      self.known = known
    }
  }

  /// The indices of the entries that are new.
  public var added: [Int] = []

  public var changed = 0

  /// The number of unchanged records, which were not written.
  public var unchanged = 0

  /// The number of records that a complete ``Reconciliation`` found to be removed upstream.
  public var removedUpstream = 0

  /// The number of different records seen by a reconciliation that turned out to be incomplete; `nil` for
  /// any other.
  public var incompleteSeenCount: Int?

  /// The number of different records seen by a reconciliation that ends; `nil` for any other.
  package var seenCount: Int?

  /// The number of records that a complete reconciliation misses, and of all that it should have seen, if
  /// they are so many that the next one has to confirm it; `nil` for any other.
  public var unconfirmedRemovals: Unconfirmed?

  /// True if a reconciliation has not found out which records were removed.
  package var isInconclusive: Bool { incompleteSeenCount != nil || unconfirmedRemovals != nil }

  /// The stored forms of entries that were merged with what was known, by index.
  public var merged: [Int: Data] = [:]

  /// True if nothing was saved because a record of ``StoreBatch/unchanged`` is not there.
  package var missesUnchanged = false

  /// True if this batch moved the checkpoint; false if another process moved it first.
  public var didMoveCheckpoint = false

  public init() {}

  /// True if a record was added, changed or removed.
  package var hasChangedRecords: Bool { !added.isEmpty || changed > 0 || removedUpstream > 0 }
}
