import AggregatorKit

/// The durations of requests by upper bound.
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

/// A writer of the text format 0.0.4 of Prometheus
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
struct MetricsText {
  enum Kind: String { case counter, gauge, histogram }

  typealias Label = (name: String, value: String)

  private(set) var text = ""

  /// Begins a metric; its samples follow.
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
}

extension MetricsText {
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
      for (status, count) in counts.responses.map({ ($0.key.label, $0.value) }).sorted(by: <) {
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

extension Metrics.Response {
  /// `200`, or the code of a failure.
  fileprivate var label: String {
    switch self {
    case .status(let status): "\(status)"
    case .failed(let code): code.description
    }
  }
}
