public import AggregatorKit
import Synchronization

/// Hears what a source sends and reports while a law is checked.
public final class LawProbe: Sendable {
  private struct State {
    var requestCount = 0
    var listener: Observer?
  }

  private let state = Mutex(State())

  /// A probe that hears nothing yet.
  public init() {}

  /// An environment whose requests and events this probe hears.
  ///
  /// - Parameter environment: The environment. Its own transport and observer are used as before.
  /// - Returns: What to build the source in.
  public func listening(to environment: PluginEnvironment) -> PluginEnvironment {
    var environment = environment
    environment.transport = ProbedTransport(base: environment.transport, probe: self)
    environment.observer = Observer { [observer = environment.observer] event in
      self.hear(event)
      observer(event)
    }
    return environment
  }

  /// How many HTTP requests have been sent.
  package var requestCount: Int { state.withLock(\.requestCount) }

  /// Tells `listener` what happens while `body` runs.
  package func tell<Answer>(_ listener: Observer, during body: () async -> Answer) async -> Answer {
    state.withLock { $0.listener = listener }
    defer { state.withLock { $0.listener = nil } }
    return await body()
  }

  fileprivate func hear(_ event: Event) { state.withLock(\.listener)?(event) }

  fileprivate func send(_ request: HTTPRequest) {
    state.withLock { $0.requestCount += 1 }
    hear(.sent(method: request.method.rawValue, address: request.endpoint))
  }
}

/// A transport that says what it sends, once a request whatever the redirects.
private struct ProbedTransport: Transport {
  let base: any Transport
  let probe: LawProbe

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    probe.send(request)
    return try await base.send(request)
  }
}
