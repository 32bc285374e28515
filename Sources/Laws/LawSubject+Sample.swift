import AggregatorKit

extension LawSubject {
  /// A page of the list, and the long forms of one or two records.
  func sampleRecords() async throws(SourceError) -> [Item] {
    var records = try await source.page(PageRequest(limit: 20)).records
    for id in [known, records.first?.id].compactMap(\.self) {
      if let item = try await self.item(id) { records.append(item) }
    }
    return records
  }

  /// The long form of a record; `nil` if it cannot be looked up, or there is none.
  ///
  /// Whether there should be one is the business of a law of its own.
  func item(_ id: Item.ID) async throws(SourceError) -> Item? {
    do throws(SourceError) { return try await source.item(id).item } catch {
      guard error.code == .unsupported || error.code == .notFound else { throw error }
      return nil
    }
  }
}
