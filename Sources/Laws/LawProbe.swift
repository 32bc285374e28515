public import AggregatorKit
import Synchronization

/// Observes the requests and events of a source while a law is checked.
public final class LawProbe: Sendable {
  private struct State {
    var requestCount = 0
    var listener: Observer?
  }

  private let state = Mutex(State())

  public init() {}

  /// Returns the environment to create the source in; its transport and observer still work.
  public func listening(to environment: PluginEnvironment) -> PluginEnvironment {
    var environment = environment
    environment.transport = ProbedTransport(base: environment.transport, probe: self)
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
private struct ProbedTransport: Transport {
  let base: any Transport
  let probe: LawProbe

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    probe.send(request)
    return try await base.send(request)
  }
}
