public import AggregatorCore

/// What a ``Syncing`` did.
public struct SyncResult: Sendable {
  /// How many records were new.
  public internal(set) var added = 0

  /// How many records had changed, or had been thought to have vanished.
  public internal(set) var changed = 0

  /// How many records were as they had been, and were not written.
  public internal(set) var same = 0

  /// How many records the service no longer has; known only when ``isComplete``.
  public internal(set) var removedUpstream = 0

  /// How many pages were fetched.
  public internal(set) var pages = 0

  /// How many pages of the same pass were fetched before, by a run that did not come to its end.
  public internal(set) var earlierPages = 0

  /// Whether it began from the start although an earlier run had stopped somewhere: that place was too
  /// old, or is no longer valid.
  public internal(set) var hasRestarted = false

  /// How many records the whole pass has met so far, earlier runs included.
  public internal(set) var passed = 0

  /// How many records there are altogether, if the service says so.
  public internal(set) var total: Int?

  /// The rows that could not be read.
  public internal(set) var unreadable = Unreadable.none

  /// Whether the service has no more.
  public internal(set) var isComplete = false

  /// Why nothing is known of what vanished, although the pass is complete; `nil` if it is known, or was
  /// not to be found out.
  public internal(set) var doubt: String?

  /// The failure that ended it, if one did.
  public internal(set) var failure: SourceError?

  /// Nothing done yet.
  public init() {}

  mutating func add(_ batch: SyncBatch<some Record>, _ changes: StoreChanges) {
    added += changes.added.count
    changed += changes.changed
    same += changes.same
    removedUpstream += changes.removedUpstream
    pages += batch.pages
    total = batch.checkpoint.total ?? total
    unreadable = unreadable + batch.unreadable
  }
}
