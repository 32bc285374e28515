extension DataSource {
  /// Every record, each once.
  ///
  /// ```swift
  /// for try await hero in heroes.items(matching: "spider") { print(hero.name) }
  /// ```
  ///
  /// A source that leads the walk nowhere ends it with the error `stalled`, after all that it gave; see
  /// ``PaginationEnd/isStall``. An endless source needs a bound.
  ///
  /// - Parameters:
  ///   - text: Words to look for; `nil` gives everything. Blank text is the error `badUsage`.
  ///   - size: How many records to ask for at a time, 1 or more.
  ///   - bound: How far to go; 10 000 pages by default.
  ///   - ahead: How many pages to ask for before they are needed.
  /// - Returns: A sequence of records, which starts anew for every iterator.
  public func items(
    matching text: String? = nil, size: Int = 100,
    upTo bound: PaginationBound = PaginationBound(pages: 10_000),
    ahead: Int = 1
  ) -> some AsyncSequence<Item, SourceError> {
    RecordSequence(source: self, text: text, size: size, bound: bound, ahead: ahead)
  }
}

private struct RecordSequence<Item: Record>: AsyncSequence, Sendable {
  typealias Element = Item

  let source: any DataSource<Item>
  let text: String?
  let size: Int
  let bound: PaginationBound
  let ahead: Int

  /// In a class, because a copy of an iterator would copy the records still to be given.
  final class Iterator: AsyncIteratorProtocol {
    private let items: RecordSequence
    private var walk: PageSequence<Item>.Iterator?
    private var end: PaginationEnd?
    private var waiting: ArraySlice<Item> = []

    init(_ items: RecordSequence) { self.items = items }

    func next() async throws(SourceError) -> Item? { try await advance() }

    func next(isolation actor: isolated (any Actor)?) async throws(SourceError) -> Item? {
      try await advance()
    }

    private func advance() async throws(SourceError) -> Item? {
      while waiting.isEmpty {
        if walk == nil { walk = try items.walk() }
        guard let step = try await walk?.next() else {
          guard let end, end.isStall else { return nil }
          self.end = nil
          throw .stalled(end)
        }
        waiting = step.items[...]
        end = step.end
      }
      return waiting.removeFirst()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(self) }

  private func walk() throws(SourceError) -> PageSequence<Item>.Iterator {
    let query = try text.map { text throws(SourceError) in try Query(text) }
    return source.pages(matching: query, size: size, upTo: bound, ahead: ahead).makeAsyncIterator()
  }
}
