public import AggregatorKit
import Synchronization

/// Counts the requests of a source, and observes its events, while a law is checked.
public final class RequestCounter: Sendable {
  private struct State {
    var requestCount = 0
    var listener: Observer?
  }

  private let state = Mutex(State())

  public init() {}

  /// Returns the environment to create the source in; its transport and observer still work.
  public func observed(_ environment: PluginEnvironment) -> PluginEnvironment {
    var environment = environment
    environment.transport = CountingTransport(base: environment.transport, counter: self)
    environment.observer = Observer { [observer = environment.observer] event in
      self.observe(event)
      observer(event)
    }
    return environment
  }

  package var requestCount: Int { state.withLock(\.requestCount) }

  package func notify<Answer>(_ listener: Observer, during body: () async -> Answer) async -> Answer
  {
    state.withLock { $0.listener = listener }
    defer { state.withLock { $0.listener = nil } }
    return await body()
  }

  fileprivate func observe(_ event: Event) { state.withLock(\.listener)?(event) }

  fileprivate func send(_ request: HTTPRequest) {
    state.withLock { $0.requestCount += 1 }
    observe(.sent(method: request.method.rawValue, address: request.endpoint))
  }
}

/// Reports each request once, whatever the redirects.
private struct CountingTransport: Transport {
  let base: any Transport
  let counter: RequestCounter

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    counter.send(request)
    return try await base.send(request)
  }
}
