package import AggregatorKit

/// The selected records of a store, in the order of the selection: a page reads no other records than its own.
///
/// A cursor keeps the position of the last record, so that records that are added or deleted before it move nothing.
package struct IndexedSource<Item: SourceRecord>: DataSource {
  private struct Position: Codable {
    /// The number of records before the page.
    let offset: Int
    /// The positions in the store of the last ones, the very last first; none at a place that was chosen by its number.
    ///
    /// Any of them may be deleted meanwhile.
    var last: [Int64] = []

    private enum CodingKeys: String, CodingKey {
      case offset = "o"
      case last = "l"
    }
  }

  private static var keptCount: Int { 3 }

  private let index: RecordIndex<Item>
  private let selection: Selection<Item>
  private let source: SelectedSource<Item>

  /// - Parameter source: The same records, for a store that cannot tell whether they have changed.
  package init(_ index: RecordIndex<Item>, _ source: SelectedSource<Item>) {
    self.index = index
    self.source = source
    selection = source.selection
  }

  package func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let seal = seal(for: request.query)
    // A record that changes between two looks is looked for again.
    for _ in 0..<5 {
      guard let table = try await index.table(of: selection.fields) else {
        return try await source.page(request)
      }
      let selected = try await index.selected(by: selection, matching: request.query, in: table)
      let rows = selected.rows
      var start = 0
      if let position = try seal.open(request.cursor, as: Position.self) {
        guard 0...1_000_000_000 ~= position.offset else { throw .damaged(request.cursor) }
        let last = position.last.lazy.compactMap(table.row)
          .compactMap { rows.firstIndex(of: $0) }.first
        start = min(last.map { $0 + 1 } ?? position.offset, rows.count)
      }
      let shown = rows[start...].prefix(request.limit)
      let stored = try await index.records.store.records(
        of: index.records.source, at: shown.map { table.positions[$0] })
      let (items, unreadable) = index.records.decoded(stored)
      guard items.count == shown.count, unreadable.count == 0, items.allSatisfy(selection.matches)
      else { continue }
      var date = try await index.records.completeSync()?.begun
      if date == nil {
        // A record that was fetched again unchanged is as old as its page.
        date = [table.oldest, try await index.records.lastFetchOfAll()].compactMap(\.self).max()
      }
      var page = Page(
        items, total: rows.count,
        provenance: Provenance(.cached, fetchedAt: date),
        unreadable: request.cursor == nil ? table.unreadable : .none)
      page.excludesDeleted = true
      if shown.endIndex < rows.endIndex {
        let last = rows[..<shown.endIndex].suffix(Self.keptCount).reversed()
        page.next = try seal.close(
          Position(offset: shown.endIndex, last: last.map { table.positions[$0] }))
      }
      page.warnings = selected.warnings + index.records.warnings(on: stored)
      return page
    }
    throw SourceError(.busy, "\(index.records.source) are changing all the time")
  }

  private func seal(for query: SearchQuery?) -> CursorSeal {
    Self.seal(of: index.records.source, selection.text, for: query)
  }

  private static func seal(
    of source: String, _ text: SelectionText, for query: SearchQuery?
  ) -> CursorSeal {
    CursorSeal(
      ([source, "indexed", text.order ?? ""] + text.conditions).joined(separator: "\0"), for: query)
  }

  /// The number of records before the page of a cursor when it was made; `nil` if it is from a list with another selection.
  package static func offset(
    of cursor: PageCursor, in source: String, _ text: SelectionText, for query: SearchQuery?
  ) -> Int? {
    (try? seal(of: source, text, for: query).open(cursor, as: Position.self))?.offset
  }

  package func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await source.item(id, cachePolicy: cachePolicy)
  }

  package func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    let seal = seal(for: request.query)
    guard count >= 0, let start = try? seal.open(request.cursor, as: Position.self) ?? nil else {
      return try? seal.close(Position(offset: count))
    }
    return try? seal.close(Position(offset: start.offset + count))
  }

  package var readsAhead: Bool { false }
}
