public import AggregatorCore
public import Foundation

/// What one page, or several that follow each other, bring into a ``Store``: all of it or nothing.
public struct StoreBatch: Sendable {
  /// The records, in the order of the page.
  public var entries: [StoreEntry]

  /// The page that they make, and what it is saved under; `nil` if only the records matter.
  public var page: (key: String, page: FetchedPage)?

  /// Where the walk goes on; `nil` if it is no walk.
  public var update: CheckpointUpdate?

  /// A batch.
  ///
  /// - Parameters:
  ///   - entries: The records, in the order of the page.
  ///   - page: The page that they make, and what it is saved under.
  ///   - move: Where the walk goes on.
  public init(
    _ entries: [StoreEntry], page: (key: String, page: FetchedPage)? = nil,
    update: CheckpointUpdate? = nil
  ) {
    self.entries = entries
    self.page = page
    self.update = update
  }
}

/// A record on its way into a ``Store``.
public struct StoreEntry: Sendable {
  /// The record's id.
  public var id: String

  /// The record, in the one encoding that the store compares.
  public var json: Data

  /// The text that queries look into.
  ///
  /// Asked for only if the record is new or changed.
  public var text: @Sendable () -> Folded

  /// This record completed by what an earlier form of it tells, and the text of both.
  ///
  /// `nil` stands for this record as it is. Asked for only if the two differ.
  public var completed: @Sendable (_ known: Data) -> (json: Data, text: Folded)?

  /// A record.
  ///
  /// - Parameters:
  ///   - id: The record's id.
  ///   - json: The record.
  ///   - text: The text that queries look into.
  ///   - completed: This record completed by what an earlier form of it tells.
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

/// A step of a walk that other processes may be on as well.
///
/// It is taken only if the place is still where the walk stood, so that a slower process never leads a
/// faster one back.
public struct CheckpointUpdate: Hashable, Sendable {
  /// The place's name.
  public var name: String

  /// Where the walk stood; `nil` at the start.
  public var from: String?

  /// Where it goes on; `nil` if it is over, and the place is forgotten.
  public var to: String?

  /// What the step is to a census; `nil` for a walk that is none.
  public var reconciliation: Reconciliation?

  /// Whether the pages that are kept of the source are no longer true after it.
  public var replacesPages: Bool

  /// A step.
  ///
  /// - Parameters:
  ///   - name: The place's name.
  ///   - from: Where the walk stood.
  ///   - to: Where it goes on; `nil` if it is over.
  ///   - census: What it is to a census.
  ///   - replacesPages: Whether the pages that are kept of the source are no longer true after it.
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

/// A walk through all that a service has, to find out what it no longer has.
///
/// Each step notes which records it met, beside them and not in them, so that nothing is written to a
/// record that is as it was. The notes are forgotten with the place.
public struct Reconciliation: Hashable, Sendable {
  /// What the last step is for.
  public struct Completion: Hashable, Sendable {
    /// When the walk began: what was first seen after that may lie where it had been already.
    public var began: Date

    /// How many different records it must have met, or it is not complete after all.
    public var least: Int

    /// The completion of a census.
    ///
    /// - Parameters:
    ///   - began: When the walk began.
    ///   - least: How many different records it must have met.
    public init(began: Date, least: Int) {
      self.began = began
      self.least = least
    }
  }

  /// Whether it begins with this step, and notes of an earlier walk are void.
  public var begins: Bool

  /// What makes it complete with this step: records of the source that no step met have vanished; `nil`
  /// if it is not complete, or not to be trusted.
  public var completion: Completion?

  /// A step of a census.
  ///
  /// - Parameters:
  ///   - begins: Whether it begins with this step.
  ///   - completion: What makes it complete with this step.
  public init(begins: Bool, completion: Completion? = nil) {
    self.begins = begins
    self.completion = completion
  }
}

/// What saving a ``StoreBatch`` did.
public struct StoreChanges: Hashable, Sendable {
  /// The indices of the entries that were never seen before.
  public var added: [Int] = []

  /// How many records had changed.
  public var changed = 0

  /// How many records were as they had been, and were not written.
  public var same = 0

  /// How many records have vanished: a complete ``Reconciliation`` did not meet them.
  public var removedUpstream = 0

  /// How many different records a census met that was not complete after all; `nil` if it was.
  public var shortReconciliation: Int?

  /// Whether the walk's place was moved; `false` if another process had moved it.
  public var hasMoved = false

  /// Nothing done yet.
  public init() {}
}
