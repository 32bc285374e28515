public import AggregatorCore
import AggregatorText

extension DataSource {
  /// Leaves deleted records out of every page, whatever their origin.
  ///
  /// Pages may be shorter then, by ``Page/hidden`` records, and ``Page/total`` is smaller, or unknown if
  /// deleted records may be among the matches of other pages. A deleted record fails with `notFound`. If the
  /// store fails, nothing is left out, and a warning `unusableStore` says so; `busy` and `unusableStore` are thrown.
  public func hidingDeleted(in recordStore: RecordStore<Item>) -> some DataSource<Item> {
    HidingDeleted(base: self, recordStore: recordStore)
  }

  /// Leaves deleted records out of every page and total; of a search, if `searchingLocally`: then the text of a record decides
  /// whether it matches.
  package func hidingDeleted(
    in recordStore: RecordStore<Item>, searchingLocally: Bool
  ) -> some DataSource<Item> {
    HidingDeleted(base: self, recordStore: recordStore, searchesLocally: searchingLocally)
  }
}

struct HidingDeleted<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  /// True if a record matches a search if its text has the words.
  var searchesLocally = false
  var label: String { "hidingDeleted(in: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    guard !page.excludesDeleted else { return page }
    do throws(SourceError) {
      let deleted = try await deleted(among: page.records.map { $0.id })
      let count = page.records.count
      page.records.removeAll { deleted.contains($0.key) }
      let hidden = count - page.records.count
      page.hidden += hidden
      page.isShortened = hidden > 0
      let reported = page.total
      page.total = try await total(of: page, hiding: hidden, for: request)
      page.reportedTotal = reported
    } catch {
      try warn(of: error, among: &page.warnings)
    }
    return page
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    var failure: SourceError?
    do throws(SourceError) {
      guard try await deleted(among: [id]).isEmpty else {
        throw .deleted(id)
      }
    } catch {
      guard error.code != .notFound else { throw error }
      failure = error
    }
    var found = try await base.item(id, cachePolicy: cachePolicy)
    if let failure { try warn(of: failure, among: &found.warnings) }
    return found
  }

  /// The number of matching records without deleted ones; `nil` if it cannot be known.
  private func total(
    of page: Page<Base.Item>, hiding hidden: Int, for request: PageRequest
  ) async throws(SourceError) -> Int? {
    guard let total = page.total else { return nil }
    let status = try await recordStore.store.status(of: recordStore.source)
    guard status.deleted > 0 else { return total }
    if request.query == nil, page.provenance.origin != .bundled {
      return max(total - status.hidden, page.records.count)
    }
    let isWhole = request.cursor == nil && page.next == nil
    if isWhole || hidden == status.deleted { return total - hidden }
    guard searchesLocally, status.deleted <= Self.maxDeletions, let query = request.query,
      page.provenance.origin != .bundled,
      let deleted = try await deletedMatches(of: query)
    else { return nil }
    return max(total - deleted, page.records.count)
  }

  /// The most deletions that are read to count those that match.
  private static var maxDeletions: Int { 1000 }

  /// The number of deleted records that match a search of the service; `nil` if that of a deletion is not known.
  private func deletedMatches(of query: SearchQuery) async throws(SourceError) -> Int? {
    let deletions = try await recordStore.store.deletions(
      of: recordStore.source, after: nil, limit: Self.maxDeletions)
    var count = 0
    for deletion in deletions {
      guard let stored = deletion.record,
        let record = recordStore.decoded([stored]).records.first
      else { return nil }
      let isListed = stored.removedUpstreamAt == nil
      if isListed, recordStore.matches(record, query.words) { count += 1 }
    }
    return count
  }

  private func deleted(among ids: [Base.Item.ID]) async throws(SourceError) -> Set<RecordKey> {
    guard !ids.isEmpty else { return [] }
    return try await recordStore.store.deleted(
      among: ids.map { $0.description }, of: recordStore.source)
  }

  private func warn(
    of error: SourceError, among warnings: inout [Warning]
  ) throws(SourceError) {
    guard ![.cancelled, .busy, .unusableStore].contains(error.code) else { throw error }
    // That nothing is cached has the same reason, and matters less.
    warnings.removeAll { $0 == .storage(error) }
    warnings.append(Warning(Warning.Code(.unusableStore), error.description))
  }
}

extension Warning {
  /// The store failed, and the answer was made without it.
  static func storage(_ error: SourceError) -> Warning {
    Warning(Warning.Code(error.code), error.description)
  }
}

extension SourceError {
  static func deleted(_ id: some RecordID) -> SourceError {
    SourceError(
      .notFound, "record \"\(id.description.oneLine(atMost: 80))\" is deleted",
      remedy: "restore it first", cause: DeletedRecord())
  }
}

/// The cause of `notFound` for a deleted record, as opposed to one that does not exist.
package struct DeletedRecord: Error {}
