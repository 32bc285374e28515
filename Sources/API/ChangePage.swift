package import AggregatorKit
package import AggregatorQueries

/// Some of the changes since a point, in first-seen order.
package struct ChangePage: Sendable {
  package var entries: [ChangeEntry] = []
  package var summary: ChangeSummary
  /// The point with which records are compared.
  package let start: HistoryMark
  /// The position after which the next page begins; `nil` after the last.
  package var next: Int64?
}

extension Plugin {
  /// A page of the changes since a point, of a kind or of all, after a position; `nil` if nothing is known of that point.
  ///
  /// Each change takes the place of a record that was read, so that no more than the `limit` are found.
  /// A page is of some thousands of records at most: it may have few changes, or none, and still a next one.
  func changePage(
    since start: HistoryStart, after position: Int64, of kind: ChangeEntry.Kind?,
    in store: any SourceStore, limit: Int = 500
  ) async throws -> ChangePage? {
    let recordStore = recordStore(in: store)
    var (start, position) = (start, position)
    var result: ChangePage?
    for _ in 0..<20 {
      let page = try await recordStore.changes(
        since: start, after: position, limit: min(500, limit - (result?.entries.count ?? 0)))
      guard let page else { return nil }
      start = .mark(page.start)
      var sum =
        result
        ?? ChangePage(
          summary: ChangeSummary(date: page.date, knownSince: page.knownSince), start: page.start)
      for (change, date) in page.changes {
        guard let entry = ChangeEntry(change, at: date, of: self),
          kind.map({ $0 == entry.kind }) ?? true
        else { continue }
        sum.entries.append(entry)
        sum.summary.counts[entry.kind, default: 0] += 1
      }
      sum.summary.unreadable = sum.summary.unreadable + page.unreadable
      sum.next = page.next
      result = sum
      guard let next = page.next, sum.entries.count < limit else { break }
      position = next
    }
    return result
  }
}
