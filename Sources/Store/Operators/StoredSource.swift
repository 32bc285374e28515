public import AggregatorCore
import Foundation

extension RecordStore {
  /// What is stored of the source, in the order in which it was first seen, without what was deleted or
  /// has vanished.
  ///
  /// Where nothing matches, the first page fails with `nothingCached`, so that a `fallback` asks who
  /// knows more.
  public var records: some DataSource<Item> { StoredSource(recordStore: self) }
}

struct StoredSource<Item: Record>: DataSource, CustomStringConvertible {
  let recordStore: RecordStore<Item>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let seal = CursorSeal(description, for: request.query)
    let start = try seal.open(request.cursor, as: StoredPosition.self)
    let slice = try await recordStore.store.records(
      of: recordStore.source, matching: request.query?.words ?? [], after: start?.position ?? 0,
      limit: request.limit)
    guard start != nil || !slice.records.isEmpty else {
      throw .nothingCached(of: recordStore.source, matching: request.query)
    }
    return try recordStore.page(
      slice, next: slice.hasMore ? slice.records.last.map { StoredPosition($0) } : nil, seal)
  }

  func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> {
    guard let found = try await recordStore.item(id) else {
      throw .notFound(id, in: recordStore.source)
    }
    return LookupResult(
      found.item, provenance: Provenance(.cached, fetchedAt: found.savedAt),
      warnings: found.removedUpstreamAt.map { [.removedUpstream(id, at: $0)] } ?? [])
  }

  var description: String { "\(recordStore.source).stored" }
}

/// A place among the records of a source.
struct StoredPosition: Codable {
  let position: Int64

  init(_ record: StoredRecord) { position = record.position }

  private enum CodingKeys: String, CodingKey { case position = "p" }
}

extension RecordStore {
  /// A page of stored records; its age is that of the oldest.
  func page(
    _ slice: StoredSlice, next: StoredPosition?, _ seal: CursorSeal
  ) throws(SourceError) -> Page<Item> {
    let (items, unreadable) = items(slice.records)
    return Page(
      items, next: try next.map { next throws(SourceError) in try seal.close(next) },
      total: slice.total,
      provenance: Provenance(.cached, fetchedAt: slice.records.map(\.savedAt).min()),
      unreadable: unreadable)
  }
}

extension Warning {
  fileprivate static func removedUpstream(_ id: some LosslessStringConvertible, at date: Date)
    -> Warning
  {
    Warning(
      "vanished",
      "the service no longer had \(id.description.oneLine(atMost: 80)) at \(date.iso8601)")
  }
}

extension SourceError {
  static func nothingCached(of source: String, matching query: Query? = nil) -> SourceError {
    SourceError(
      .nothingCached,
      "no stored \(source)\(query.map { " match '\($0.text.oneLine(atMost: 80))'" } ?? "")")
  }
}
