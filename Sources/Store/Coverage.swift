public import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The part of a service's records that is cached.
public struct Coverage: Hashable, Sendable {
  /// The number of cached records, including deleted ones.
  public var cached: Int

  /// The number of all records, as the service last reported it; `nil` if unknown.
  public var total: Int?

  /// The total, unless as many records are cached that are not all of them, or even more.
  package var totalOfCached: Int? { total.flatMap { isComplete || $0 > cached ? $0 : nil } }

  /// True if every record of the service is cached, as far as is known.
  public var isComplete: Bool

  /// The number of records after which the service lists no more, if the last sync has come to it; no sync fetches the
  /// others.
  public var depth: Int?

  /// The number of records that the service has sent to the last sync that came to its end, or for a list that is cached
  /// whole, although it reports fewer; `nil` if it does not.
  package var sent: Int?

  /// The number of rows of a list that is cached from its first page to its last; `nil` if none is.
  package var listed: Int?

  /// True if the service reports no total, and such a list has no repeated rows.
  package var isListed: Bool { total == nil && listed.map { $0 <= cached } ?? false }

  /// True if such a list lacks records that are cached: the service may have replaced some since the last sync.
  package var hasUnlisted: Bool { listed.map { $0 < cached } ?? false }

  /// True if a list that is cached from its first page to its last has fewer rows than its pages say.
  package var isShort = false

  /// The reason the last sync that came to its end, or whose pages repeated, may have missed records, unless a list of all
  /// cached ones was fetched since.
  package var shortfall: Shortfall?

  /// The reason that list lacks records, if it is known, or that the service no longer has all cached ones.
  package var listShortfall: Shortfall?

  /// The reason records are missing, or may be.
  package var gap: Shortfall? { shortfall + listShortfall }

  /// True if rows could not be read, or a file is cut off.
  package var hasUnreadableRows: Bool {
    gap.map { $0.includes(.unreadable) || $0.includes(.cutOff) } ?? false
  }

  /// The name of the checkpoint that a complete sync leaves.
  package static let checkpoint = "complete"

  /// The name of the checkpoint with the number of records that a sync which has ended was sent, if the total is lower.
  package static let sentCheckpoint = "sent"

  /// The name of the checkpoint with the total of a service that has sent fewer to a sync which has come to its end.
  package static let totalCheckpoint = "total"

  /// The name of the checkpoint with the mark of such a sync, as of a ``CompleteSync``, if it has read all cached records.
  package static let readCheckpoint = "read"

  /// The name of the checkpoint that a sync leaves which has come to the depth of the service.
  package static let depthCheckpoint = "depth"

  /// The name of the checkpoint with the reason a sync which has come to its end may have missed records.
  package static let shortfallCheckpoint = "shortfall"

  /// The name of the checkpoint with the warnings of values that are not those which the service has sent.
  static let valuesCheckpoint = "values"

  /// The name of the checkpoint with the failure of the last sync, until one ends without any.
  package static let failureCheckpoint = "failure"
}

extension SourceStore {
  /// The failure of the last sync of a source in words; `nil` if it had none, was stopped or was to stay offline.
  package func syncFailure(of source: String) async throws(SourceError) -> String? {
    try await checkpoint(Coverage.failureCheckpoint, of: source)
  }

  /// The reason the last sync of a source that came to its end, or whose pages repeated, may have missed records.
  package func shortfall(of source: String) async throws(SourceError) -> Shortfall? {
    try await checkpoint(Coverage.shortfallCheckpoint, of: source).map(Shortfall.init(checkpoint:))
  }

  /// True if a total that the service reports is known to be too low: it has sent more records to the last sync that
  /// came to its end, or for a list that is cached whole.
  func isTooLow(_ total: Int, of source: String) async throws(SourceError) -> Bool {
    let status = try await status(of: source)
    // Nothing else has to be read where no more are cached.
    guard total < status.records + status.hidden else { return false }
    return try await coverage(of: source).sent.map { total < $0 } ?? false
  }

  /// The part of a source's records that is cached, judged by its cached pages and its last sync.
  public func coverage(of source: String) async throws(SourceError) -> Coverage {
    Coverage(try await state(of: source, checkpoints: Coverage.checkpoints))
  }
}

extension Coverage {
  /// The names of the checkpoints by which it is judged.
  package static let checkpoints = [
    checkpoint, depthCheckpoint, sentCheckpoint, shortfallCheckpoint, totalCheckpoint,
  ]

  package init(_ state: StoredState) {
    let cached = state.status.records + state.status.hidden
    let lists = state.pages.compactMap { ListingEntry($0.key, $0.page) }
    let whole = ListingEntry.whole(of: lists)
    let listed = whole.map { ListingEntry.rows(of: $0) }
    let unreadable = whole?.reduce(0) { $0 + $1.unreadable } ?? 0
    let read = listed.map { $0 - unreadable }
    // Pages that are cached were fetched after the last sync.
    let shortfall =
      read == cached
      ? nil : state.checkpoints[Self.shortfallCheckpoint].map(Shortfall.init(checkpoint:))
    let isSynced = state.checkpoints[Self.checkpoint] != nil
    // What a complete sync has stored does not depend on pages that were fetched one by one.
    let isMixed = !isSynced && whole.map(ListingEntry.isMixed) == true
    let listShortfall =
      Shortfall(whole?.flatMap { $0.warnings ?? [] } ?? []) + .unreadable(unreadable)
      + .repeatedIDs((read ?? 0) - cached) + Shortfall(of: isMixed ? [.mixedGenerations] : [])
    let synced = state.checkpoints[Self.sentCheckpoint].flatMap { Int($0) }
    let isLonger = listShortfall == nil && whole.map(ListingEntry.isLongerThanReported) == true
    let sent = [synced, isLonger ? listed : nil].compactMap(\.self).max()
    let reported = shortfall.flatMap { _ in state.checkpoints[Self.totalCheckpoint] }
    let total = lists.lazy.compactMap(\.page.total).first ?? reported.flatMap { Int($0) }
    let excess = Shortfall.excess(
      of: cached, read: read, total: total.flatMap { $0 < sent ?? 0 ? nil : $0 })
    // Different totals are those of different times; a page that contradicts its total has none.
    let isOfOneTime = whole?.allSatisfy { $0.total ?? total == total } == true
    let isListed = !isMixed && listed.map { $0 <= cached } ?? false
    let isAll = total.map { !isMixed && cached >= $0 } ?? (isSynced || isListed)
    self.init(
      cached: cached, total: total,
      isComplete: isAll && shortfall + excess == nil && lists.allSatisfy(\.isWhole),
      depth: state.checkpoints[Self.depthCheckpoint].flatMap { Int($0) },
      sent: sent, listed: listed, isShort: isOfOneTime && total ?? 0 > listed ?? 0,
      shortfall: shortfall, listShortfall: listShortfall + excess)
  }
}

/// A page that `cached` made for a list without a query.
private struct ListingEntry {
  let page: PageMetadata
  /// Where it begins, and how many records were requested.
  private let place: [JSON]

  /// `nil` for the key of another call.
  init?(_ key: String, _ page: PageMetadata) {
    guard case .array(let parts)? = JSON(reading: Data(key.utf8)), parts.count == 5,
      parts[1] == .string(CallKind.list.rawValue)
    else { return nil }
    self.page = page
    place = Array(parts.dropFirst(3))
  }

  /// False if its source said that records are missing, or rows could not be read; other values lose none.
  var isWhole: Bool {
    page.unreadable == 0 && page.warnings?.allSatisfy(\.isOfValues) != false
  }

  /// The number of rows of a list; more than there are different records if some repeat, and others may be missing.
  static func rows(of list: [PageMetadata]) -> Int { list.reduce(0) { $0 + ($1.rows ?? 0) } }

  /// True if the pages of a list are of different times, so that records may have moved from one to another between them.
  ///
  /// Pages that were fetched again and had not changed are also those of before.
  static func isMixed(_ list: [PageMetadata]) -> Bool {
    Set(list.map(\.generation)).count > 1
      && Set(list.map { $0.unchangedSince ?? $0.generation }).count > 1
  }

  /// True if the pages of a list, all of one time, have more rows than some of them say.
  static func isLongerThanReported(_ list: [PageMetadata]) -> Bool {
    let rows = rows(of: list)
    return !isMixed(list) && list.contains { $0.total.map { $0 < rows } ?? false }
  }

  /// The pages of a list that is cached from its first page to its last; `nil` if none is.
  static func whole(of pages: [ListingEntry]) -> [PageMetadata]? {
    let byPlace = Dictionary(pages.map { ($0.place, $0.page) }) { first, _ in first }
    for first in pages where first.place[0] == .null {
      var (next, list) = (Optional(first.page), [PageMetadata]())
      while let page = next, list.count <= pages.count, page.rows != nil {
        list.append(page)
        guard let cursor = page.next else { return list }
        next = byPlace[[.string(cursor.description), first.place[1]]]
      }
    }
    return nil
  }
}
