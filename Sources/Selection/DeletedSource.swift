public import AggregatorCore
import AggregatorFoundation
public import AggregatorStore
import AggregatorText

extension RecordStore {
  /// The deleted records, in the order of their IDs.
  ///
  /// A deletion may outlive its record, or precede it: then the record is looked up in `bundled`. A warning
  /// names the IDs that have none there either.
  public func deleted(or bundled: any DataSource<Item>) -> some DataSource<Item> {
    DeletedSource(recordStore: self, bundled: bundled)
  }
}

private struct DeletedSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  let recordStore: RecordStore<Item>
  let bundled: any DataSource<Item>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    guard request.query == nil else {
      throw SourceError(.unsupported, "deleted records cannot be searched")
    }
    let seal = CursorSeal(description, for: nil)
    let start = try seal.open(request.cursor, as: String.self)
    // One more than requested shows whether there are more.
    var deletions = try await recordStore.store.deletions(
      of: recordStore.source, after: start, limit: min(request.limit, .max - 1) + 1)
    var next: PageCursor?
    if deletions.count > request.limit {
      deletions.removeLast()
      next = try deletions.last.map { last throws(SourceError) in try seal.close(last.id) }
    }
    let stored = deletions.compactMap(\.record)
    var page = Page<Item>(
      [], next: next, total: try await recordStore.store.status(of: recordStore.source).deleted,
      provenance: Provenance(.cached, fetchedAt: stored.map(\.savedAt).min()))
    var bundledIDs: [String] = []
    var missing: [String] = []
    for deletion in deletions {
      if let record = deletion.record {
        let (records, unreadable) = recordStore.decoded([record])
        page.records += records
        page.unreadable = page.unreadable + unreadable
      } else if let id = Item.ID(deletion.id), let item = try? await bundled.item(id).item {
        page.records.append(item)
        bundledIDs.append(deletion.id)
      } else {
        page.hidden += 1
        missing.append(deletion.id)
      }
    }
    if !bundledIDs.isEmpty {
      if stored.isEmpty {
        page.provenance = Provenance(.bundled)
      } else {
        page.warnings.append(Warning(.bundled, "bundled sample data for \(bundledIDs.excerpt)"))
      }
    }
    if !missing.isEmpty {
      page.warnings.append(
        Warning(.notCached, "deleted, but not cached: \(missing.excerpt)"))
    }
    return page
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    let isDeleted = try await !recordStore.store.deleted(
      among: [id.description], of: recordStore.source
    ).isEmpty
    guard isDeleted else { throw .notFound(id, in: description) }
    if let stored = try await recordStore.item(id) { return stored.found }
    return try await bundled.item(id)
  }

  var description: String { "\(recordStore.source).deleted" }
}

extension [String] {
  /// The first IDs, as in a message.
  fileprivate var excerpt: String {
    let shown = prefix(5).map { $0.oneLine(atMost: 80) }.joined(separator: ", ")
    return count > 5 ? "\(shown) and \(count - 5) more" : shown
  }
}
