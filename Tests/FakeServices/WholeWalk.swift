public import AggregatorKit

extension DataSource {
  /// What a walk finds, page by page, and why it ended.
  ///
  /// - Parameters:
  ///   - text: What to look for; everything by default.
  ///   - size: How many records are asked for at a time.
  ///   - bound: How far to go; no bound by default.
  /// - Returns: The pages as they came, the ids that were new with each, and the end.
  /// - Throws: What the walk throws.
  public func wholeWalk(
    matching text: String? = nil, size: Int, upTo bound: PaginationBound = PaginationBound(),
    ahead: Int = 0
  ) async throws -> (pages: [Page<Item>], ids: [Item.ID], end: PaginationEnd?) {
    var walk: (pages: [Page<Item>], ids: [Item.ID], end: PaginationEnd?) = ([], [], nil)
    let query = try text.map { try Query($0) }
    for try await step in pages(matching: query, size: size, upTo: bound, ahead: ahead) {
      walk.pages.append(step.page)
      walk.ids += step.items.map(\.id)
      walk.end = step.end
    }
    return walk
  }
}
