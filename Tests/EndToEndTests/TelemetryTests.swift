import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTelemetry

/// Traces, as a collector of OpenTelemetry receives them.
@Suite(.timeLimit(.minutes(10))) struct TelemetryTests {
  private let services: FourServices
  private let collector: LoopbackServer
  private let home: TestHome

  init() throws {
    services = try FourServices()
    collector = try LoopbackServer { _ in .json("{}") }
    home = try TestHome(services.settings)
  }

  private var variables: [String: String?] {
    [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "\(collector.baseURL)",
      "OTEL_EXPORTER_OTLP_HEADERS": "api-key=c0llector%20key",
      "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
    ]
  }

  /// All spans that the collector has received.
  private func spans() throws -> [JSON] {
    try collector.requests.flatMap { request in
      #expect(request.path == "/v1/traces")
      let key = request.headers.first { $0.name.lowercased() == "api-key" }
      #expect(key?.value == "c0llector key")
      let body = JSON(try #require(JSONText(request.body)))
      let resource = body["resourceSpans"]?.array?.first
      let attributes = resource?["resource"]?["attributes"]?.array ?? []
      #expect(
        attributes.contains(["key": "service.name", "value": ["stringValue": "aggregator"]]))
      #expect(attributes.count == 2)
      return resource?["scopeSpans"]?.array?.first?["spans"]?.array ?? []
    }
  }

  private func names(of spans: [JSON]) -> Set<String> {
    Set(spans.compactMap { $0["name"]?.string })
  }

  @Test func `a command is a trace of its calls, requests, waits and writes`() async throws {
    let outcome = try await home.run("heroes list --limit 3", variables)
    #expect(outcome.status == 0, "\(outcome)")
    let synced = try await home.run("countries sync", variables)
    #expect(synced.status == 0, "\(synced)")
    let spans = try spans()
    let found = names(of: spans)
    for name in [
      "aggregator heroes list", "heroes list", "request", "store heroes",
      "aggregator countries sync", "store countries",
    ] { #expect(found.contains(name), "\(name) is not among \(found)") }

    let traces = Dictionary(grouping: spans) { $0["traceId"]?.string ?? "" }
    #expect(traces.count == 2)
    for (trace, spans) in traces {
      #expect(trace.utf8.count == 32)
      let ids = Set(spans.compactMap { $0["spanId"]?.string })
      #expect(ids.count == spans.count && ids.allSatisfy { $0.utf8.count == 16 })
      // One tree: each but the command is below another.
      let roots = spans.filter { $0["parentSpanId"] == "" }
      #expect(roots.count == 1)
      for span in spans where span["parentSpanId"] != "" {
        #expect(ids.contains(span["parentSpanId"]?.string ?? ""), "\(span)")
        let times = ["startTimeUnixNano", "endTimeUnixNano"].map { name in
          Int(span[name]?.string ?? "") ?? 0
        }
        #expect(times[0] > 0 && times[0] <= times[1])
      }
    }
    let request = try #require(spans.first { $0["name"] == "request" })
    let call = spans.first { $0["spanId"] == request["parentSpanId"] }
    #expect(call?["name"] == "heroes list", "\(spans)")

    let text = collector.requests.map { String(decoding: $0.body, as: UTF8.self) }.joined()
    let key = try #require(services.settings["COMIC_VINE_API_KEY"])
    #expect(!text.contains(key))
  }

  @Test func `a wait ends with the command that gave it up`() async throws {
    let variables = ["OTEL_EXPORTER_OTLP_ENDPOINT": "\(collector.baseURL)"]
    let tracer = Tracer(
      try #require(try Collector(variables, program: "aggregator")), version: "1",
      sendingBy: LongTimeoutTransport())
    tracer.observer(.waiting(.seconds(3600), reason: "a rate"))
    #expect(await tracer.finish("command", failing: nil) == nil)
    let body = JSON(try #require(JSONText(collector.requests[0].body)))
    let spans = body["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first?["spans"]?.array
    let ends = Set(try #require(spans).compactMap { $0["endTimeUnixNano"]?.string })
    #expect(spans?.count == 2 && ends.count == 1, "\(ends)")
  }

  @Test func `without the variables nothing is sent`() async throws {
    for variables: [String: String?] in [
      [:], variables.merging(["OTEL_SDK_DISABLED": "true"]) { $1 },
      variables.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 },
      // Who began the trace does not keep it.
      variables.merging(["TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"])
      {
        $1
      },
    ] {
      let outcome = try await home.run("countries list --offline", variables)
      #expect(outcome.errors.contains("trace") == false, "\(outcome)")
    }
    #expect(collector.requests.isEmpty)
  }

  @Test func `a failing collector is a warning, and the command is what it was`() async throws {
    let broken = try LoopbackServer { _ in .status(503) }
    let outcome = try await home.run(
      "countries list --limit 1 --json",
      variables.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "\(broken.baseURL)"]) { $1 })
    #expect(outcome.status == 0 && outcome.output.contains(#""count":1"#), "\(outcome)")
    #expect(outcome.errors.contains("warning: traces are not sent"), "\(outcome)")
    #expect(!outcome.errors.contains("c0llector"))

    let wrong = try await home.run(
      "countries list --limit 1", variables.merging(["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"]) { $1 })
    #expect(wrong.status == 0, "\(wrong)")
    #expect(wrong.errors.contains("warning: no traces: OTEL_EXPORTER_OTLP_PROTOCOL is grpc"))
    #expect(wrong.errors.contains("hint: set it to http/json"))
  }

  @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
  func `the trace of a client goes on`() async throws {
    func parent(_ digit: Character) -> String {
      "00-\(String(repeating: digit, count: 32))-\(String(repeating: digit, count: 16))-01"
    }
    let server = try await ServingProgram(
      environment: home.environment.merging(variables) { $1 }, in: home.sandbox)
    let listed = try await server.get("/api/v1/heroes?limit=1", ["traceparent": parent("a")])
    #expect(listed.status == 200)
    let called = try await server.post(
      "/mcp",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":"#
        + #"{"source":"countries"},"_meta":{"traceparent":"\#(parent("b"))"}}}"#)
    #expect(called.status == 200, "\(called.text)")
    try await server.stop()
    let message =
      #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"# + "\n"
      + #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":"#
      + #"{"source":"products"},"_meta":{"traceparent":"\#(parent("c"))"}}}"#
    let outcome = try await home.run("mcp", variables, input: message)
    #expect(outcome.status == 0, "\(outcome)")
    let spans = try spans()
    for (digit, name, call) in [
      ("a" as Character, "GET", "heroes list"), ("b", "tools/call list", "countries list"),
      ("c", "tools/call list", "products list"),
    ] {
      let own = spans.filter { $0["traceId"]?.string == String(repeating: digit, count: 32) }
      let server = own.first { $0["name"]?.string == name }
      #expect(server?["kind"] == 2 && server?["parentSpanId"]?.string?.first == digit, "\(own)")
      let inner = own.first { $0["name"]?.string == call }
      #expect(inner?["parentSpanId"] == server?["spanId"], "\(own)")
    }
  }

  @Test func `messages can be JSON, a line each`() async throws {
    let home = try TestHome()
    let runs = [
      "countries list --limit 1": ["info", "warning"], "countries lst": ["error"],
      "heroes list --fields nam": ["error"], "config get X --quiet": ["error"],
    ]
    for (line, levels) in runs {
      let outcome = try await home.run("\(line) --log-format json")
      let messages = try outcome.errors.split(separator: "\n").map { line in
        JSON(try #require(JSONText(Data(line.utf8)), "\(line)"))
      }
      #expect(messages.compactMap { $0["level"]?.string }.sorted() == levels, "\(outcome)")
      for message in messages {
        #expect(message["time"]?.string?.hasSuffix("Z") == true)
        #expect(message["message"]?.string?.isEmpty == false)
      }
    }
    let failure = try await home.run("heroes list --fields nam --log-format json")
    #expect(failure.errors.contains(#""hints":["#), "\(failure)")
  }

  @Test func `a traceparent is read as the recommendation demands`() {
    let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    #expect(SpanContext(traceparent: valid)?.isSampled == true)
    #expect(SpanContext(traceparent: valid)?.child.traceID == "0af7651916cd43dd8448eb211c80319c")
    #expect(SpanContext(traceparent: "01" + valid.dropFirst(2) + "-more")?.isSampled == true)
    for text in [
      "", "00", "ff" + valid.dropFirst(2), valid + "-more", valid.uppercased(),
      valid.replacing("b7ad6b7169203331", with: "0000000000000000"), "0" + valid,
      valid.replacing("0af7651916cd43dd8448eb211c80319c", with: String(repeating: "0", count: 32)),
    ] { #expect(SpanContext(traceparent: text) == nil, "\(text)") }
  }

  /// The schema that OpenTelemetry publishes, as the package `opentelemetry-proto` has it, which `Scripts/install tests`
  /// installs with the package `mcp`.
  @Test(
    .enabled(if: Repository.program(named: "mcp") != nil, "opentelemetry-proto is not installed"))
  func `it is of the published schema`() async throws {
    let listed = try await home.run("heroes list --limit 3", variables)
    #expect(listed.status == 0, "\(listed)")
    let body = try #require(collector.requests.first?.body)
    // JSON of OTLP has IDs in hexadecimal digits, where that of Protocol Buffers has base64.
    let script = """
      import base64, json, sys
      from google.protobuf import json_format
      from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
      body = json.loads(sys.stdin.read())
      for scope in body["resourceSpans"][0]["scopeSpans"]:
        for span in scope["spans"]:
          for name in ("traceId", "spanId", "parentSpanId"):
            span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
      request = json_format.Parse(json.dumps(body), ExportTraceServiceRequest())
      print(len(request.resource_spans[0].scope_spans[0].spans) > 3)
      """
    let checked = try await Binary.run(
      [String](), input: String(decoding: body, as: UTF8.self), in: home.sandbox,
      by: [Repository.root.appending(path: ".build/python/bin/python").path, "-c", script])
    #expect(checked.output == "True\n", "\(checked)")
  }
}
