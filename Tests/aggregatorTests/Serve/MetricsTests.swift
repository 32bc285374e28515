import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTelemetry

@Suite struct MetricsTests {
  private let metrics = Metrics()

  /// The samples of a metric, without comments.
  private func samples(_ name: String) -> [String] {
    metrics.text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("\(name)") }
  }

  @Test func `counts requests by method, route and status`() {
    for (method, status) in [("GET", 200), ("GET", 200), ("GET", 404), ("DELETE", 204)] {
      metrics.count(method, "/api/v1/{source}", status: status, after: .milliseconds(3))
    }
    #expect(
      samples("aggregator_http_requests_total") == [
        #"aggregator_http_requests_total{method="DELETE",route="/api/v1/{source}",status="204"} 1"#,
        #"aggregator_http_requests_total{method="GET",route="/api/v1/{source}",status="200"} 2"#,
        #"aggregator_http_requests_total{method="GET",route="/api/v1/{source}",status="404"} 1"#,
      ])
  }

  @Test func `methods of clients add no series`() {
    for number in 0..<100 { metrics.count("M\(number)", "/", status: 405, after: .zero) }
    #expect(
      samples("aggregator_http_requests_total") == [
        #"aggregator_http_requests_total{method="other",route="/",status="405"} 100"#
      ])
  }

  @Test func `a histogram counts each duration in all buckets that it fits`() {
    for milliseconds in [1, 2, 5, 30, 11_000] {
      metrics.count("GET", "/", status: 200, after: .milliseconds(milliseconds))
    }
    let name = "aggregator_http_request_duration_seconds"
    let buckets = samples("\(name)_bucket")
    let counts = buckets.compactMap { $0.split(separator: " ").last }.compactMap { Int($0) }
    // A duration that is a bound belongs to its bucket.
    #expect(counts == [1, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5])
    #expect(buckets.first == #"\#(name)_bucket{route="/",le="0.001"} 1"#)
    #expect(buckets.last == #"\#(name)_bucket{route="/",le="+Inf"} 5"#)
    #expect(samples("\(name)_sum") == [#"\#(name)_sum{route="/"} 11.038"#])
    #expect(samples("\(name)_count") == [#"\#(name)_count{route="/"} 5"#])
  }

  @Test func `escapes labels`() {
    _ = metrics.observer(of: "a\"b\\c\nd")
    #expect(
      samples("aggregator_retries_total") == [#"aggregator_retries_total{source="a\"b\\c\nd"} 0"#])
  }

  @Test func `each metric has its help and its type once, before its samples`() {
    metrics.count("GET", "/", status: 200, after: .zero)
    metrics.observer(of: "a")(.received(status: 200, bytes: 0, after: .zero, address: ""))
    metrics.observer(of: "b")(.failed(source: "b", call: "list", error: .cancelled))
    var known: [String] = []
    var current = ""
    for line in metrics.text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      switch words[1] {
      case "HELP":
        current = words[2]
        #expect(!known.contains(current))
        known.append(current)
      case "TYPE": #expect(words[2] == current && words.count == 4)
      default:
        #expect(line.hasPrefix(current), "\(line)")
        let pattern =
          /[a-z_]+(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? [0-9.e+-]+/
        #expect(line.wholeMatch(of: pattern) != nil, "\(line)")
      }
    }
    #expect(known.count == 8)
    #expect(metrics.text.hasSuffix("\n"))
  }

  @Test func `counts the events of a source`() {
    let observe = metrics.observer(of: "lamps")
    _ = metrics.observer(of: "heroes")
    let down = SourceError(.serverError, "down")
    observe(.retrying(down))
    observe(.waiting(.milliseconds(1500), reason: "rate limit"))
    observe(.waiting(.milliseconds(250), reason: "rate limit"))
    observe(.received(status: 503, bytes: 0, after: .zero, address: ""))
    observe(.lost(SourceError(.timedOut, ""), after: .zero, address: ""))
    observe(.failed(source: "lamps", call: "list", error: down))
    observe(
      .answered(source: "lamps", call: "list", provenance: Provenance(.bundled), count: 2))
    // Images are not answers of the source.
    observe(
      .answered(source: "lamps images", call: "show", provenance: Provenance(.live), count: 1))
    for (sample, name) in [
      (#"{source="lamps"} 1"#, "aggregator_retries_total"),
      (#"{source="heroes"} 0"#, "aggregator_retries_total"),
      (#"{source="lamps"} 1.75"#, "aggregator_wait_seconds_total"),
      (#"{source="lamps",status="503"} 1"#, "aggregator_upstream_requests_total"),
      (#"{source="lamps",status="timedOut"} 1"#, "aggregator_upstream_requests_total"),
      (#"{source="lamps",code="serverError"} 1"#, "aggregator_failures_total"),
      (#"{source="lamps",origin="bundled"} 1"#, "aggregator_answers_total"),
      (#"{source="lamps",origin="live"} 0"#, "aggregator_answers_total"),
    ] {
      #expect(samples(name).contains(name + sample), "\(name)\(sample)")
    }
  }

  @Test func `the circuit is open until the service answers`() {
    let observe = metrics.observer(of: "lamps")
    func isOpen() -> Bool { samples("aggregator_circuit_open") == [sample(1)] }
    func sample(_ value: Int) -> String { #"aggregator_circuit_open{source="lamps"} \#(value)"# }
    #expect(samples("aggregator_circuit_open") == [sample(0)])
    for event in [
      Event.fellBack(SourceError(.circuitOpen, "paused")),
      .failed(source: "lamps", call: "list", error: SourceError(.circuitOpen, "paused")),
    ] {
      observe(event)
      #expect(isOpen())
      observe(.received(status: 502, bytes: 0, after: .zero, address: ""))
      #expect(isOpen())
      observe(.received(status: 404, bytes: 0, after: .zero, address: ""))
      #expect(!isOpen())
    }
  }

  @Test func `counts what a real chain does`() async throws {
    let service = try FakeCountries()
    let environment = PluginEnvironment(
      settings: SourceSettings(service.settings), transport: LongTimeoutTransport(),
      observer: metrics.observer(of: "countries"))
    let countries = try CountriesPlugin().source(in: environment)
    _ = try await countries.page(PageRequest(limit: 1))
    #expect(
      samples("aggregator_answers_total").first
        == #"aggregator_answers_total{source="countries",origin="live"} 1"#)
    #expect(
      samples("aggregator_upstream_requests_total") == [
        #"aggregator_upstream_requests_total{source="countries",status="200"} 1"#
      ])
  }
}
