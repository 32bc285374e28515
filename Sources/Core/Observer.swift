public import AggregatorFoundation

/// Receives the events of a source.
///
/// ``DataSource/observed(by:as:)`` sets the current observer for every call below it, so retries, waits
/// and HTTP requests report to it without receiving it as a parameter.
public struct Observer: Sendable {
  public static let silent = Observer { _ in }

  /// The observer of the running call, to which an operator or a ``DataSource`` reports.
  @TaskLocal public static var current = Observer.silent

  private let report: @Sendable (Event) -> Void

  /// `report` is called from many tasks at once and must not block.
  public init(_ report: @escaping @Sendable (Event) -> Void) { self.report = report }

  public func callAsFunction(_ event: Event) { report(event) }

  /// This observer, after `report` has received each event.
  package func also(_ report: @escaping @Sendable (Event) -> Void) -> Observer {
    Observer { event in
      report(event)
      self(event)
    }
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
