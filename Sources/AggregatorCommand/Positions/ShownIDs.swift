import AggregatorKit

/// The ids that a walk has shown, as digests of 8 bytes: the newest ten thousand, the newest last.
struct ShownIDs: Hashable, Sendable {
  /// How many are remembered.
  static let most = 10_000

  /// The digests, in the order of showing.
  var digests: ArraySlice<UInt64> { all.suffix(Self.most) }

  /// With some older ones, so that they need not be moved every time.
  private var all: [UInt64] = []

  /// Digests read from a file.
  ///
  /// - Parameter digests: The digests, in the order of showing.
  init(_ digests: some Sequence<UInt64> = []) { all = Array(digests) }

  /// Adds ids that were shown later.
  mutating func add(_ ids: some Sequence<some LosslessStringConvertible>) {
    all += ids.lazy.map { Self.digest(of: $0) }
    if all.count > 2 * Self.most { all.removeFirst(all.count - Self.most) }
  }

  /// These and those of a later page.
  func followed(by later: ShownIDs) -> ShownIDs { ShownIDs(digests + later.digests) }

  /// These without the last ones.
  func dropping(last count: Int) -> ShownIDs { ShownIDs(digests.dropLast(count)) }

  /// The same in every process; two ids in ten thousand share one by a chance of 1 to 10¹¹.
  static func digest(of id: some LosslessStringConvertible) -> UInt64 { id.description.fnv1a }

  /// Whether both remember the same.
  static func == (left: ShownIDs, right: ShownIDs) -> Bool { left.digests == right.digests }

  /// Hashes what is remembered.
  func hash(into hasher: inout Hasher) { hasher.combine(digests) }
}

extension DataSource {
  /// Leaves out records that were shown before.
  ///
  /// Rows shift between two pages when others are added or deleted meanwhile. What is left out counts as
  /// hidden, so a walk goes on until its page is full.
  ///
  /// - Parameter ids: What was shown.
  /// - Returns: A source whose pages may be shorter.
  func leavingOut(_ ids: ShownIDs) -> some DataSource<Item> {
    ExcludingShown(base: self, digests: Set(ids.digests))
  }
}

private struct ExcludingShown<Base: DataSource>: DataSource {
  let base: Base
  let digests: Set<UInt64>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    let count = page.records.count
    page.records.removeAll { digests.contains(ShownIDs.digest(of: $0.id)) }
    page.hidden += count - page.records.count
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    base.cursor(skipping: count, from: request)
  }
}
