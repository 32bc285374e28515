/// Who is told what a source does.
///
/// ``DataSource/observed(by:as:)`` makes an observer current for everything underneath, so retries,
/// waits and HTTP requests report to it without being handed one.
public struct Observer: Sendable {
  /// Tells nobody.
  public static let silent = Observer { _ in }

  /// The observer of the call that is running.
  @TaskLocal package static var current = Observer.silent

  private let report: @Sendable (Event) -> Void

  /// An observer.
  ///
  /// - Parameter report: What to do with each event. It is called from many tasks at once, so it must
  ///   be quick and must not wait.
  public init(_ report: @escaping @Sendable (Event) -> Void) { self.report = report }

  /// Tells an event.
  ///
  /// - Parameter event: What happened.
  public func callAsFunction(_ event: Event) { report(event) }
}

/// Something that a source did.
///
/// It holds no secret. New cases may come: switch with a `default`.
public enum Event: Sendable {
  /// A page or a record was asked for, in words: `list`, `search`, `show`.
  case asked(source: String, call: String)
  /// The call was answered.
  case answered(source: String, call: String, provenance: Provenance, count: Int)
  /// The call failed.
  case failed(source: String, call: String, error: SourceError)
  /// A wait begins, and why.
  case waiting(Duration, reason: String)
  /// A call that failed is about to be made again.
  case retrying(SourceError)
  /// A second source is asked because the first one failed.
  case fellBack(SourceError)
  /// An HTTP request went out; the address has its secrets removed.
  case sent(method: String, address: String)
  /// An HTTP reply came in.
  case received(status: Int, bytes: Int, after: Duration, address: String)
  /// An HTTP request failed.
  case lost(SourceError, after: Duration, address: String)
}
