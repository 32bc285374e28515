import AggregatorKit

/// What a service says in fair weather: all that may be found in any other.
struct Baseline<Item: Record>: Sendable {
  /// How many records are asked for at a time.
  static var size: Int { 10 }

  /// How much of the list is read.
  ///
  /// Whoever walks stays far from there.
  private static var bound: PaginationBound { PaginationBound(items: 5000, pages: 20) }

  /// The records of the list, in order, as far as they were read.
  private(set) var list: [Item] = []

  /// A record that the service can look up, in its long form; `nil` if it cannot, or has none.
  private(set) var item: Item?

  /// What stands in for the service.
  let bundle: Set<Item>

  private var forms: [Item.ID: Set<Item>] = [:]

  /// Reads a source in fair weather.
  ///
  /// - Parameters:
  ///   - remote: The bare service.
  ///   - bundle: What stands in for it.
  ///   - query: Words that it is searched for, if it has a search.
  ///   - size: How many records the service is asked for at a time.
  /// - Throws: What the service throws.
  init(
    _ remote: any DataSource<Item>, bundle: any DataSource<Item>, query: Query?, size: Int
  ) async throws(SourceError) {
    var bundled: Set<Item> = []
    for try await step in bundle.pages(upTo: PaginationBound(pages: 100), ahead: 0) {
      bundled.formUnion(step.items)
    }
    self.bundle = bundled
    for try await step in remote.pages(size: size, upTo: Self.bound, ahead: 0) {
      guard step.page.unreadable.count == 0 else {
        throw SourceError(
          .malformed, "rows cannot be read: \(step.page.unreadable.firstReason ?? "no reason")")
      }
      list += step.items
      add(step.page.records)
    }
    // Not the first, which is deleted on the way.
    guard let id = list.last?.id else {
      throw SourceError(.notFound, "the service has no record")
    }
    do throws(SourceError) {
      let item = try await remote.item(id).item
      add([item])
      self.item = item
    } catch {
      guard error.code == .unsupported else { throw error }
    }
    guard let query else { return }
    for try await step in remote.pages(
      matching: query, size: Self.size, upTo: PaginationBound(pages: 3), ahead: 0)
    {
      add(step.page.records)
    }
  }

  /// Whether the service says so, in the list, in a search, of the record alone, or in all of them.
  func holds(_ record: Item) -> Bool {
    guard let forms = forms[record.id] else { return false }
    return forms.contains(record)
      || forms.contains { form in forms.contains { form.merged(over: $0) == record } }
  }

  /// Whether the service has something under this id.
  func knows(_ id: Item.ID) -> Bool { forms[id] != nil }

  private mutating func add(_ records: [Item]) {
    for record in records { forms[record.id, default: []].insert(record) }
  }
}
