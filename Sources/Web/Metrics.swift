package import AggregatorKit
import Synchronization

/// The counters of a server since its start, in the text format of Prometheus.
///
/// A label value that comes from a client would add a series for each of its values: routes are patterns such as
/// `/api/v1/{source}`, and unusual methods are counted as `other`.
package final class Metrics: Sendable {
  package struct Request: Hashable {
    package let method: String
    let route: String
    package let status: Int
  }

  enum Response: Hashable {
    case status(Int)
    case failed(SourceError.Code)
  }

  package struct Source {
    var answers: [Provenance.Origin: Int] = [:]
    var responses: [Response: Int] = [:]
    package var failures: [SourceError.Code: Int] = [:]
    package var retries = 0
    package var waited = Duration.zero
    var isCircuitOpen = false
  }

  private struct State {
    var requests: [Request: Int] = [:]
    var durations: [String: DurationHistogram] = [:]
    var sources: [String: Source] = [:]
  }

  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private static let methods: Set = ["DELETE", "GET", "HEAD", "OPTIONS", "POST"]

  private let state = Mutex(State())

  package init() {}

  /// Counts a request; `route` is the pattern of its path, the same for all records.
  package func count(_ method: String, _ route: String, status: Int, after duration: Duration) {
    let method = Self.methods.contains(method) ? method : "other"
    state.withLock { state in
      state.requests[Request(method: method, route: route, status: status), default: 0] += 1
      state.durations[route, default: DurationHistogram()].add(duration)
    }
  }

  /// Returns an observer that counts the events of a source.
  ///
  /// Most events do not name their source, so each source has its own observer.
  package func observer(of source: String) -> Observer {
    state.withLock { $0.sources[source] = $0.sources[source] ?? Source() }
    return Observer { [self] event in
      state.withLock { $0.sources[source, default: Source()].count(event, of: source) }
    }
  }

  package var text: String {
    let state = state.withLock(\.self)
    var text = MetricsText()
    text.add(state.requests, durations: state.durations)
    text.add(state.sources)
    return text.text
  }
}

extension Metrics.Source {
  package mutating func count(_ event: Event, of source: String) {
    switch event {
    // Images report their answers, too, under a name of their own.
    case .answered(source, _, let provenance, _):
      answers[provenance.origin, default: 0] += 1
      if let reason = provenance.reason { note(reason) }
    case .failed(source, _, let error):
      failures[error.code, default: 0] += 1
      note(error)
    case .fellBack(let error): note(error)
    case .retrying: retries += 1
    case .waiting(let duration, _): waited += duration
    case .received(let status, _, _, _):
      responses[.status(status), default: 0] += 1
      // As for the circuit breaker, a server error does not show that the service works.
      if status < 500 { isCircuitOpen = false }
    case .lost(let error, _, _): responses[.failed(error.code), default: 0] += 1
    default: break
    }
  }

  /// Calls are refused with this code while the circuit is open.
  private mutating func note(_ error: SourceError) {
    if error.code == .circuitOpen { isCircuitOpen = true }
  }
}
