package import AggregatorKit
package import AggregatorQueries
package import AggregatorServer

/// A query for changes.
package struct ChangesQuery: Sendable {
  package static let defaultLimit = 100
  static let largestLimit = 1000

  /// The point with which records are compared, as typed for `--since`.
  package var since: String
  /// `nil` for all.
  package let kind: ChangeEntry.Kind?
  /// The name of the field that has changed; `nil` for all changes.
  package let field: String?
  var limit: Int
  package var cursor: PageCursor?

  /// - Parameter limit: The most changes of a page, 1 to ``largestLimit``.
  package init(
    since: String, kind: ChangeEntry.Kind? = nil, field: String? = nil,
    limit: Int = defaultLimit, cursor: PageCursor? = nil
  ) {
    self.since = since
    self.kind = kind
    self.field = field
    self.limit = limit
    self.cursor = cursor
  }

  /// The query of a request for the changes of a source.
  package init(
    _ request: ServerRequest, of source: any ServedSource, limit: Int
  ) throws(Problem) {
    let kinds = ChangeEntry.Kind.allCases.map(\.rawValue).joined(separator: ", ")
    let fields = source.fields.map(\.id)
    self.init(
      since: request.parameter("since") ?? "sync",
      kind: try request.parameter("kind", hint: "the kinds are \(kinds)") {
        ChangeEntry.Kind(rawValue: $0)
      },
      field: try request.parameter(
        "field", hint: "the fields are \(fields.joined(separator: ", "))"
      ) { fields.contains($0) ? $0 : nil },
      limit: limit,
      cursor: try request.parameter("cursor").map { text throws(Problem) in
        try PageCursor(received: text)
      })
  }

  /// True if all changes are wanted, of whatever kind and field.
  package var isOfAll: Bool { kind == nil && field == nil }

  /// True for a change that is wanted.
  func selects(_ entry: ChangeEntry) -> Bool { field.map(entry.names.contains) ?? true }
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
  /// It is of fifty thousand records at most: of a rare kind or field it may have few changes, or none, and still a next one.
  func changePage(
    _ query: ChangesQuery, in environment: PluginEnvironment
  ) async throws -> ChangePage? {
    let recordStore = recordStore(in: try environment.requiredStore())
    let seal = CursorSeal(
      [name, "changes", query.since, query.kind?.rawValue ?? "", query.field ?? ""]
        .joined(separator: "\0"), for: nil)
    let place = try seal.open(query.cursor, as: ChangesPosition.self)
    var start: HistoryStart =
      if let place {
        .mark(HistoryMark(position: place.position, change: place.change))
      } else {
        try HistoryStart(typed: query.since, now: environment.now())
      }
    var last = place?.last ?? 0
    var result: ChangePage?
    for _ in 0..<100 {
      // Each change takes the place of a record that was read; of a kind or a field, there may be few among many.
      let limit = query.isOfAll ? query.limit - (result?.entries.count ?? 0) : 500
      let slice = try await recordStore.store.changes(
        of: name, since: start, after: last, limit: min(500, limit))
      guard let slice else { return nil }
      start = .mark(slice.start)
      var sum =
        result
        ?? ChangePage(summary: ChangeSummary(slice))
      for stored in slice.changes where sum.entries.count < query.limit {
        last = stored.record.position
        guard query.kind.map({ $0 == stored.kind }) ?? true else { continue }
        let (change, isReverted, unreadable) = recordStore.change(stored)
        sum.summary.unreadable = sum.summary.unreadable + unreadable
        if isReverted { sum.summary.reverted += 1 }
        guard let change else { continue }
        guard let entry = ChangeEntry(change, at: stored.date, of: self) else {
          sum.summary.changedElsewhere += 1
          continue
        }
        guard query.selects(entry) else { continue }
        sum.entries.append(entry)
        sum.summary.add(entry)
      }
      let isRead = slice.changes.last.map { $0.record.position <= last } ?? true
      let hasMore = slice.hasMore || !isRead
      sum.next =
        hasMore
        ? try seal.close(
          ChangesPosition(position: slice.start.position, change: slice.start.change, last: last))
        : nil
      result = sum
      guard hasMore, sum.entries.count < query.limit else { break }
    }
    let status = try await recordStore.store.status(of: name)
    result?.summary.add(status)
    result?.summary.gap = try await gapOfChanges(in: recordStore.store)
    return result
  }

  /// The numbers of the changes since a point as typed for `--since`, of fifty thousand records at most; `nil` if nothing
  /// is known of that point.
  func changeSummary(
    since typed: String, in environment: PluginEnvironment
  ) async throws -> ChangeSummary? {
    let recordStore = recordStore(in: try environment.requiredStore())
    var start = try HistoryStart(typed: typed, now: environment.now())
    var last: Int64? = 0
    var summary: ChangeSummary?
    for _ in 0..<50 {
      guard let after = last else { break }
      let slice = try await recordStore.store.changes(
        of: name, since: start, after: after, limit: 1000)
      guard let slice else { return nil }
      start = .mark(slice.start)
      var sum = summary ?? ChangeSummary(slice)
      for stored in slice.changes {
        guard let kind = stored.kind else { continue }
        // A record that is new or gone is known to be without being read.
        if kind == .changed {
          let (change, isReverted, _) = recordStore.change(stored)
          if isReverted { sum.reverted += 1 }
          guard let change else { continue }
          guard ChangeEntry(change, at: stored.date, of: self) != nil else {
            sum.changedElsewhere += 1
            continue
          }
        }
        sum.add(kind, on: stored.date.iso8601)
      }
      sum.isCut = slice.hasMore
      summary = sum
      last = slice.hasMore ? slice.changes.last?.record.position : nil
    }
    let status = try await recordStore.store.status(of: name)
    summary?.add(status)
    summary?.gap = try await gapOfChanges(in: recordStore.store)
    return summary
  }
}

extension Warning.Code {
  /// There was only a first sync, whose records are no changes.
  static let firstSync = Warning.Code("firstSync")
}

extension ChangeSummary {
  fileprivate init(_ slice: ChangeSlice) {
    self.init(
      date: slice.date, knownSince: slice.knownSince, hasEarlierSync: slice.hasEarlierSync)
  }
}

extension StoredChange {
  /// The kind of the change, if there is one; `nil` for a record that came and went.
  fileprivate var kind: ChangeEntry.Kind? {
    switch (wasListed, record.removedUpstreamAt == nil) {
    case (false, false): nil
    case (false, true): .added
    case (true, false): .removed
    case (true, true): .changed
    }
  }
}
