import AggregatorFilters
package import AggregatorKit
import Synchronization

/// The selected records of a local source, in the order of the selection.
///
/// All of them are read for the first page. A cursor is valid only for the same records: cached or bundled
/// ones, with the same query, conditions and order.
package struct SelectedSource<Item: SourceRecord>: DataSource {
  private struct Loaded {
    let query: SearchQuery?
    /// The selected records, all of them.
    var page: Page<Item>
  }

  private struct Position: Codable {
    /// The number of records before the page.
    let offset: Int
    /// The digest of the last of them, which moves if others are added or deleted.
    let last: UInt64

    private enum CodingKeys: String, CodingKey {
      case offset = "o"
      case last = "l"
    }
  }

  package let name: String
  package let base: any DataSource<Item>
  package let selection: Selection<Item>

  /// True if the base may fail with `nothingCached` because nothing matches.
  let mayBeEmpty: Bool
  package let lacksDetails: @Sendable (Item) -> Bool

  /// True if the base has all records, and the selection takes them as they are: then the store knows their number.
  package var isAll = false

  private let loaded = Cache()

  package init(
    _ name: String, of base: any DataSource<Item>, _ selection: Selection<Item>,
    mayBeEmpty: Bool = false, lacksDetails: @escaping @Sendable (Item) -> Bool
  ) {
    self.name = name
    self.base = base
    self.selection = selection
    self.mayBeEmpty = mayBeEmpty
    self.lacksDetails = lacksDetails
  }

  package func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    if isAll, request.query == nil { return try await base.page(request) }
    var page = try await all(matching: request.query)
    let seal = CursorSeal(
      ([name, page.provenance.origin.rawValue, "selected", selection.text.order ?? ""]
        + selection.text.conditions).joined(separator: "\0"), for: request.query)
    let records = page.records
    var start = 0
    if let position = try seal.open(request.cursor, as: Position.self) {
      guard 0...1_000_000_000 ~= position.offset else { throw .damaged(request.cursor) }
      let last = records.firstIndex { Self.digest(of: $0.id) == position.last }
      start = min(last.map { $0 + 1 } ?? position.offset, records.count)
    }
    page.records = Array(records[start...].prefix(request.limit))
    let end = start + page.records.count
    if end < records.count, let last = page.records.last {
      page.next = try seal.close(Position(offset: end, last: Self.digest(of: last.id)))
    }
    return page
  }

  package func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }

  private static func digest(of id: Item.ID) -> UInt64 { id.description.fnv1a }

  private func all(matching query: SearchQuery?) async throws(SourceError) -> Page<Item> {
    if let known = loaded.value.withLock({ $0 }), known.query == query { return known.page }
    var all: Page<Item>?
    var unfetched = 0
    var compared: [ComparedValues] = []
    let conditions = selection.conditionsOnAll
    var kinds: [CommonKind] = conditions.map { _ in .none }
    do throws(SourceError) {
      let pages = base.pages(matching: query, size: 1000).makeAsyncIterator()
      while let step = try await pages.next() {
        try selection.check(step.items)
        var page = all ?? Page([], provenance: step.page.provenance)
        page.records += step.items.filter(selection.matches)
        page.provenance.fetchedAt =
          [page.provenance.fetchedAt, step.page.provenance.fetchedAt].compactMap(\.self).min()
        page.unreadable = page.unreadable + step.page.unreadable
        page.warnings += step.page.warnings.filter { !page.warnings.contains($0) }
        unfetched += step.items.count(where: lacksDetails)
        selection.count(step.items, in: &compared)
        for (index, condition) in conditions.enumerated() {
          for item in step.items { kinds[index].add(condition.field[item]) }
        }
        all = page
      }
    } catch .nothingCached where mayBeEmpty {}
    for (condition, kind) in zip(conditions, kinds) { try condition.check(all: kind) }
    var page = all ?? Page([], provenance: Provenance(.cached))
    page.records = selection.sorted(page.records)
    page.total = page.records.count
    page.warnings += selection.warnings(unfetched: unfetched) + selection.warnings(of: compared)
    loaded.value.withLock { $0 = Loaded(query: query, page: page) }
    return page
  }

  /// The likely meaning of a condition that no record meets, as far as the records can be read.
  package func nearMiss() async -> NearMiss {
    let pages = base.pages(size: 1000).makeAsyncIterator()
    var miss = NearMiss()
    while let step = try? await pages.next() { selection.add(step.items, to: &miss) }
    return miss
  }

  private final class Cache: Sendable {
    let value = Mutex<Loaded?>(nil)
  }
}
