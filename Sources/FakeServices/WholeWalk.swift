package import AggregatorKit

extension DataSource {
  /// The pages, the new IDs and the end of a whole pagination.
  package func wholeWalk(
    matching text: String? = nil, size: Int, upTo bound: PaginationBound = PaginationBound(),
    ahead: Int = 0
  ) async throws -> (pages: [Page<Item>], ids: [Item.ID], end: PaginationEnd?) {
    var walk: (pages: [Page<Item>], ids: [Item.ID], end: PaginationEnd?) = ([], [], nil)
    let query = try text.map { try SearchQuery($0) }
    for try await step in pages(matching: query, size: size, upTo: bound, ahead: ahead) {
      walk.pages.append(step.page)
      walk.ids += step.items.map(\.id)
      walk.end = step.end
    }
    return walk
  }
}
