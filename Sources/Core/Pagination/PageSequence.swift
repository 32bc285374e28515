extension DataSource {
  /// Iterates over the pages.
  ///
  /// The iteration always ends by itself, and its last step has the reason: see ``PaginationEnd``. Records seen before
  /// are left out of ``PaginationStep/items``. An error is thrown after every step before it was delivered.
  ///
  /// ```swift
  /// let bound = PaginationBound(items: 500)
  /// for try await step in heroes.pages(matching: try SearchQuery("spider"), upTo: bound) {
  ///   show(step.items)
  ///   if let end = step.end, end.isWithoutProgress { warn(end.text) }
  /// }
  /// ```
  ///
  /// A page has up to `size` records, 1 or more. Up to `ahead` pages are prefetched, 0 for none; more
  /// than one if pages can be addressed, see ``cursor(skipping:from:)``; none beyond the bound, and none
  /// beyond the reported total of a list that is read from its start.
  public func pages(
    matching query: SearchQuery? = nil, after cursor: PageCursor? = nil, size: Int = 100,
    upTo bound: PaginationBound = PaginationBound(), ahead: Int = 1
  ) -> PageSequence<Item> {
    pages(
      PaginationState(matching: query, after: cursor, size: size, bound: bound), ahead: ahead)
  }

  /// Iterates over the pages from a state.
  package func pages(_ state: PaginationState<Item>, ahead: Int) -> PageSequence<Item> {
    PageSequence(source: self, ahead: max(ahead, 0), state: state)
  }

  /// Iterates over the records, each once.
  ///
  /// ```swift
  /// for try await hero in heroes.items(matching: "spider") { print(hero.name) }
  /// ```
  ///
  /// If the pages make no progress, the iteration ends with the error `noProgress`; see
  /// ``PaginationEnd/isWithoutProgress``. An endless source needs a bound.
  ///
  /// Blank `text` is the error `invalidRequest`. The default bound is 10 000 pages.
  public func items(
    matching text: String? = nil, size: Int = 100,
    upTo bound: PaginationBound = PaginationBound(pages: 10_000),
    ahead: Int = 1, cachePolicy: CachePolicy = .normal
  ) -> some AsyncSequence<Item, SourceError> {
    RecordSequence { () throws(SourceError) in
      let query = try text.map { text throws(SourceError) in try SearchQuery(text) }
      let state = PaginationState<Item>(
        matching: query, after: nil, size: size, bound: bound, cachePolicy: cachePolicy)
      return pages(state, ahead: ahead).makeAsyncIterator()
    }
  }
}

/// The pages of a source; see ``DataSource/pages(matching:after:size:upTo:ahead:)``.
public struct PageSequence<Item: SourceRecord>: AsyncSequence, Sendable {
  public typealias Element = PaginationStep<Item>

  let source: any DataSource<Item>
  let ahead: Int
  let state: PaginationState<Item>

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let prefetcher: Prefetcher<Item>

    package var isNextReady: Bool { prefetcher.isNextReady }

    /// Returns when the prefetch of the next page has ended, also by a failure; `nil` if there is none.
    ///
    /// Cancelling the task cancels the prefetch.
    package var nextArrival: (@Sendable () async -> Void)? { prefetcher.nextArrival }

    /// The list of a copy of the source, without the records that were delivered; `nil` if no more are wanted.
    package func continued(in copy: any DataSource<Item>) -> Iterator? {
      prefetcher.state.continuedInCopy().map {
        Iterator(prefetcher: Prefetcher(source: copy, ahead: 0, state: $0))
      }
    }

    /// The next page; `nil` after the last, and after an error.
    public func next() async throws(SourceError) -> PaginationStep<Item>? {
      try await prefetcher.next()
    }

    /// The next page, without leaving the caller's actor.
    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(SourceError) -> PaginationStep<Item>? { try await prefetcher.next() }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(prefetcher: Prefetcher(source: source, ahead: ahead, state: state))
  }
}

@available(*, unavailable)
extension PageSequence.Iterator: Sendable {}

private struct RecordSequence<Item: SourceRecord>: AsyncSequence, Sendable {
  typealias Element = Item

  let pages: @Sendable () throws(SourceError) -> PageSequence<Item>.Iterator

  /// A class, because a copy of an iterator would copy the pending records.
  final class Iterator: AsyncIteratorProtocol {
    private let sequence: RecordSequence
    private var pages: PageSequence<Item>.Iterator?
    private var end: PaginationEnd?
    private var pending: ArraySlice<Item> = []

    init(_ sequence: RecordSequence) { self.sequence = sequence }

    func next() async throws(SourceError) -> Item? { try await advance() }

    func next(isolation actor: isolated (any Actor)?) async throws(SourceError) -> Item? {
      try await advance()
    }

    private func advance() async throws(SourceError) -> Item? {
      while pending.isEmpty {
        if pages == nil { pages = try sequence.pages() }
        guard let step = try await pages?.next() else {
          guard let end, end.isWithoutProgress else { return nil }
          self.end = nil
          throw .noProgress(end)
        }
        pending = step.items[...]
        end = step.end
      }
      return pending.removeFirst()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(self) }
}
