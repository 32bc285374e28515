package import AggregatorCore
import AggregatorFoundation
package import AggregatorHTTP
import Synchronization

/// Enters what a process does into a trace: a span for a command, and below it for each call of a source, each request,
/// wait, retry and write to the store.
package final class Tracer: Sendable {
  /// The kinds of OpenTelemetry.
  package enum Kind: Int, Sendable {
    case `internal` = 1
    case server = 2
    case client = 3
  }

  /// The most spans that wait to be sent; further ones are lost.
  private static let capacity = 4096
  /// The most spans of a request.
  private static let batch = 512
  /// The longest time for which a process that goes on keeps spans.
  private static let interval = Duration.seconds(5)

  /// The tracer of the running task; `nil` if nobody traces.
  @TaskLocal package static var current: Tracer?

  /// An observer, after that of the current tracer, if there is one.
  package static func observing(_ observer: Observer) -> Observer {
    current.map { observer.also($0.observer) } ?? observer
  }

  private let collector: Collector
  private let transport: any Transport
  private let version: String
  /// The span of the process.
  private let root: SpanContext
  private let start = Date()
  private let state = Mutex(State())

  private struct State {
    var spans: [Span] = []
    var lost = 0
    var failure: SourceError?
    var sending: Task<Void, Never>?
  }

  package init(_ collector: Collector, version: String, sendingBy transport: any Transport) {
    self.collector = collector
    self.transport = transport
    self.version = version
    root = collector.parent?.child ?? .first
  }

  // MARK: - Spans

  /// Runs `body` as a span, under the one of a client if it names one.
  package func span<Value>(
    _ name: String, _ kind: Kind, under traceparent: String?, failing: (Value) -> String?,
    _ body: () async -> Value
  ) async -> Value {
    let parent =
      traceparent.flatMap { SpanContext(traceparent: $0) } ?? SpanContext.current ?? root
    let context = parent.child
    let start = Date()
    let value = await SpanContext.$current.withValue(context) { await body() }
    var span = Span(name, kind, context, under: parent.spanID, from: start)
    span.error = failing(value)
    enter(span)
    return value
  }

  /// Reports the calls of sources, and what happens below them.
  package var observer: Observer {
    observer { [root] in SpanContext.current ?? root }
  }

  private func observer(_ parent: @escaping @Sendable () -> SpanContext) -> Observer {
    Observer { [self] in
      note($0, under: parent())
    } opening: { [self] source, call in
      let outer = parent()
      let (context, start) = (outer.child, Date())
      let name = "\(source) \(call.prefix { $0 != " " })"
      let inner = observer { context }
      return Observer { [self] event in
        var span = Span(name, .internal, context, under: outer.spanID, from: start)
        switch event {
        case .asked: return
        case .answered(_, _, let provenance, let count):
          span.attributes = [
            .init("aggregator.origin", .string("\(provenance.origin)")),
            .init("aggregator.records", .integer(count)),
          ]
        case .failed(_, _, let error): span.error = error.message
        default: return inner(event)
        }
        enter(span)
      } opening: { source, call in
        inner.opened(for: source, call)
      }
    }
  }

  private func note(_ event: Event, under parent: SpanContext) {
    var span = Span("", .internal, parent.child, under: parent.spanID, from: Date())
    switch event {
    case .received(let status, let bytes, let time, let address):
      span.isRequest(to: address, after: time)
      span.attributes += [
        .init("http.response.status_code", .integer(status)),
        .init("http.response.body.size", .integer(bytes)),
      ]
      if status >= 400 { span.error = "status \(status)" }
    case .lost(let error, let time, let address):
      span.isRequest(to: address, after: time)
      span.error = error.message
    case .waiting(let time, let reason):
      span.name = "wait"
      span.end = span.start.addingTimeInterval(time / .seconds(1))
      span.attributes = [.init("aggregator.reason", .string(reason))]
    case .retrying(let error), .fellBack(let error):
      if case .retrying = event { span.name = "retry" } else { span.name = "fallback" }
      span.attributes = [.init("aggregator.reason", .string(error.message))]
    case .stored(let source, let records, let time):
      span.name = "store \(source)"
      span.begin(before: time)
      span.attributes = [.init("aggregator.records", .integer(records))]
    case .asked, .answered, .failed, .sent: return
    }
    enter(span)
  }

  private func enter(_ span: Span) {
    guard span.context.isSampled else { return }
    state.withLock { state in
      guard state.spans.count < Self.capacity else { return state.lost += 1 }
      state.spans.append(span)
      guard state.sending == nil else { return }
      // A process that goes on sends what it has from time to time.
      state.sending = Task { [weak self] in
        guard (try? await Task.sleep(for: Self.interval)) != nil else { return }
        await self?.send()
        self?.state.withLock { $0.sending = nil }
      }
    }
  }

  // MARK: - Sending

  /// Enters the span of the process, and sends all that is left.
  ///
  /// Returns the reason that some are lost; `nil` if none are.
  package func finish(_ name: String, failing error: String?) async -> String? {
    state.withLock(\.sending)?.cancel()
    var span = Span(name, .internal, root, under: collector.parent?.spanID, from: start)
    span.error = error
    enter(span)
    await send(endingAt: span.end)
    return state.withLock { state in
      state.sending?.cancel()
      return state.failure.map { "traces are not sent: \($0.message)" }
        ?? (state.lost > 0 ? "\(state.lost) spans are lost: too many at once" : nil)
    }
  }

  /// - Parameter end: The end of the process, which ends all spans.
  private func send(endingAt end: Date? = nil) async {
    let now = end ?? Date()
    if end != nil {
      // A wait may have been planned for longer.
      state.withLock { state in
        for index in state.spans.indices { state.spans[index].end(by: now) }
      }
    }
    while true {
      let spans = state.withLock { state in
        let first = state.spans.partition { $0.end <= now }
        let ended = Array(state.spans[first...].prefix(Self.batch))
        state.spans.removeSubrange(first..<first + ended.count)
        return ended
      }
      guard !spans.isEmpty else { return }
      let body: JSON = [
        "resourceSpans": [
          [
            "resource": ["attributes": .array(collector.resource.map(\.attribute))],
            "scopeSpans": [
              [
                "scope": ["name": "aggregator", "version": .string(version)],
                "spans": .array(spans.map(\.json)),
              ]
            ],
          ]
        ]
      ]
      var request = HTTPRequest(
        .post, collector.url,
        headers: [HTTPRequest.Item("Content-Type", "application/json")] + collector.headers,
        body: Data(body.text.utf8))
      request.limits.overall = collector.timeout
      do throws(SourceError) {
        // Requests of spans are not entered themselves.
        let sent = request
        let result = await Observer.$current.withValue(.silent) {
          await Result { () async throws(SourceError) in try await transport.send(sent) }
        }
        let response = try result.get()
        guard !(200..<300).contains(response.status) else { continue }
        throw SourceError(
          .rejected, "the collector \(request.endpoint) answers with status \(response.status)")
      } catch {
        return state.withLock { $0.failure = $0.failure ?? error }
      }
    }
  }
}

/// A part of the work, which has ended.
private struct Span {
  var name: String
  var kind: Tracer.Kind
  let context: SpanContext
  let parentID: String?
  var start: Date
  var end: Date
  var attributes: [JSON.Member] = []
  var error: String?

  init(
    _ name: String, _ kind: Tracer.Kind, _ context: SpanContext, under parentID: String?,
    from start: Date
  ) {
    self.name = name
    self.kind = kind
    self.context = context
    self.parentID = parentID
    self.start = start
    end = Date()
  }

  mutating func end(by date: Date) { end = min(end, date) }

  mutating func begin(before time: Duration) {
    start = end.addingTimeInterval(-(time / .seconds(1)))
  }

  mutating func isRequest(to address: String, after time: Duration) {
    name = "request"
    kind = .client
    begin(before: time)
    attributes = [.init("url.full", .string(address))]
  }

  /// As OTLP writes it: times are texts, because they do not fit a double.
  var json: JSON {
    func time(_ date: Date) -> JSON {
      .string(String(Int64(date.timeIntervalSince1970 * 1_000_000) * 1000))
    }
    return [
      "traceId": .string(context.traceID), "spanId": .string(context.spanID),
      "parentSpanId": .string(parentID ?? ""), "name": .string(name),
      "kind": .integer(kind.rawValue), "startTimeUnixNano": time(start),
      "endTimeUnixNano": time(max(start, end)),
      "attributes": .array(attributes.map(\.attribute)),
      "status": error.map { ["code": 2, "message": .string($0)] } ?? [:],
    ]
  }
}

extension JSON.Member {
  /// An attribute as OTLP writes it.
  fileprivate var attribute: JSON {
    let value: JSON =
      switch value {
      // As texts, for 64 bits.
      case .integer(let number): ["intValue": .string(String(number))]
      case .bool(let bool): ["boolValue": .bool(bool)]
      case .string(let text): ["stringValue": .string(text)]
      default: ["stringValue": .string(value.text)]
      }
    return ["key": .string(name), "value": value]
  }
}
