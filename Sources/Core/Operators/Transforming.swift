extension DataSource {
  /// Converts every record.
  ///
  /// The IDs stay the same. Searches look in the records of this source.
  public func map<NewItem: SourceRecord>(
    _ transform: @escaping @Sendable (Item) -> NewItem
  ) -> some DataSource<NewItem> where NewItem.ID == Item.ID {
    Mapped(base: self, transform: transform)
  }

  /// Leaves out records.
  ///
  /// Pages may be shorter then, by ``Page/hidden`` records, and their total is unknown unless one page has all
  /// records. A record that is left out fails with `notFound`.
  ///
  /// - Parameters:
  ///   - name: The source's name, for messages.
  ///   - isIncluded: True for records to keep.
  public func filter(
    as name: String, _ isIncluded: @escaping @Sendable (Item) -> Bool
  ) -> some DataSource<Item> {
    Filtered(base: self, name: name, isIncluded: isIncluded)
  }
}

private struct Mapped<Base: DataSource, Item: SourceRecord>: Decorator
where Item.ID == Base.Item.ID {
  let base: Base
  let transform: @Sendable (Base.Item) -> Item
  var label: String { "map()" }

  @concurrent func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let page = try await base.page(request)
    return page.replacing(page.records.map(transform))
  }

  @concurrent func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    let found = try await base.item(id, cachePolicy: cachePolicy)
    return found.replacing(transform(found.item))
  }
}

private struct Filtered<Base: DataSource>: Decorator {
  let base: Base
  let name: String
  let isIncluded: @Sendable (Base.Item) -> Bool
  var label: String { "filter(as: \(name))" }

  @concurrent func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    let count = page.records.count
    page.changeMarks = zip(page.changeMarks, page.records).filter { isIncluded($0.1) }.map(\.0)
    page.records.removeAll { !isIncluded($0) }
    let hidden = count - page.records.count
    page.hidden += hidden
    let isWhole = request.cursor == nil && page.next == nil
    page.total = isWhole ? page.total.map { $0 - hidden } : nil
    return page
  }

  @concurrent func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    let found = try await base.item(id, cachePolicy: cachePolicy)
    guard isIncluded(found.item) else { throw .notFound(id, in: name) }
    return found
  }
}

extension Page {
  /// This page with its records in another form.
  package func replacing<NewItem: SourceRecord>(_ records: [NewItem]) -> Page<NewItem> {
    var page = Page<NewItem>(
      records, next: next, total: total, provenance: provenance, unreadable: unreadable,
      hidden: hidden, warnings: warnings)
    (page.excludesDeleted, page.isShortened) = (excludesDeleted, isShortened)
    if records.count == changeMarks.count { page.changeMarks = changeMarks }
    page.schema = schema
    (page.digest, page.unchangedCount) = (digest, unchangedCount)
    return page
  }
}

extension LookupResult {
  /// This result with its record in another form.
  package func replacing<NewItem: SourceRecord>(_ item: NewItem) -> LookupResult<NewItem> {
    LookupResult<NewItem>(item, provenance: provenance, warnings: warnings)
  }
}
