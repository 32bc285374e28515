public import AggregatorKit
import Synchronization

/// A source that answers as a test says, and remembers what it was asked.
///
/// ```swift
/// let source = ScriptedSource<Hero>(pages: [.failure(SourceError(.timedOut, "slow")), .success(page)])
/// _ = try await source.retry(clock: clock).page(PageRequest())
/// #expect(source.requests.count == 2)
/// ```
public final class ScriptedSource<Item: Record>: DataSource, CustomStringConvertible {
  /// How a page is answered.
  public typealias Paging = @Sendable (PageRequest) async throws(SourceError) -> Page<Item>

  /// How a record is answered.
  public typealias Finding = @Sendable (Item.ID) async throws(SourceError) -> LookupResult<Item>

  /// Where pages lie ahead.
  public typealias Skipping = @Sendable (Int, PageRequest) -> Cursor?

  private struct Log {
    var requests: [PageRequest] = []
    var ids: [Item.ID] = []
    var mostInFlight = 0
    var inFlight = 0
    var cancellations = 0
  }

  private let gate: Gate?
  private let paging: Paging
  private let finding: Finding
  private let skipping: Skipping
  private let log = Mutex(Log())
  private let started = Counter()
  private let ended = Counter()

  /// A source that answers by closures.
  ///
  /// - Parameters:
  ///   - gate: What holds every call before it is answered; nothing by default.
  ///   - page: How a page is answered.
  ///   - item: How a record is answered; there is none by default.
  ///   - skip: Where pages lie ahead; nowhere by default.
  public init(
    held gate: Gate? = nil, page: @escaping Paging,
    item: @escaping Finding = { id throws(SourceError) in throw .notFound(id, in: "scripted") },
    skip: @escaping Skipping = { _, _ in nil }
  ) {
    self.gate = gate
    paging = page
    finding = item
    skipping = skip
  }

  /// A source that passes everything on to another and remembers it.
  ///
  /// - Parameters:
  ///   - source: Who answers.
  ///   - gate: What holds every call before it is answered; nothing by default.
  public convenience init(over source: some DataSource<Item>, held gate: Gate? = nil) {
    self.init(
      held: gate,
      page: { request throws(SourceError) in try await source.page(request) },
      item: { id throws(SourceError) in try await source.item(id) },
      skip: { count, request in source.cursor(skipping: count, from: request) })
  }

  /// A source that answers page requests one after the other, whatever they are, and fails with
  /// `malformed` when the script has come to its end.
  ///
  /// - Parameters:
  ///   - pages: The answers.
  ///   - gate: What holds every call before it is answered; nothing by default.
  public convenience init(pages: [Result<Page<Item>, SourceError>], held gate: Gate? = nil) {
    let script = Script(pages)
    self.init(held: gate, page: { _ throws(SourceError) in try script.next() })
  }

  /// The page requests, in the order of their coming.
  public var requests: [PageRequest] { log.withLock { $0.requests } }

  /// The ids that were asked for, in the order of their coming.
  public var ids: [Item.ID] { log.withLock { $0.ids } }

  /// How many calls have been made, of either kind.
  public var callCount: Int { started.value }

  /// How many calls are under way now.
  public var inFlight: Int { log.withLock { $0.inFlight } }

  /// The most calls that were ever under way at once.
  public var mostInFlight: Int { log.withLock { $0.mostInFlight } }

  /// How many calls ended because they were cancelled.
  public var cancellations: Int { log.withLock { $0.cancellations } }

  /// Waits until so many calls have been made.
  ///
  /// - Parameter count: How many, 1 or more.
  public func calls(atLeast count: Int) async { await started.reaches(count) }

  /// Waits until so many calls have ended.
  ///
  /// - Parameter count: How many, 1 or more.
  public func ends(atLeast count: Int) async { await ended.reaches(count) }

  /// Answers by the script.
  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    log.withLock { $0.requests.append(request) }
    return try await counted { () async throws(SourceError) in
      try await gate?.pass()
      return try await paging(request)
    }
  }

  /// Answers by the script.
  public func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> {
    log.withLock { $0.ids.append(id) }
    return try await counted { () async throws(SourceError) in
      try await gate?.pass()
      return try await finding(id)
    }
  }

  /// Answers by the script.
  public func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    skipping(count, request)
  }

  /// `scripted`.
  public var description: String { "scripted" }

  private func counted<Answer>(
    _ call: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    log.withLock { log in
      log.inFlight += 1
      log.mostInFlight = max(log.mostInFlight, log.inFlight)
    }
    started.add()
    let result: Result<Answer, SourceError>
    do { result = .success(try await call()) } catch { result = .failure(error) }
    log.withLock { log in
      log.inFlight -= 1
      if case .failure(.cancelled) = result { log.cancellations += 1 }
    }
    ended.add()
    return try result.get()
  }
}

/// Answers that are given one after the other.
private final class Script<Item: Record>: Sendable {
  private let answers: Mutex<ArraySlice<Result<Page<Item>, SourceError>>>

  init(_ answers: [Result<Page<Item>, SourceError>]) { self.answers = Mutex(answers[...]) }

  func next() throws(SourceError) -> Page<Item> {
    guard let answer = answers.withLock({ $0.popFirst() }) else {
      throw SourceError(.malformed, "the script has come to its end")
    }
    return try answer.get()
  }
}
