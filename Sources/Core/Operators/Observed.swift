public import AggregatorFoundation

extension DataSource {
  /// Reports every call and its outcome to an observer, and everything below it: waits, retries,
  /// fallbacks, HTTP requests.
  ///
  /// - Parameter name: The source's name in the events.
  public func observed(by observer: Observer, as name: String) -> some DataSource<Item> {
    Observed(base: self, observer: observer, name: name)
  }
}

struct Observed<Base: DataSource>: Decorator {
  let base: Base
  let observer: Observer
  let name: String
  var label: String { "observed()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await observe(CallKind(request).rawValue) {
      ($0.provenance, $0.unchangedCount ?? $0.records.count)
    } _: {
      () async throws(SourceError) in
      try await base.page(request)
    }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await observe("show \(id)") {
      ($0.provenance, 1)
    } _: {
      () async throws(SourceError) in
      try await base.item(id, cachePolicy: cachePolicy)
    }
  }

  private func observe<Answer: Sendable>(
    _ call: String, _ summary: (Answer) -> (Provenance, Int),
    _ body: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let observer = observer.opened(for: name, call)
    observer(.asked(source: name, call: call))
    let result = await Observer.$current.withValue(observer) { await Result(catching: body) }
    switch result {
    case .success(let answer):
      let (provenance, count) = summary(answer)
      observer(.answered(source: name, call: call, provenance: provenance, count: count))
    case .failure(let error):
      observer(.failed(source: name, call: call, error: error))
    }
    return try result.get()
  }
}

/// Receives the events of a source.
///
/// ``DataSource/observed(by:as:)`` sets the current observer for every call below it, so retries, waits
/// and HTTP requests report to it without receiving it as a parameter.
public struct Observer: Sendable {
  public static let silent = Observer { _ in }

  /// The observer of the running call, to which an operator or a ``DataSource`` reports.
  @TaskLocal public static var current = Observer.silent

  private let report: @Sendable (Event) -> Void
  /// Makes the observer of a call; `nil` if this one observes it, too.
  private var opening: (@Sendable (_ source: String, _ call: String) -> Observer)?

  /// `report` is called from many tasks at once and must not block.
  public init(_ report: @escaping @Sendable (Event) -> Void) { self.report = report }

  /// - Parameter opening: Makes the observer of a call and of all that happens in it.
  package init(
    _ report: @escaping @Sendable (Event) -> Void,
    opening: @escaping @Sendable (_ source: String, _ call: String) -> Observer
  ) {
    self.report = report
    self.opening = opening
  }

  package func opened(for source: String, _ call: String) -> Observer {
    opening?(source, call) ?? self
  }

  public func callAsFunction(_ event: Event) { report(event) }

  /// This observer, after `report` has received each event.
  package func also(_ report: @escaping @Sendable (Event) -> Void) -> Observer {
    also(Observer(report))
  }

  /// This observer, after another one has received each event.
  package func also(_ other: Observer) -> Observer {
    var both = Observer { event in
      other(event)
      self(event)
    }
    if opening != nil || other.opening != nil {
      both.opening = { source, call in
        self.opened(for: source, call).also(other.opened(for: source, call))
      }
    }
    return both
  }
}

/// An event of a source; contains no secrets.
///
/// New cases may be added: switch with a `default`.
public enum Event: Sendable {
  /// A call starts: `list`, `search`, or `show` with the id.
  case asked(source: String, call: String)
  case answered(source: String, call: String, provenance: Provenance, count: Int)
  case failed(source: String, call: String, error: SourceError)
  case waiting(Duration, reason: String)
  /// A failed call is about to be retried.
  case retrying(SourceError)
  /// A call falls back to a second source because the first one failed.
  case fellBack(SourceError)
  /// An HTTP request was sent; secrets are redacted from the address.
  case sent(method: String, address: String)
  case received(status: Int, bytes: Int, after: Duration, address: String)
  /// Records were written to the store, in one transaction.
  case stored(source: String, records: Int, after: Duration)
  /// An HTTP request failed.
  case lost(SourceError, after: Duration, address: String)
}

/// The current date for code without a ``PluginEnvironment``, such as a field that computes an age.
///
/// A program binds it to the ``PluginEnvironment/now`` of its plugins.
public struct Now: Sendable {
  // A struct, because binding a function crashes in a release build of Swift 6.3.1.
  /// The clock of the running task; the system's by default.
  @TaskLocal public static var current = Now { Date() }

  private let read: @Sendable () -> Date

  public init(_ read: @escaping @Sendable () -> Date) { self.read = read }

  public var date: Date { read() }
}
