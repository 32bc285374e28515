import AggregatorCore
import Foundation

/// Where a sync stands: what is written down with each page, for whoever goes on.
struct SyncCheckpoint: Hashable, Codable, Sendable {
  /// Where the next page starts; `nil` for the beginning.
  var cursor: Cursor?

  /// How many pages the pass has had.
  var pages = 0

  /// How many records the pass has met.
  var records = 0

  /// How many records there are altogether, if the service says so.
  var total: Int?

  /// Whether nothing spoke against a census so far: every row could be read, and the service never
  /// changed its mind about how many there are.
  var isCertain = true

  /// When the pass began.
  var began: Date

  /// When the last page was fetched.
  var date: Date

  private enum CodingKeys: String, CodingKey {
    case cursor = "c", pages = "p", records = "r", total = "t", isCertain = "s", began = "b"
    case date = "d"
  }

  /// After so long without a further page a pass begins anew: what it met first may be gone by now.
  static let lifetime = Duration.seconds(7 * 86_400)

  /// The beginning.
  init(at date: Date) { (began, self.date) = (date, date) }

  /// What was written down; `nil` if it means nothing, or is too old.
  init?(_ text: String, at now: Date) {
    guard let checkpoint = try? JSONText(Data(text.utf8))?.read(SyncCheckpoint.self),
      checkpoint.cursor != nil, checkpoint.pages > 0, checkpoint.records >= 0,
      now.timeIntervalSince(checkpoint.date) < Self.lifetime / .seconds(1)
    else { return nil }
    self = checkpoint
  }

  /// What is written down.
  var text: String {
    // There is nothing in it that has no encoding; a place that says nothing begins anew.
    (try? CanonicalJSON.text(of: self)) ?? ""
  }

  /// The place after a page.
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

  /// Why a pass that ends here cannot say what has vanished; `nil` if it can, as far as is known here.
  var doubt: String? {
    if records == 0 { return "the service sent nothing at all" }
    return isCertain
      ? nil : "some rows could not be read, or the list changed while it was read"
  }

  /// How many different records a pass that ends here must have met: all that the service names, and
  /// none twice, for where one came again another may have been left out.
  var least: Int { max(total ?? 0, records) }

  /// Why it cannot say so, having met fewer.
  func doubt(met: Int) -> String {
    "it sent \(met) different records where \(least) were due"
  }
}
