package import AggregatorCore
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

  package struct Source {
    var answers: [Provenance.Origin: Int] = [:]
    /// By the status of HTTP, or the code of a failure.
    var responses: [String: Int] = [:]
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

  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

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

  /// Returns an observer that counts the events of a source, which most of them do not name.
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
      responses["\(status)", default: 0] += 1
      // As for the circuit breaker, a server error does not show that the service works.
      if status < 500 { isCircuitOpen = false }
    case .lost(let error, _, _): responses[error.code.description, default: 0] += 1
    default: break
    }
  }

  /// Calls are refused with this code while the circuit is open.
  private mutating func note(_ error: SourceError) {
    if error.code == .circuitOpen { isCircuitOpen = true }
  }
}

struct DurationHistogram: Sendable {
  /// In seconds; the last bucket has no bound.
  static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)

  private(set) var sum = Duration.zero

  mutating func add(_ duration: Duration) {
    let seconds = duration / .seconds(1)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += duration
  }
}

/// A writer of the text format 0.0.4 of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/).
struct MetricsText {
  enum Kind: String { case counter, gauge, histogram }

  typealias Label = (name: String, value: String)

  private(set) var text = ""

  mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
  }

  mutating func add(_ name: String, _ labels: [Label], _ value: some CustomStringConvertible) {
    let labels = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
    text += name
    if !labels.isEmpty { text += "{\(labels.joined(separator: ","))}" }
    text += " \(value)\n"
  }

  mutating func add(_ name: String, _ labels: [Label], _ histogram: DurationHistogram) {
    var total = 0
    for (index, count) in histogram.counts.enumerated() {
      total += count
      let isLast = index == DurationHistogram.bounds.count
      let bound = isLast ? "+Inf" : "\(DurationHistogram.bounds[index])"
      add("\(name)_bucket", labels + [("le", bound)], total)
    }
    add("\(name)_sum", labels, histogram.sum / .seconds(1))
    add("\(name)_count", labels, total)
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    let text = text.replacing("\\", with: #"\\"#).replacing("\n", with: #"\n"#)
    return quotes ? text.replacing("\"", with: #"\""#) : text
  }

  mutating func add(_ requests: [Metrics.Request: Int], durations: [String: DurationHistogram]) {
    begin("aggregator_http_requests_total", .counter, "Requests that were answered.")
    let sorted = requests.sorted {
      ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
    }
    for (request, count) in sorted {
      add(
        "aggregator_http_requests_total",
        [
          ("method", request.method), ("route", request.route), ("status", "\(request.status)"),
        ], count)
    }
    let name = "aggregator_http_request_duration_seconds"
    begin(name, .histogram, "Time until a request was answered.")
    for (route, histogram) in durations.sorted(by: { $0.key < $1.key }) {
      add(name, [("route", route)], histogram)
    }
  }

  mutating func add(_ sources: [String: Metrics.Source]) {
    let sources = sources.sorted { $0.key < $1.key }
    begin("aggregator_answers_total", .counter, "Answers of a source by the origin of their data.")
    for (source, counts) in sources {
      for origin in Provenance.Origin.allCases {
        add(
          "aggregator_answers_total", [("source", source), ("origin", origin.rawValue)],
          counts.answers[origin] ?? 0)
      }
    }
    begin("aggregator_failures_total", .counter, "Calls of a source that failed.")
    for (source, counts) in sources {
      for (code, count) in counts.failures.map({ ($0.key.description, $0.value) }).sorted(by: <) {
        add("aggregator_failures_total", [("source", source), ("code", code)], count)
      }
    }
    begin(
      "aggregator_upstream_requests_total", .counter,
      "Requests to the service of a source by HTTP status or failure.")
    for (source, counts) in sources {
      for (status, count) in counts.responses.sorted(by: <) {
        add("aggregator_upstream_requests_total", [("source", source), ("status", status)], count)
      }
    }
    add("aggregator_retries_total", .counter, "Calls that were retried.", sources) { $0.retries }
    add(
      "aggregator_wait_seconds_total", .counter,
      "Time that calls waited for a rate limit or before a retry.", sources
    ) { $0.waited / .seconds(1) }
    add(
      "aggregator_circuit_open", .gauge,
      "1 from the first call that the circuit breaker refused until the service answers again.",
      sources
    ) { $0.isCircuitOpen ? 1 : 0 }
  }

  private mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ sources: [(key: String, value: Metrics.Source)],
    _ value: (Metrics.Source) -> some CustomStringConvertible
  ) {
    begin(name, kind, help)
    for (source, counts) in sources { add(name, [("source", source)], value(counts)) }
  }
}
