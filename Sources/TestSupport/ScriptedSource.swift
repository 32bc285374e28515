public import AggregatorKit

/// A source with scripted answers that records its calls.
///
/// ```swift
/// let source = ScriptedSource<Hero>(pages: [.failure(SourceError(.timedOut, "slow")), .success(page)])
/// _ = try await source.retry(clock: clock).page(PageRequest())
/// #expect(source.requests.count == 2)
/// ```
public final class ScriptedSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  public typealias PageHandler = @Sendable (PageRequest) async throws(SourceError) -> Page<Item>

  public typealias LookupHandler =
    @Sendable (Item.ID) async throws(SourceError) -> LookupResult<Item>

  public typealias CursorHandler = @Sendable (Int, PageRequest) -> PageCursor?

  private struct Log {
    var requests: [PageRequest] = []
    var ids: [Item.ID] = []
    var started = 0
    var ended = 0
    var mostInFlight = 0
    var cancellations = 0

    var inFlight: Int { started - ended }
  }

  private let gate: Gate?
  private let pageHandler: PageHandler
  private let lookupHandler: LookupHandler
  private let cursorHandler: CursorHandler
  private let log = Watched(Log())

  /// By default every lookup fails with `notFound`, and no cursor is skipped ahead; `gate` blocks
  /// every call before it is answered.
  public init(
    held gate: Gate? = nil, page: @escaping PageHandler,
    item: @escaping LookupHandler = { id throws(SourceError) in throw .notFound(id, in: "scripted")
    },
    skip: @escaping CursorHandler = { _, _ in nil }
  ) {
    self.gate = gate
    pageHandler = page
    lookupHandler = item
    cursorHandler = skip
  }

  public convenience init(over source: some DataSource<Item>, held gate: Gate? = nil) {
    self.init(
      held: gate,
      page: { request throws(SourceError) in try await source.page(request) },
      item: { id throws(SourceError) in try await source.item(id) },
      skip: { count, request in source.cursor(skipping: count, from: request) })
  }

  /// Answers page requests with `pages` in order, then fails with `malformed`.
  public convenience init(pages: [Result<Page<Item>, SourceError>], held gate: Gate? = nil) {
    let script = Script(pages)
    self.init(
      held: gate,
      page: { _ throws(SourceError) in
        guard let page = script.next() else {
          throw SourceError(.malformed, "no scripted answer left")
        }
        return try page.get()
      })
  }

  public var requests: [PageRequest] { log.state.requests }

  public var ids: [Item.ID] { log.state.ids }

  /// The number of calls so far, of either kind.
  public var callCount: Int { log.state.started }

  public var inFlight: Int { log.state.inFlight }

  public var mostInFlight: Int { log.state.mostInFlight }

  /// The number of calls that ended because they were cancelled.
  public var cancellations: Int { log.state.cancellations }

  /// Waits until at least `count` calls have started; see ``WaitLimit``.
  public func calls(atLeast count: Int) async {
    await log.wait {
      $0.started >= count
    } orReport: {
      "calls started: \($0.started) of \(count)"
    }
  }

  /// Waits until at least `count` calls have ended; see ``WaitLimit``.
  public func ends(atLeast count: Int) async {
    await log.wait {
      $0.ended >= count
    } orReport: {
      "calls ended: \($0.ended) of \(count)"
    }
  }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    log.change { $0.requests.append(request) }
    return try await counted { () async throws(SourceError) in try await pageHandler(request) }
  }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    log.change { $0.ids.append(id) }
    return try await counted { () async throws(SourceError) in try await lookupHandler(id) }
  }

  public func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    cursorHandler(count, request)
  }

  public var description: String { "scripted" }

  private func counted<Answer>(
    _ call: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    log.change { log in
      log.started += 1
      log.mostInFlight = max(log.mostInFlight, log.inFlight)
    }
    let result = await Result { () async throws(SourceError) in
      try await gate?.pass()
      return try await call()
    }
    log.change { log in
      log.ended += 1
      if case .failure(.cancelled) = result { log.cancellations += 1 }
    }
    return try result.get()
  }
}
