import AggregatorKit

/// The responses of a service without faults: all records that may appear in a scenario.
struct Baseline<Item: SourceRecord>: Sendable {
  static var size: Int { 10 }

  /// The limit for reading the list, far beyond that of a scenario.
  private static var bound: PaginationBound { PaginationBound(items: 5000) }

  private(set) var list: [Item] = []

  /// The end of the list: `exhausted`, unless it goes on beyond the bound, or stalls.
  private(set) var end: PaginationEnd?

  /// The full form of a record; `nil` if lookups are unsupported, or fail, which the laws report.
  private(set) var item: Item?

  let bundle: Set<Item>

  private var forms: [Item.ID: Set<Item>] = [:]

  /// `query` is `nil` if the service has no search; throws errors of the service.
  init(
    _ remote: any DataSource<Item>, bundle: any DataSource<Item>, query: SearchQuery?, size: Int
  ) async throws(SourceError) {
    var bundled: Set<Item> = []
    do throws(SourceError) {
      for try await step in bundle.pages(upTo: PaginationBound(pages: 100), ahead: 0) {
        bundled.formUnion(step.items)
      }
    } catch .nothingCached {
      // A source without bundled data.
    }
    self.bundle = bundled
    for try await step in remote.pages(size: size, upTo: Self.bound, ahead: 0) {
      guard step.page.unreadable.count == 0 else {
        throw SourceError(
          .malformed, "unreadable rows: \(step.page.unreadable.firstReason ?? "no reason")")
      }
      list += step.items
      end = step.end
      add(step.page.records)
    }
    // Not the first record, which the scenario deletes.
    guard let id = list.last?.id else {
      throw SourceError(.notFound, "the service has no records")
    }
    do throws(SourceError) {
      let item = try await remote.item(id).item
      add([item])
      self.item = item
    } catch {
      guard error.code == .unsupported || error.code == .notFound else { throw error }
    }
    guard let query else { return }
    for try await step in remote.pages(
      matching: query, size: Self.size, upTo: PaginationBound(pages: 3), ahead: 0)
    {
      add(step.page.records)
    }
  }

  /// True if the service returned this record in a list, in a search or alone, or a merge of those.
  func contains(_ record: Item) -> Bool {
    guard let forms = forms[record.id] else { return false }
    return forms.contains(record)
      || forms.contains { form in forms.contains { form.merged(over: $0) == record } }
  }

  func containsID(_ id: Item.ID) -> Bool { forms[id] != nil }

  private mutating func add(_ records: [Item]) {
    for record in records { forms[record.id, default: []].insert(record) }
  }
}
