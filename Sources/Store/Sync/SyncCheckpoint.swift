import AggregatorCore
import Foundation

/// The progress of a pass, stored with every batch of pages so that the next run can resume.
struct SyncCheckpoint: Hashable, Codable, Sendable {
  /// The start of the next page; `nil` for the beginning.
  var cursor: Cursor?

  var pages = 0
  var records = 0

  /// The number of all records, if the service reports it.
  var total: Int?

  /// True while every row could be read and the service never changed its total.
  var isCertain = true

  var began: Date

  /// The time at which the last page was fetched.
  var date: Date

  private enum CodingKeys: String, CodingKey {
    case cursor = "c", pages = "p", records = "r", total = "t", isCertain = "s", began = "b"
    case date = "d"
  }

  /// After this long without a further page a pass starts over: its first records may be gone by now.
  static let lifetime = Duration.seconds(7 * 86_400)

  init(at date: Date) { (began, self.date) = (date, date) }

  /// Decodes a stored checkpoint; `nil` if it is invalid or has expired.
  init?(_ text: String, at now: Date) {
    guard let checkpoint = try? JSONText(Data(text.utf8))?.read(SyncCheckpoint.self),
      checkpoint.cursor != nil, checkpoint.pages > 0, checkpoint.records >= 0,
      now.timeIntervalSince(checkpoint.date) < Self.lifetime / .seconds(1)
    else { return nil }
    self = checkpoint
  }

  var text: String {
    // All of it can be encoded; and an empty checkpoint would just start over.
    (try? CanonicalJSON.text(of: self)) ?? ""
  }

  func after(_ page: Page<some Record>, at date: Date) -> SyncCheckpoint {
    var checkpoint = self
    checkpoint.cursor = page.next
    checkpoint.pages += 1
    checkpoint.records += page.records.count
    if page.unreadable.count > 0 { checkpoint.isCertain = false }
    if let total = page.total {
      if let known = self.total, known != total { checkpoint.isCertain = false }
      checkpoint.total = total
    }
    checkpoint.date = date
    return checkpoint
  }

  /// The reason that a pass that ends here cannot determine which records were removed upstream; `nil` if
  /// it can, unless it has seen fewer than ``least``.
  var doubt: String? {
    if records == 0 { return "the service sent no records" }
    return isCertain
      ? nil : "some rows could not be read, or the list changed during the sync"
  }

  /// The number of different records that a pass that ends here must have seen: all that the service
  /// reports, and none twice, because a repeated record may have displaced another.
  var least: Int { max(total ?? 0, records) }

  /// The reason for a pass that has seen fewer than ``least``.
  func doubt(seen: Int) -> String {
    "it sent \(seen) different records, but \(least) were expected"
  }
}

/// Consecutive pages that are stored in one transaction.
///
/// Pages that arrived while others were being stored are stored together, because each transaction
/// rewrites the same few pages of the file, however small it is.
struct SyncBatch<Item: Record> {
  /// A batch with this many records takes no further page.
  private static var enough: Int { 1000 }

  private(set) var records: [EncodedRecord<Item>] = []

  /// The checkpoint after its last page.
  private(set) var checkpoint: SyncCheckpoint

  /// True if its last page is the last of the service.
  var isLast: Bool { pages > 0 && checkpoint.cursor == nil }

  private(set) var unreadable = Unreadable.none
  private(set) var pages = 0

  init(from checkpoint: SyncCheckpoint) { self.checkpoint = checkpoint }

  var hasRoom: Bool { !isLast && records.count < Self.enough }

  /// Adds the page that starts at ``checkpoint``, fetched at `date`.
  mutating func add(_ page: Page<EncodedRecord<Item>>, at date: Date) {
    records += page.records
    unreadable = unreadable + page.unreadable
    checkpoint = checkpoint.after(page, at: date)
    pages += 1
  }
}
