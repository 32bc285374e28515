import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText

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

  /// The page that was read last from the response to a request; `nil` if there is none, or it was too long ago.
  func memo(of request: UInt64) async throws(SourceError) -> PageMemo? {
    let text = try await recordStore.store.checkpoint(checkpoint(request), of: recordStore.source)
    guard let memo = text.flatMap(PageMemo.init),
      0..<(Self.lifetime / .seconds(1)) ~= now().timeIntervalSince(memo.readAt)
    else { return nil }
    return memo
  }

  /// The page with its records; `nil` if not all of them are in lists, or one was saved in another form since.
  func known(_ memo: PageMemo) async throws(SourceError) -> KnownPage<Item>? {
    let positions = memo.positions
    let stored = try await recordStore.store.records(of: recordStore.source, at: positions)
    guard stored.count == positions.count, memo.hasSaved(stored.map(\.json)) else { return nil }
    let records = stored.compactMap(EncodedRecord<Item>.init(unchanged:))
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
    if let text = digest.renewedMemo {
      return ReadPage(name: checkpoint(digest.request), entries: entries) { _, _ in text }
    }
    guard page.unchangedCount == nil else { return nil }
    let memo = PageMemo(of: page, from: digest, at: now())
    return ReadPage(name: checkpoint(digest.request), entries: entries) {
      memo.text(positions: $0, json: $1)
    }
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
    known.digest = page.digest
    known.digest?.renewedMemo = page.digest.flatMap { memo.text(renewing: $0.validators) }
    return known
  }
}

/// A page without its records, which are at positions of the store.
struct PageMemo: Codable {
  /// The bits of the digest: JSON has no integers beyond those with a sign.
  private let bits: Int64
  /// See ``PageDigest/validators``.
  private var validators: String?
  /// The bits of a digest of the records as they were saved.
  private var saved: Int64 = 0
  let readAt: Date
  /// Each position but the first as the distance from the one before.
  private var steps: [Int64] = []
  fileprivate let page: PageMetadata
  fileprivate let reportedTotal: Int?
  fileprivate let hidden: Int
  fileprivate let changeMarks: [String?]
  fileprivate let schema: RowSchema?

  private enum CodingKeys: String, CodingKey {
    case bits = "d", readAt = "a", steps = "p", page = "m", reportedTotal = "t", hidden = "h"
    case changeMarks = "c", schema = "w", validators = "v", saved = "s"
  }

  init(of page: Page<some SourceRecord>, from digest: PageDigest, at date: Date) {
    bits = Int64(bitPattern: digest.response)
    validators = digest.validators
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

  func digest(of request: UInt64) -> PageDigest {
    PageDigest(request: request, response: UInt64(bitPattern: bits), validators: validators)
  }

  /// True if records in this form, in the order of the page, were saved with it.
  func hasSaved(_ json: [Data]) -> Bool { Self.digest(of: json) == saved }

  private static func digest(of json: [Data]) -> Int64 {
    Int64(
      bitPattern: json.reduce("".fnv1a) { digest, json in
        json.withUnsafeBytes { $0.fnv1a(from: digest) }
      })
  }

  var positions: [Int64] {
    var last: Int64 = 0
    return steps.map { step in
      last &+= step
      return last
    }
  }

  /// The text with the validators of a later response that is the same.
  func text(renewing validators: String?) -> String? {
    var memo = self
    memo.validators = validators
    return try? CanonicalJSON.text(of: memo)
  }

  func text(positions: [Int64], json: [Data]) -> String? {
    var memo = self
    memo.saved = Self.digest(of: json)
    memo.steps = zip(positions, [0] + positions.dropLast()).map { $0 &- $1 }
    return try? CanonicalJSON.text(of: memo)
  }
}
