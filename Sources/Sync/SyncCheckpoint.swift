import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText

/// The progress of a pass: one complete run through the service's list.
///
/// It is stored with every batch of pages, so that the next run can resume.
struct SyncCheckpoint: Hashable, Codable, Sendable {
  /// The start of the next page; `nil` for the beginning.
  var cursor: PageCursor?

  var pages = 0
  var records = 0
  var unreadable = 0

  /// The number of all records, if the service reports it.
  var total: Int?

  /// The number of records of the last complete sync, as it was when the pass began; `nil` if there was none.
  var expected: Int?

  /// True while every row could be read and the service never changed its total.
  var isCertain = true

  /// The reasons records of pages are missing, if their source said so; see ``Warning/meansIncomplete``.
  private(set) var pageShortfall: Shortfall?

  /// True if a page said that the service lists no more, although it has more; see ``Warning/Code/depthLimit``.
  private(set) var reachedDepth: Bool?

  /// True if a rule for errors ended the list, so that its total does not matter; see ``Warning/Code/endedByRule``.
  private var isEndedByRule: Bool?

  /// True if a rule for errors left the partition out, so that what it has is not known; see ``Warning/Code/skippedPartition``.
  private(set) var isSkipped: Bool?

  /// The marks of its records, if the service tells what has changed.
  private(set) var marks: SeenMarks?

  /// The members of its rows; `nil` if the source does not tell.
  private(set) var schema: RowSchema?

  /// The last position of the store when the pass began.
  var start: Int64

  /// True if the pass ends here because the service lists no more, although it may have more.
  private(set) var isCut = false

  /// The time at which the pass began; `nil` if an older version began it.
  private(set) var begun: Date?

  /// The time at which the last page was fetched.
  var date: Date

  /// A ``PageSeam`` of the last page, empty after it was compared; `nil` if its cursor is answered only once, or an older
  /// version has read it.
  var seam: String?

  private enum CodingKeys: String, CodingKey {
    case cursor = "c", pages = "p", records = "r", unreadable = "u", total = "t", isCertain = "s",
      start = "l"
    case marks = "m", schema = "w"
    case date = "d", pageShortfall = "i", reachedDepth = "e", isEndedByRule = "f"
    case isSkipped = "k", begun = "a", expected = "x", seam = "n"
  }

  /// After this long without a further page a pass starts over: its first records may be gone by now.
  static let lifetime = Duration.seconds(7 * 86_400)

  /// Plausible counts, so that sums never overflow: the store may be damaged.
  private static let counts = 0...(Int(exactly: Int64(1) << 40) ?? .max / 2)

  init(after position: Int64, at date: Date) {
    (start, begun, self.date) = (position, date, date)
  }

  /// Decodes a stored checkpoint; `nil` if it is invalid or has expired.
  init?(_ text: String, at now: Date) {
    guard let checkpoint = try? JSONText(Data(text.utf8))?.read(SyncCheckpoint.self),
      checkpoint.cursor != nil, checkpoint.pages > 0, checkpoint.isPlausible(at: now)
    else { return nil }
    self = checkpoint
  }

  /// False if it has expired, or only damage explains it.
  func isPlausible(at now: Date) -> Bool {
    Self.counts ~= pages && Self.counts ~= records && Self.counts ~= unreadable
      && now.timeIntervalSince(date) < Self.lifetime / .seconds(1)
  }

  var text: String {
    // All of it can be encoded; and an empty checkpoint would just start over.
    (try? CanonicalJSON.text(of: self)) ?? ""
  }

  func after(_ page: Page<some SourceRecord>, at date: Date) -> SyncCheckpoint {
    var checkpoint = self
    checkpoint.cursor = page.next
    checkpoint.add(page, at: date)
    return checkpoint
  }

  /// Adds a page to the sums, in any order.
  mutating func add(_ page: Page<some SourceRecord>, at date: Date) {
    pages += 1
    records += page.records.count
    unreadable += page.unreadable.count
    let shortfall = Shortfall(page.warnings)
    if page.unreadable.count > 0 || shortfall != nil { isCertain = false }
    pageShortfall = pageShortfall + shortfall
    if page.warnings.contains(where: { $0.code == .depthLimit }) { reachedDepth = true }
    if page.warnings.contains(where: { $0.code == .endedByRule }) { isEndedByRule = true }
    if page.warnings.contains(where: { $0.code == .skippedPartition }) { isSkipped = true }
    schema = schema.merged(with: page.schema)
    if let total = page.total {
      if let known = self.total, known != total { isCertain = false }
      self.total = total
    }
    self.date = date
  }

  /// Takes note of the marks of a page that was added.
  mutating func note(_ pageMarks: [String?], by tracking: ChangeTracking?) {
    guard let tracking else { return }
    let latest = tracking.latest(of: pageMarks.compactMap(\.self), at: date)
    if pages == 1 {
      marks = SeenMarks(first: latest, at: date)
    } else {
      marks?.add(latest, by: tracking, at: date)
    }
  }

  /// Takes note that the pass goes on after an interruption of unknown length.
  mutating func noteInterruption() { marks?.noteInterruption() }

  /// The end of the pass in the store; of one that is not trusted, it only counts the records.
  func completion(isTrusted: Bool) -> Reconciliation.Completion {
    var completion = Reconciliation.Completion(
      lastPosition: start, minRecordCount: minRecordCount)
    completion.onlyCounts = !isTrusted
    return completion
  }

  /// The number of rows before the cursor.
  var rows: Int { records + unreadable }

  /// Ends the pass at a service that lists only its first `depth` rows.
  mutating func cut(at depth: Int?) {
    guard let depth, rows >= depth else { return }
    cursor = nil
    endAtDepth()
  }

  /// Ends the pass at a service that lists no more, although it may have more.
  mutating func endAtDepth() { isCut = total.map { $0 > rows } ?? true }

  /// The reason why a pass that ends here is not known to have read every record; `nil` if it is, unless it has
  /// seen fewer than ``minRecordCount``.
  ///
  /// `known` is the number of records that the service had: no records are an answer only if there were none.
  func shortfall(known: Int) -> Shortfall? {
    if let sum = pageShortfall + .unreadable(unreadable) { return sum }
    if isSkipped == true { return nil }
    if records == 0, known > 0 || total ?? 0 > 0 {
      return Shortfall(.incomplete, "the service sent no records")
    }
    return isCertain ? nil : Shortfall(.incomplete, "the list changed during the sync")
  }

  /// The number of different records that a pass that ends here must have seen: all that the service
  /// reports, and none twice, because a repeated record may have displaced another.
  var minRecordCount: Int { isEndedByRule == true ? records : max(total ?? 0, records) }

  /// The reason for a pass that has seen fewer than ``minRecordCount``.
  func shortfall(seen: Int) -> Shortfall? {
    guard minRecordCount > records else { return .repeatedIDs(records - seen) }
    let words =
      "the service sent \(seen.grouped) different records, but \(minRecordCount.grouped) were expected"
    return Shortfall(seen < records ? .repeated : .incomplete, words)
  }

  /// The reason for a pass that misses many records for the first time.
  static func shortfall(_ removals: StoreChanges.Unconfirmed) -> Shortfall {
    Shortfall(
      .incomplete,
      "\(removals.missing.grouped) of \(removals.known.grouped) known records are missing; sync again to confirm it"
    )
  }
}

/// The last page of an interrupted pass, by which the run that resumes it sees whether records have moved between pages.
struct PageSeam {
  /// The start of the page; `nil` for the first one.
  let start: PageCursor?
  /// The number of records per request.
  let size: Int

  /// The text that is kept of the page with these records: the size, a digest of their IDs, and the start.
  func text(of records: some Sequence<some SourceRecord>) -> String {
    // In any order: not all services keep one within a page.
    let digest = records.reduce(0) { $0 &+ RecordKey($1.id).text.fnv1a }
    return "\(size) \(digest.base36(digits: 13)) \(start?.description ?? "")"
  }
}

extension PageSeam {
  /// - Parameter text: That of ``text(of:)``; `nil` for another one.
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3, let size = Int(words[0]) else { return nil }
    self.init(start: PageCursor(String(words[2])), size: size)
  }
}

/// Consecutive pages that are stored in one transaction.
///
/// Pages that arrived while others were being stored are stored together, because each transaction
/// rewrites the same few pages of the file, however small it is.
struct SyncBatch<Item: SourceRecord> {
  /// A batch with this many records takes no further page.
  private static var maxRecords: Int { 2000 }

  /// A batch with this many bytes of JSON takes no further page, however few records they are.
  private static var maxBytes: Int { 8 << 20 }

  private(set) var records: [EncodedRecord<Item>] = []

  private var bytes = 0

  /// The checkpoints of its pages, with which the next pass compares them.
  private(set) var readPages: [ReadPage] = []

  /// The number of its records that were read.
  private var readCount = 0

  /// The number of records of each page.
  private(set) var counts: [Int] = []

  /// The checkpoint before its first page.
  let start: SyncCheckpoint

  /// The checkpoint after its last page.
  private(set) var checkpoint: SyncCheckpoint

  /// The start of its last page.
  private var lastStart: PageCursor?

  /// True if its last page is the last of the service.
  var isLast: Bool { pages > 0 && checkpoint.cursor == nil }

  private(set) var unreadable = UnreadableRows.none

  /// The number of its records that are those of earlier pages.
  var repeated = 0

  private(set) var valueWarnings: [Warning] = []

  /// The provenance of its last page.
  private(set) var provenance: Provenance?

  var pages: Int { counts.count }

  init(from checkpoint: SyncCheckpoint) { (start, self.checkpoint) = (checkpoint, checkpoint) }

  /// The seam after its last page, of `size` records per request.
  func seam(size: Int) -> String {
    PageSeam(start: lastStart, size: size).text(of: records.suffix(counts.last ?? 0))
  }

  var hasRoom: Bool { !isLast && records.count < Self.maxRecords && bytes < Self.maxBytes }

  /// Adds the page that starts at ``checkpoint``, fetched at `date` from a service that lists only its
  /// first `depth` rows, or all.
  mutating func add(
    _ page: Page<EncodedRecord<Item>>, at date: Date, depth: Int? = nil,
    tracking: ChangeTracking? = nil, comparing: PageComparing<Item>? = nil
  ) {
    if let read = comparing?.checkpoint(of: page, after: &readCount) { readPages.append(read) }
    records += page.records
    bytes += page.records.reduce(0) { $0 + $1.json.count }
    counts.append(page.records.count)
    provenance = page.provenance
    unreadable = unreadable + page.unreadable
    valueWarnings.addThoseOfValues(in: page.warnings)
    lastStart = checkpoint.cursor
    checkpoint = checkpoint.after(page, at: date)
    checkpoint.note(page.changeMarks, by: tracking)
    checkpoint.cut(at: depth)
  }
}

extension [Warning] {
  /// Adds the warnings of values that differ from those of the service, each once.
  mutating func addThoseOfValues(in warnings: [Warning]) {
    for warning in warnings where warning.isOfValues && !contains(warning) {
      append(warning)
    }
  }
}
