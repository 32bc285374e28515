import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// Compares the pages of a pass with those that earlier passes have read, so that an unchanged one need not be read again.
///
/// Each page has a checkpoint of its own, named by its request. Only lists whose pages are requested by numbers are compared:
/// the tokens of others differ each time, and their checkpoints would pile up.
struct PageComparing<Item: SourceRecord>: Sendable {
  /// A page that was read longer ago is read again, which mends all that a digest cannot tell.
  private static var lifetime: Duration { .seconds(7 * 86_400) }

  let recordStore: RecordStore<Item>
  /// The beginning of the names of its checkpoints: that of the collection and of the partition.
  let name: String
  let seed: UInt64
  let now: @Sendable () -> Date

  /// The page that was read last from an equal response; `nil` if there is none, or not all of its records are in lists.
  func known(_ digest: PageDigest) async throws(SourceError) -> KnownPage<Item>? {
    let (store, source) = (recordStore.store, recordStore.source)
    guard let text = try await store.checkpoint(checkpoint(digest.request), of: source),
      let memo = PageMemo(text), memo.response == digest.response,
      0..<(Self.lifetime / .seconds(1)) ~= now().timeIntervalSince(memo.readAt)
    else { return nil }
    let positions = memo.positions
    let records = try await store.records(of: source, at: positions).compactMap(
      EncodedRecord<Item>.init(unchanged:))
    return records.count == positions.count ? KnownPage(memo: memo, records: records) : nil
  }

  /// The checkpoint of a page; `nil` if it was not read, or cannot be compared.
  ///
  /// - Parameter count: The number of entries of the batch before it, to which those of the page are added.
  func checkpoint(
    of page: Page<EncodedRecord<Item>>, after count: inout Int
  ) -> ReadPage? {
    let entries = count..<(count + page.records.count { $0.position == nil })
    count = entries.upperBound
    guard let digest = page.digest else { return nil }
    let memo = PageMemo(of: page, from: digest.response, at: now())
    return ReadPage(name: checkpoint(digest.request), entries: entries) { memo.text(positions: $0) }
  }

  private func checkpoint(_ request: UInt64) -> String {
    "\(name) \(String(request, radix: 36))"
  }
}

/// A page as it was read last, with its records as the store has them.
struct KnownPage<Item: SourceRecord> {
  fileprivate let memo: PageMemo
  fileprivate let records: [EncodedRecord<Item>]

  var count: Int { records.count }

  /// The page again, by the provenance of `page`, whose response has not changed.
  func page(_ page: Page<Item>) -> Page<EncodedRecord<Item>> {
    let metadata = memo.page
    var known = Page(
      records, next: metadata.next, total: metadata.total, provenance: page.provenance,
      unreadable: UnreadableRows(count: metadata.unreadable, firstReason: metadata.reason),
      hidden: memo.hidden, warnings: metadata.warnings ?? [])
    known.reportedTotal = memo.reportedTotal
    known.changeMarks = memo.changeMarks
    known.schema = memo.schema
    known.endsPartition = metadata.endsPartition == true
    known.unchangedCount = records.count
    return known
  }
}

/// A page without its records, which are at positions of the store.
private struct PageMemo: Codable {
  /// The bits of the digest: JSON has no integers beyond those with a sign.
  private let bits: Int64
  let readAt: Date
  /// Each position but the first as the distance from the one before.
  private var steps: [Int64] = []
  let page: PageMetadata
  let reportedTotal: Int?
  let hidden: Int
  let changeMarks: [String?]
  let schema: RowSchema?

  private enum CodingKeys: String, CodingKey {
    case bits = "d", readAt = "a", steps = "p", page = "m", reportedTotal = "t", hidden = "h"
    case changeMarks = "c", schema = "w"
  }

  init(of page: Page<some SourceRecord>, from response: UInt64, at date: Date) {
    bits = Int64(bitPattern: response)
    readAt = date
    var metadata = PageMetadata(
      next: page.next, total: page.total, endpoint: nil, unreadable: page.unreadable)
    metadata.warnings = page.warnings
    metadata.endsPartition = page.endsPartition
    self.page = metadata
    (reportedTotal, hidden) = (page.reportedTotal, page.hidden)
    (changeMarks, schema) = (page.changeMarks, page.schema)
  }

  /// A stored one; `nil` if another version has written it.
  init?(_ text: String) {
    guard let memo = try? JSONText(Data(text.utf8))?.read(PageMemo.self) else { return nil }
    self = memo
  }

  var response: UInt64 { UInt64(bitPattern: bits) }

  var positions: [Int64] {
    var last: Int64 = 0
    return steps.map { step in
      last &+= step
      return last
    }
  }

  func text(positions: [Int64]) -> String? {
    var memo = self
    memo.steps = zip(positions, [0] + positions.dropLast()).map { $0 &- $1 }
    return try? CanonicalJSON.text(of: memo)
  }
}
