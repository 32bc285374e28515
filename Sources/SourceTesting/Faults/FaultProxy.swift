import AggregatorKit
import Dispatch
import Foundation
import Synchronization

/// A transport through a local server that injects the faults of a scenario.
///
/// Every request reaches that server over a real socket. Without a fault, the server forwards the
/// request with the service's own transport.
final class FaultProxy: Transport {
  /// The limit for bodies, in bytes.
  private static let cap = 1 << 20

  let handler: FaultHandler
  private let refusingPort: RefusingPort
  private let server: LoopbackServer

  init(
    of service: any Transport, echoing secrets: [Secret], now: @escaping @Sendable () -> Date
  ) throws(SourceError) {
    let handler = FaultHandler(of: service, echoing: secrets, now: now)
    self.handler = handler
    refusingPort = try RefusingPort()
    server = try LoopbackServer { handler.reply(to: $0) }
  }

  deinit { server.stop() }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let (ticket, scenario) = handler.admit(request)
    defer { handler.dismiss(ticket) }
    var isRefused = false
    if case .refuse = scenario.injection { isRefused = true }
    var request = request.sent(to: isRefused ? refusingPort.port : server.port)
    request.headers.append(.init(FaultHandler.ticket, "\(ticket)"))
    request.limits = HTTPLimits(
      bodyBytes: min(request.limits.bodyBytes, Self.cap), connect: scenario.limits.overall,
      idle: scenario.limits.idle, overall: scenario.limits.overall)
    // The deadline of the call would extend these limits, which have to come first.
    return try await Deadline.$current.withValue(nil) { [request] in
      await Result { () async throws(SourceError) in
        try await HTTPTransport.standard.send(request)
      }
    }.get()
  }
}

extension HTTPRequest {
  func sent(to port: Int) -> HTTPRequest {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return self }
    (parts.scheme, parts.host, parts.port) = ("http", "127.0.0.1", port)
    var request = self
    request.url = parts.url ?? url
    return request
  }

  /// The identity of a request: its address, query and body.
  fileprivate var key: String {
    let items = query.map { "\($0.name)=\($0.value)" }
    return "\(url)?\(items)\(body.map { String(decoding: $0, as: UTF8.self) } ?? "")"
  }
}

/// Replies to the requests of a ``FaultProxy``: with the service's reply or with a fault.
final class FaultHandler: Sendable {
  private struct State {
    var scenario = FaultScenario.noFault
    var calls = 0
    var faultsInjected = 0
    /// The requests in flight, by ticket.
    var requests: [Int: HTTPRequest] = [:]
    var lastTicket = 0
    /// The endpoint of the first request, which returns the rows.
    var listEndpoint: String?
    /// The pages of rows, in the order of their first request.
    var pages: [(key: String, body: Data)] = []
  }

  /// Pages beyond this are forwarded unchanged.
  private static let maxPages = 200

  /// The header field with the ticket of the request.
  static let ticket = "Fault-Proxy-Ticket"

  private let service: any Transport
  private let secrets: [Secret]
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  init(
    of service: any Transport, echoing secrets: [Secret], now: @escaping @Sendable () -> Date
  ) {
    self.service = service
    self.secrets = secrets
    self.now = now
  }

  func begin(_ scenario: FaultScenario) {
    state.withLock { state in
      state.scenario = scenario
      state.calls = 0
      state.faultsInjected = 0
    }
  }

  /// The requests since the scenario started, and the faults injected into them.
  var count: (calls: Int, faultsInjected: Int) { state.withLock { ($0.calls, $0.faultsInjected) } }

  func admit(_ request: HTTPRequest) -> (ticket: Int, scenario: FaultScenario) {
    state.withLock { state in
      state.lastTicket += 1
      state.requests[state.lastTicket] = request
      if state.listEndpoint == nil { state.listEndpoint = request.endpoint }
      if case .refuse = state.scenario.injection {
        state.calls += 1
        state.faultsInjected += 1
      }
      return (state.lastTicket, state.scenario)
    }
  }

  func dismiss(_ ticket: Int) { state.withLock { $0.requests[ticket] = nil } }

  func reply(to incoming: LoopbackRequest) -> LoopbackReply {
    let ticket = incoming.header(Self.ticket).flatMap { Int($0) } ?? 0
    let (request, scenario, call) = state.withLock { state in
      state.calls += 1
      return (state.requests[ticket], state.scenario, state.calls)
    }
    // The client has left.
    guard let request else { return .closed }
    let original = { @Sendable in self.forwardNumberingPages(request).response }
    switch scenario.injection {
    case .refuse: return .closed
    case .answer(let answer):
      let context = FaultContext(call: call, now: now(), secrets: secrets, original: original)
      guard let reply = answer(context) else {
        return LoopbackReply(original())
      }
      state.withLock { $0.faultsInjected += 1 }
      return reply
    case .change(let change):
      var (response, page) = forwardNumberingPages(request)
      if let changed = page.flatMap(change) {
        state.withLock { $0.faultsInjected += 1 }
        response.body = Data(changed.text.utf8)
      }
      return LoopbackReply(response)
    }
  }

  /// The service's reply, and its page of rows if it is one.
  private func forwardNumberingPages(_ request: HTTPRequest) -> (
    response: HTTPResponse, page: RowsReply?
  ) {
    let response = forward(request)
    guard 200..<300 ~= response.status else { return (response, nil) }
    let page = state.withLock { state -> RowsReply? in
      guard request.endpoint == state.listEndpoint else { return nil }
      let key = request.key
      let known = state.pages.firstIndex { $0.key == key }
      guard known != nil || state.pages.count < Self.maxPages else { return nil }
      if known == nil { state.pages.append((key, response.body)) }
      let index = known ?? state.pages.count - 1
      return RowsReply(
        number: index + 1, bytes: response.body, bytesBefore: state.pages[max(index - 1, 0)].body,
        firstBytes: state.pages[0].body)
    }
    return (response, page)
  }

  /// 502 if it fails; blocks, so it may only be called on the thread of a connection.
  private func forward(_ request: HTTPRequest) -> HTTPResponse {
    let answer = Mutex(Result<HTTPResponse, SourceError>.failure(.cancelled))
    let isReady = DispatchSemaphore(value: 0)
    // Unstructured, because a thread waits for it on the next line.
    Task { [service] in
      let result = await Result { () async throws(SourceError) in try await service.send(request) }
      answer.withLock { $0 = result }
      isReady.signal()
    }
    isReady.wait()
    do { return try answer.withLock(\.self).get() } catch {
      return HTTPResponse(status: 502, body: Data("the service failed: \(error)".utf8))
    }
  }
}

extension LoopbackReply {
  fileprivate init(_ response: HTTPResponse) {
    // The body is already decoded, and complete.
    let own: Set = ["content-length", "content-encoding", "transfer-encoding", "connection"]
    let headers = response.headers.filter { !own.contains($0.name) }
    self = .status(
      response.status, response.body, headers: headers.map { ($0.name, $0.value) })
  }
}
