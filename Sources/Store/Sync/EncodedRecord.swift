import AggregatorCore
import Foundation

/// A record with its JSON, in the one form that a store compares.
struct EncodedRecord<Item: Record>: Record {
  let item: Item
  let json: Data

  var id: Item.ID { item.id }

  init(_ item: Item) throws {
    self.item = item
    json = try CanonicalJSON.bytes(of: item)
  }

  init(from decoder: any Decoder) throws { try self.init(Item(from: decoder)) }

  func encode(to encoder: any Encoder) throws { try item.encode(to: encoder) }
}

/// Writes records down where they are fetched, beside the fetching and the storing of other pages.
struct EncodingSource<Item: Record>: DataSource {
  let base: any DataSource<Item>
  let recordStore: RecordStore<Item>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<EncodedRecord<Item>> {
    let page = try await base.page(request)
    return Page(
      try recordStore.written(page.records), next: page.next, total: page.total,
      provenance: page.provenance, unreadable: page.unreadable, hidden: page.hidden,
      warnings: page.warnings)
  }

  func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<EncodedRecord<Item>> {
    let found = try await base.item(id)
    return LookupResult(
      try recordStore.written([found.item])[0], provenance: found.provenance,
      warnings: found.warnings)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    base.cursor(skipping: count, from: request)
  }
}
