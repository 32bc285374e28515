public import AggregatorCore
public import Foundation

/// The contents of a page, or of several consecutive ones, to be saved in one transaction.
public struct StoreBatch: Sendable {
  /// The records, in the order of the page.
  public var entries: [StoreEntry]

  /// The page that the records form, and its key; `nil` to save only the records.
  public var page: (key: String, page: FetchedPage)?

  public var update: CheckpointUpdate?

  public init(
    _ entries: [StoreEntry], page: (key: String, page: FetchedPage)? = nil,
    update: CheckpointUpdate? = nil
  ) {
    self.entries = entries
    self.page = page
    self.update = update
  }
}

/// A record to be saved in a ``Store``.
public struct StoreEntry: Sendable {
  public var id: String

  /// The record in the encoding by which the store detects changes.
  public var json: Data

  /// Returns the text that queries search; called only if the record is new or changed.
  public var text: @Sendable () -> Folded

  /// Merges this record over its stored form, if the two differ; `nil` to save it as it is.
  public var completed: @Sendable (_ known: Data) -> (json: Data, text: Folded)?

  public init(
    id: String, json: Data, text: @escaping @Sendable () -> Folded,
    completed: @escaping @Sendable (_ known: Data) -> (json: Data, text: Folded)? = { _ in nil }
  ) {
    self.id = id
    self.json = json
    self.text = text
    self.completed = completed
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

  /// The step of a reconciliation that the batch is; `nil` for none.
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
/// Each step notes the records that it has seen separately from them, so that unchanged records are not
/// written. The notes are removed together with the checkpoint.
public struct Reconciliation: Hashable, Sendable {
  /// The conditions under which unseen records count as removed upstream.
  public struct Completion: Hashable, Sendable {
    /// The start of the pass: records first seen later may lie before its current page.
    public var began: Date

    /// The number of different records that a complete pass must have seen.
    public var least: Int

    public init(began: Date, least: Int) {
      self.began = began
      self.least = least
    }
  }

  /// True for the first step, which discards the notes of an earlier pass.
  public var begins: Bool

  /// Set with the last step of a trustworthy pass: records that no step has seen were removed upstream.
  public var completion: Completion?

  public init(begins: Bool, completion: Completion? = nil) {
    self.begins = begins
    self.completion = completion
  }
}

/// The effect of saving a ``StoreBatch``.
public struct StoreChanges: Hashable, Sendable {
  /// The indices of the entries that are new.
  public var added: [Int] = []

  public var changed = 0

  /// The number of unchanged records, which were not written.
  public var same = 0

  /// The number of records that a complete ``Reconciliation`` found to be removed upstream.
  public var removedUpstream = 0

  /// The number of different records seen by a reconciliation that turned out to be incomplete; `nil` for
  /// any other.
  public var shortReconciliation: Int?

  /// False if another process had moved the checkpoint.
  public var hasMoved = false

  public init() {}
}
