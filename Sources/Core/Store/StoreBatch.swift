public import Foundation

/// What one page brings into a ``Store``, all of it or nothing.
public struct StoreBatch: Sendable {
  /// The records, in the order of the page.
  public var entries: [StoreEntry]

  /// The page that they make, and what it is saved under; `nil` if only the records matter.
  public var page: (key: String, page: FetchedPage)?

  /// Where the walk goes on; `nil` if it is no walk.
  public var move: PlaceMove?

  /// A batch.
  ///
  /// - Parameters:
  ///   - entries: The records, in the order of the page.
  ///   - page: The page that they make, and what it is saved under.
  ///   - move: Where the walk goes on.
  public init(
    _ entries: [StoreEntry], page: (key: String, page: FetchedPage)? = nil, move: PlaceMove? = nil
  ) {
    self.entries = entries
    self.page = page
    self.move = move
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
public struct PlaceMove: Hashable, Sendable {
  /// The place's name.
  public var name: String

  /// Where the walk stood; `nil` at the start.
  public var from: String?

  /// Where it goes on; `nil` if it is over, and the place is forgotten.
  public var to: String?

  /// What the step is to a census; `nil` for a walk that is none.
  public var census: Census?

  /// A step.
  ///
  /// - Parameters:
  ///   - name: The place's name.
  ///   - from: Where the walk stood.
  ///   - to: Where it goes on; `nil` if it is over.
  ///   - census: What it is to a census.
  public init(_ name: String, from: String?, to: String?, census: Census? = nil) {
    self.name = name
    self.from = from
    self.to = to
    self.census = census
  }
}

/// A walk through all that a service has, to find out what it no longer has.
///
/// Each step notes which records it met, beside them and not in them, so that nothing is written to a
/// record that is as it was. The notes are forgotten with the place.
public struct Census: Hashable, Sendable {
  /// Whether it begins with this step, and notes of an earlier walk are void.
  public var begins: Bool

  /// Whether it is complete with this step: records of the source that no step met have vanished.
  public var isComplete: Bool

  /// A step of a census.
  ///
  /// - Parameters:
  ///   - begins: Whether it begins with this step.
  ///   - isComplete: Whether it is complete with this step.
  public init(begins: Bool, isComplete: Bool) {
    self.begins = begins
    self.isComplete = isComplete
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

  /// How many records have vanished: a complete ``Census`` did not meet them.
  public var vanished = 0

  /// Whether the walk's place was moved; `false` if another process had moved it.
  public var hasMoved = false

  /// Nothing done yet.
  public init() {}
}
