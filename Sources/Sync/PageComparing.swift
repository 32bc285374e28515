import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// Compares the pages of a pass with what the passes before have read, so that an unchanged one need not be read again.
///
/// Only pages at cursors that are computed are compared: others have another cursor each time.
struct PageComparing<Item: SourceRecord>: Sendable {
  /// For so long a page is not read again: then whatever a digest cannot tell is mended.
  static var lifetime: Duration { .seconds(7 * 86_400) }

  let recordStore: RecordStore<Item>
  /// The beginning of the names of its checkpoints, by which it is told from those of other partitions.
  let name: String
  let seed: UInt64
  let now: @Sendable () -> Date

  /// A page as it was read last, whose records are all in the store; `nil` if it is not known.
  func known(_ request: PageRequest) async throws(SourceError) -> KnownPage<Item>? {
    let (store, source) = (recordStore.store, recordStore.source)
    guard let text = try await store.checkpoint(checkpoint(request.cursor), of: source),
      let memo = PageMemo(text),
      0..<(Self.lifetime / .seconds(1)) ~= now().timeIntervalSince(memo.readAt)
    else { return nil }
    let records = try await store.records(of: source, at: memo.positions).compactMap(
      EncodedRecord<Item>.init(unchanged:))
    return records.count == memo.positions.count ? KnownPage(memo: memo, records: records) : nil
  }

  /// What to keep of a page that follows `count` entries of a batch, if it was read and can be compared.
  func memo(
    of page: Page<EncodedRecord<Item>>, at cursor: PageCursor?, after count: inout Int
  ) -> [ReadPage] {
    let entries = count..<(count + page.records.count { $0.position == nil })
    count = entries.upperBound
    guard let digest = page.digest, page.unchangedCount == nil else { return [] }
    let memo = PageMemo(of: page, digest: digest, at: now())
    return [ReadPage(name: checkpoint(cursor), entries: entries) { memo.text(positions: $0) }]
  }

  private func checkpoint(_ cursor: PageCursor?) -> String {
    "\(name) \(cursor?.description ?? "")"
  }
}

/// A page as it was read last, with its records as the store has them.
struct KnownPage<Item: SourceRecord> {
  fileprivate let memo: PageMemo
  fileprivate let records: [EncodedRecord<Item>]

  var comparison: PageComparison.Known {
    PageComparison.Known(digest: memo.digest, count: records.count)
  }

  /// The page again, by the provenance of `page`, whose response has not changed.
  func page(_ page: Page<Item>) -> Page<EncodedRecord<Item>> {
    var known = Page(
      records, next: memo.next, total: memo.total, provenance: page.provenance,
      unreadable: memo.unreadable, hidden: memo.hidden, warnings: memo.warnings)
    known.reportedTotal = memo.reportedTotal
    known.changeMarks = memo.changeMarks
    known.schema = memo.schema
    known.endsPartition = memo.endsPartition
    known.unchangedCount = records.count
    return known
  }
}

/// What is kept of a page besides its records.
private struct PageMemo: Codable {
  let digest: UInt64
  let readAt: Date
  var positions: [Int64] = []
  let next: PageCursor?
  let total: Int?
  let reportedTotal: Int?
  let unreadable: UnreadableRows
  let hidden: Int
  let warnings: [Warning]
  let changeMarks: [String?]
  let schema: RowSchema?
  let endsPartition: Bool

  init(of page: Page<some SourceRecord>, digest: UInt64, at date: Date) {
    self.digest = digest
    readAt = date
    (next, total, reportedTotal) = (page.next, page.total, page.reportedTotal)
    (unreadable, hidden, warnings) = (page.unreadable, page.hidden, page.warnings)
    (changeMarks, schema) = (page.changeMarks, page.schema)
    endsPartition = page.endsPartition
  }

  init?(_ text: String) {
    guard let memo = try? JSONText(Data(text.utf8))?.read(PageMemo.self) else { return nil }
    self = memo
  }

  func text(positions: [Int64]) -> String? {
    var memo = self
    memo.positions = positions
    return try? CanonicalJSON.text(of: memo)
  }

  // MARK: - Codable

  private enum CodingKeys: String, CodingKey {
    case digest = "d", readAt = "a", positions = "p", next = "n", total = "t", reportedTotal = "o"
    case unreadable = "u", reason = "r", hidden = "h", warnings = "w", changeMarks = "m"
    case schema = "s", endsPartition = "e"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    digest = UInt64(bitPattern: try values.decode(Int64.self, forKey: .digest))
    readAt = try values.decode(Date.self, forKey: .readAt)
    // Each but the first as the distance from the one before.
    var last: Int64 = 0
    positions = try values.decode([Int64].self, forKey: .positions).map { distance in
      last &+= distance
      return last
    }
    next = try values.decodeIfPresent(PageCursor.self, forKey: .next)
    total = try values.decodeIfPresent(Int.self, forKey: .total)
    reportedTotal = try values.decodeIfPresent(Int.self, forKey: .reportedTotal)
    unreadable = UnreadableRows(
      count: try values.decodeIfPresent(Int.self, forKey: .unreadable) ?? 0,
      firstReason: try values.decodeIfPresent(String.self, forKey: .reason))
    hidden = try values.decodeIfPresent(Int.self, forKey: .hidden) ?? 0
    warnings = try values.decodeIfPresent([Warning].self, forKey: .warnings) ?? []
    changeMarks = try values.decodeIfPresent([String?].self, forKey: .changeMarks) ?? []
    schema = try values.decodeIfPresent(RowSchema.self, forKey: .schema)
    endsPartition = try values.decodeIfPresent(Bool.self, forKey: .endsPartition) ?? false
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(Int64(bitPattern: digest), forKey: .digest)
    try values.encode(readAt, forKey: .readAt)
    let distances = zip(positions, [0] + positions.dropLast()).map { $0 &- $1 }
    try values.encode(distances, forKey: .positions)
    try values.encodeIfPresent(next, forKey: .next)
    try values.encodeIfPresent(total, forKey: .total)
    try values.encodeIfPresent(reportedTotal, forKey: .reportedTotal)
    if unreadable.count > 0 { try values.encode(unreadable.count, forKey: .unreadable) }
    try values.encodeIfPresent(unreadable.firstReason, forKey: .reason)
    if hidden > 0 { try values.encode(hidden, forKey: .hidden) }
    if !warnings.isEmpty { try values.encode(warnings, forKey: .warnings) }
    if !changeMarks.isEmpty { try values.encode(changeMarks, forKey: .changeMarks) }
    try values.encodeIfPresent(schema, forKey: .schema)
    if endsPartition { try values.encode(true, forKey: .endsPartition) }
  }
}
