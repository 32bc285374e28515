package import AggregatorKit

/// The IDs that a session has shown, as 8-byte digests: the newest ten thousand, oldest first.
package struct ShownIDs: Hashable, Sendable {
  package static let maxCount = 10_000

  var digests: ArraySlice<UInt64> { all.suffix(Self.maxCount) }

  /// Up to twice ``maxCount`` digests, so that not every addition moves them.
  private var all: [UInt64] = []

  init(_ digests: some Sequence<UInt64> = []) { all = Array(digests) }

  /// True if older IDs may have been dropped.
  package var isTruncated: Bool { digests.count == Self.maxCount }

  package mutating func add(_ records: [some Record]) {
    for record in records { all.append(Self.digest(of: record.id)) }
    if all.count > 2 * Self.maxCount { all.removeFirst(all.count - Self.maxCount) }
  }

  func followed(by later: ShownIDs) -> ShownIDs { ShownIDs(digests + later.digests) }

  func dropping(last count: Int) -> ShownIDs { ShownIDs(digests.dropLast(count)) }

  /// The same in every process; the chance of a collision among ten thousand IDs is 1 in 10¹¹.
  static func digest(of id: some RecordID) -> UInt64 { id.description.fnv1a }

  package static func == (left: ShownIDs, right: ShownIDs) -> Bool { left.digests == right.digests }

  package func hash(into hasher: inout Hasher) { hasher.combine(digests) }
}

extension DataSource {
  /// Leaves out records already shown, which shift when others are added or deleted; they count as
  /// hidden, so pagination continues until the page is full.
  package func excluding(_ ids: ShownIDs) -> some DataSource<Item> {
    ExcludingShown(base: self, digests: Set(ids.digests))
  }
}

private struct ExcludingShown<Base: DataSource>: Decorator {
  let base: Base
  let digests: Set<UInt64>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    let count = page.records.count
    page.records.removeAll { digests.contains(ShownIDs.digest(of: $0.id)) }
    page.hidden += count - page.records.count
    return page
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }

  var label: String { "excluding(\(digests.count))" }
}
