package import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP
import AggregatorText

/// Where spans are sent: a collector of OpenTelemetry, by OTLP over HTTP with JSON
/// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
package struct Collector: Sendable {
  let url: URL
  let headers: [HTTPRequest.Item]
  let timeout: Duration
  /// The attributes of the process that sends the spans: the name of the service, and others.
  let resource: [JSON.Member]
  /// The span under which those of this process are; `nil` for a new trace.
  let parent: SpanContext?

  /// Reads the variables of the specification
  /// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/); `nil` if they ask for nothing.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  package init?(
    _ variables: [String: String], program: String
  ) throws(SourceError) {
    func value(_ name: String) -> String? { variables["OTEL_\(name)"]?.nonBlank }
    guard value("SDK_DISABLED")?.lowercased() != "true", value("TRACES_EXPORTER") != "none" else {
      return nil
    }
    let traces = value("EXPORTER_OTLP_TRACES_ENDPOINT")
    guard let endpoint = traces ?? value("EXPORTER_OTLP_ENDPOINT") else { return nil }
    let name = traces == nil ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    guard let url = URL(string: endpoint), Address(url) != nil else {
      throw SourceError(
        .invalidSettings, "\(name) is not an http(s) URL", remedy: "set it to that of a collector")
    }
    let spoken = "http/json"
    for name in ["EXPORTER_OTLP_TRACES_PROTOCOL", "EXPORTER_OTLP_PROTOCOL"] {
      guard let protocolName = value(name), protocolName != spoken else { continue }
      throw SourceError(
        .invalidSettings,
        "OTEL_\(name) is \(protocolName.oneLine(atMost: 40)), which is not spoken",
        remedy: "set it to \(spoken)")
    }
    self.url = traces == nil ? url.appending(path: "v1/traces") : url
    headers = Self.pairs(value("EXPORTER_OTLP_TRACES_HEADERS") ?? value("EXPORTER_OTLP_HEADERS"))
      .map { HTTPRequest.Item($0.name, .secret(Secret($0.value))) }
    let milliseconds = value("EXPORTER_OTLP_TIMEOUT").flatMap { Int($0) } ?? 10_000
    timeout = .milliseconds(min(max(milliseconds, 1), 60_000))
    var attributes = Self.pairs(value("RESOURCE_ATTRIBUTES")).filter {
      $0.name != "service.name" || value("SERVICE_NAME") == nil
    }
    if !attributes.contains(where: { $0.name == "service.name" }) {
      attributes.append((name: "service.name", value: value("SERVICE_NAME") ?? program))
    }
    resource = attributes.map { .init($0.name, .string($0.value)) }
    parent = variables["TRACEPARENT"].flatMap { SpanContext(traceparent: $0) }
  }

  /// `key=value` pairs between commas, percent-encoded.
  private static func pairs(_ text: String?) -> [(name: String, value: String)] {
    (text ?? "").split(separator: ",").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let value = parts[1].trimmed.percentDecoded else { return nil }
      return (parts[0].trimmed, value)
    }
  }
}
