extension DataSource {
  /// Walks from page to page.
  ///
  /// The walk always ends by itself, and its last step says why: see ``PaginationEnd``. Records that it has
  /// met before are left out of ``PaginationStep/items``. A failure in the middle is thrown, after all that
  /// came before it was delivered.
  ///
  /// ```swift
  /// for try await step in heroes.pages(matching: try Query("spider"), upTo: WalkBound(items: 500)) {
  ///   show(step.items)
  ///   if let end = step.end, end.isStall { warn(end.inWords) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - query: What to look for; `nil` walks through everything.
  ///   - cursor: Where to start; `nil` starts at the beginning.
  ///   - size: How many records to ask for at a time, 1 or more.
  ///   - bound: How far to go.
  ///   - ahead: How many pages to ask for before they are needed; 0 for none. More than one takes
  ///     effect where pages can be addressed, see ``cursor(skipping:from:)``. No page beyond the bound
  ///     is asked for.
  ///   - passed: How many records come before `cursor`, if that is known: then no page is guessed
  ///     beyond the total that the service names.
  ///   - memory: What is remembered to tell what is new.
  /// - Returns: A sequence of steps, which starts anew for every iterator.
  public func pages(
    matching query: Query? = nil, after cursor: Cursor? = nil, size: Int = 100,
    upTo bound: PaginationBound = PaginationBound(), ahead: Int = 1, passing passed: Int? = nil,
    remembering memory: DuplicateDetection = .records
  ) -> PageSequence<Item> {
    PageSequence(
      source: self, ahead: max(ahead, 0),
      state: PaginationState(
        matching: query, after: cursor, passing: passed, size: size, bound: bound,
        remembering: memory))
  }
}

/// The pages of a source, one after another; see `pages(matching:after:size:upTo:ahead:)`.
public struct PageSequence<Item: Record>: AsyncSequence, Sendable {
  /// A page, and whether it is the last.
  public typealias Element = PaginationStep<Item>

  let source: any DataSource<Item>
  let ahead: Int
  let state: PaginationState<Item>

  /// One walk.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let prefetcher: Prefetcher<Item>

    /// Whether the next page has come already, so that ``next()`` need not wait.
    package var isNextHere: Bool { prefetcher.isNextHere }

    /// The next page; `nil` after the last, and after a failure.
    public func next() async throws(SourceError) -> PaginationStep<Item>? {
      try await prefetcher.next()
    }

    /// The next page, without leaving the caller's actor.
    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(SourceError) -> PaginationStep<Item>? { try await prefetcher.next() }
  }

  /// Starts a walk.
  public func makeAsyncIterator() -> Iterator {
    Iterator(prefetcher: Prefetcher(source: source, ahead: ahead, state: state))
  }
}

@available(*, unavailable)
extension PageSequence.Iterator: Sendable {}
