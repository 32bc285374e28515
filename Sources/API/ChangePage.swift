package import AggregatorKit
package import AggregatorQueries

/// A query for changes.
package struct ChangesQuery: Sendable {
  package static let defaultLimit = 100
  static let largestLimit = 1000

  /// The point with which records are compared, as typed for `--since`.
  package let since: String
  /// `nil` for all.
  package let kind: ChangeEntry.Kind?
  let limit: Int
  package let cursor: PageCursor?

  /// - Parameter limit: The most changes of a page, 1 to ``largestLimit``.
  package init(
    since: String, kind: ChangeEntry.Kind? = nil, limit: Int = defaultLimit,
    cursor: PageCursor? = nil
  ) {
    self.since = since
    self.kind = kind
    self.limit = limit
    self.cursor = cursor
  }
}

/// Some of the changes since a point, in first-seen order.
package struct ChangePage: Sendable {
  package var entries: [ChangeEntry] = []
  package var summary: ChangeSummary
  /// The cursor of the next page; `nil` after the last.
  package var next: PageCursor?
}

/// The point with which records are compared, which a later sync does not move, and the record before a page.
private struct ChangesPosition: Codable {
  let position: Int64
  let change: Int64
  let last: Int64

  private enum CodingKeys: String, CodingKey {
    case position = "p"
    case change = "c"
    case last = "l"
  }
}

extension Plugin {
  /// A page of changes; `nil` if nothing is known of the point.
  ///
  /// Each change takes the place of a record that was read, so that no more than the limit are found.
  /// A page is of some thousands of records at most: it may have few changes, or none, and still a next one.
  func changePage(
    _ query: ChangesQuery, in environment: PluginEnvironment
  ) async throws -> ChangePage? {
    let recordStore = recordStore(in: try environment.requiredStore())
    let seal = CursorSeal(
      [name, "changes", query.since, query.kind?.rawValue ?? ""].joined(separator: "\0"), for: nil)
    let place = try seal.open(query.cursor, as: ChangesPosition.self)
    var start: HistoryStart =
      if let place {
        .mark(HistoryMark(position: place.position, change: place.change))
      } else {
        try HistoryStart(typed: query.since, now: environment.now())
      }
    var last = place?.last ?? 0
    var result: ChangePage?
    for _ in 0..<20 {
      let page = try await recordStore.changes(
        since: start, after: last, limit: min(500, query.limit - (result?.entries.count ?? 0)))
      guard let page else { return nil }
      start = .mark(page.start)
      var sum =
        result
        ?? ChangePage(summary: ChangeSummary(date: page.date, knownSince: page.knownSince))
      for (change, date) in page.changes {
        guard let entry = ChangeEntry(change, at: date, of: self),
          query.kind.map({ $0 == entry.kind }) ?? true
        else { continue }
        sum.entries.append(entry)
        sum.summary.counts[entry.kind, default: 0] += 1
      }
      sum.summary.unreadable = sum.summary.unreadable + page.unreadable
      sum.next = try page.next.map { last throws(SourceError) in
        try seal.close(
          ChangesPosition(position: page.start.position, change: page.start.change, last: last))
      }
      result = sum
      guard let next = page.next, sum.entries.count < query.limit else { break }
      last = next
    }
    return result
  }
}
