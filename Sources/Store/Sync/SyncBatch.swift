import AggregatorCore
import Foundation

/// Pages of a walk, one after the other, that are stored in one transaction.
///
/// Pages that have come while others were being stored are stored together: each transaction writes the
/// same few pages of the file anew, whatever it brings.
struct SyncBatch<Item: Record> {
  /// A batch with as many records takes no further page.
  private static var enough: Int { 1000 }

  /// The records of all its pages.
  private(set) var records: [EncodedRecord<Item>] = []

  /// The place after its last page.
  private(set) var checkpoint: SyncCheckpoint

  /// Whether its last page is the last that there is.
  var isLast: Bool { pages > 0 && checkpoint.cursor == nil }

  /// How many of its rows could not be read.
  private(set) var unreadable = Unreadable.none

  /// How many pages there are in it.
  private(set) var pages = 0

  /// A batch without pages.
  ///
  /// - Parameter place: Where its first page will start.
  init(from checkpoint: SyncCheckpoint) { self.checkpoint = checkpoint }

  /// Whether another page may be added.
  var hasRoom: Bool { !isLast && records.count < Self.enough }

  /// Adds the page that starts at ``place``.
  ///
  /// - Parameters:
  ///   - page: The page.
  ///   - date: The date of its fetching.
  mutating func add(_ page: Page<EncodedRecord<Item>>, at date: Date) {
    records += page.records
    unreadable = unreadable + page.unreadable
    checkpoint = checkpoint.after(page, at: date)
    pages += 1
  }
}
