import AggregatorKit
import Dispatch
import Foundation
import Synchronization

/// A server that stands in front of a service, and plays a weather while it is told to.
///
/// Whatever is sent through this transport comes to that server first, over a real socket. In fair
/// weather the request is passed on to the service, by the service's own transport.
final class FaultProxy: Transport {
  /// Bodies larger than this are not read.
  private static let cap = 1 << 20

  let responder: FaultResponder
  private let nobody: RefusingPort
  private let server: LoopbackServer

  /// A server in front of the service that a transport leads to.
  init(
    of service: any Transport, now: @escaping @Sendable () -> Date
  ) throws(SourceError) {
    let responder = FaultResponder(of: service, now: now)
    self.responder = responder
    nobody = try RefusingPort()
    server = try LoopbackServer { responder.reply(to: $0) }
  }

  deinit { server.stop() }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let (ticket, scenario) = responder.admit(request)
    defer { responder.dismiss(ticket) }
    var isRefused = false
    if case .refuse = scenario.play { isRefused = true }
    var request = request.sent(to: isRefused ? nobody.port : server.port)
    request.headers.append(.init(FaultResponder.ticket, "\(ticket)"))
    request.limits = HTTPLimits(
      bodyBytes: min(request.limits.bodyBytes, Self.cap), connect: scenario.limits.overall,
      idle: scenario.limits.idle, overall: scenario.limits.overall)
    // The deadline of the call would lengthen these limits, which shall come first.
    return try await Deadline.$current.withValue(nil) { [request] in
      await Result { () async throws(SourceError) in
        try await HTTPTransport.standard.send(request)
      }
    }.get()
  }
}

extension HTTPRequest {
  /// The same request, sent to a port of 127.0.0.1.
  func sent(to port: Int) -> HTTPRequest {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return self }
    (parts.scheme, parts.host, parts.port) = ("http", "127.0.0.1", port)
    var request = self
    request.url = parts.url ?? url
    return request
  }
}

/// Answers what comes to a ``FaultProxy``: as the service does, or as the weather wants it.
final class FaultResponder: Sendable {
  private struct State {
    var scenario = FaultScenario.fair
    var calls = 0
    var strikes = 0
    /// The requests that are on their way, by ticket.
    var requests: [Int: HTTPRequest] = [:]
    var lastTicket = 0
    /// What was asked for first: where the rows are.
    var rowsPlace: String?
    /// The pages of rows, in the order in which they were asked for first.
    var pages: [(key: String, body: Data)] = []
  }

  /// More pages than these are not told from each other.
  private static let mostPages = 200

  /// The header field that says which request it is.
  static let ticket = "Weather-Ticket"

  private let service: any Transport
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  init(of service: any Transport, now: @escaping @Sendable () -> Date) {
    self.service = service
    self.now = now
  }

  /// Plays a weather from now on.
  func begin(_ scenario: FaultScenario) {
    state.withLock { state in
      state.scenario = scenario
      state.calls = 0
      state.strikes = 0
    }
  }

  /// How many requests have come since the weather began, and how many of them it has met.
  var count: (calls: Int, strikes: Int) { state.withLock { ($0.calls, $0.strikes) } }

  /// Takes a request in before it goes over the wire.
  ///
  /// - Returns: The number that it has to show, and the weather.
  func admit(_ request: HTTPRequest) -> (ticket: Int, scenario: FaultScenario) {
    state.withLock { state in
      state.lastTicket += 1
      state.requests[state.lastTicket] = request
      if state.rowsPlace == nil { state.rowsPlace = request.endpoint }
      if case .refuse = state.scenario.play {
        state.calls += 1
        state.strikes += 1
      }
      return (state.lastTicket, state.scenario)
    }
  }

  /// Forgets a request that is over.
  func dismiss(_ ticket: Int) { state.withLock { $0.requests[ticket] = nil } }

  /// The reply to a request that shows its number.
  func reply(to incoming: LoopbackRequest) -> LoopbackReply {
    let ticket = incoming.header(Self.ticket).flatMap { Int($0) } ?? 0
    let (request, scenario, call) = state.withLock { state in
      state.calls += 1
      return (state.requests[ticket], state.scenario, state.calls)
    }
    // Who asked has left.
    guard let request else { return .closed }
    let fair = { @Sendable in self.numbered(request).response }
    switch scenario.play {
    case .refuse: return .closed
    case .answer(let answer):
      guard let reply = answer(ScenarioSetup(call: call, now: now(), fair: fair)) else {
        return LoopbackReply(fair())
      }
      state.withLock { $0.strikes += 1 }
      return reply
    case .change(let change):
      var (response, page) = numbered(request)
      if let changed = page.flatMap(change) {
        state.withLock { $0.strikes += 1 }
        response.body = Data(changed.text.utf8)
      }
      return LoopbackReply(response)
    }
  }

  /// What the service answers, and which page of rows it is, if it is one.
  private func numbered(_ request: HTTPRequest) -> (response: HTTPResponse, page: RowsPage?) {
    let response = fair(request)
    guard 200..<300 ~= response.status else { return (response, nil) }
    let page = state.withLock { state -> RowsPage? in
      guard request.endpoint == state.rowsPlace else { return nil }
      let key = request.key
      let known = state.pages.firstIndex { $0.key == key }
      guard known != nil || state.pages.count < Self.mostPages else { return nil }
      if known == nil { state.pages.append((key, response.body)) }
      let place = known ?? state.pages.count - 1
      return RowsPage(
        number: place + 1, bytes: response.body, bytesBefore: state.pages[max(place - 1, 0)].body,
        firstBytes: state.pages[0].body)
    }
    return (response, page)
  }

  /// What the service answers; 502 if it does not.
  ///
  /// It blocks, as only the thread of a connection may.
  private func fair(_ request: HTTPRequest) -> HTTPResponse {
    let answer = ScenarioAnswer()
    // Unstructured, because it is a thread that waits for it, in the next line.
    Task { [service] in
      answer.put(await Result { () async throws(SourceError) in try await service.send(request) })
    }
    do { return try answer.taken().get() } catch {
      return HTTPResponse(status: 502, body: Data("the service failed: \(error)".utf8))
    }
  }
}

/// An answer that a thread waits for.
private final class ScenarioAnswer: Sendable {
  private let answer = Mutex(Result<HTTPResponse, SourceError>.failure(.cancelled))
  private let isThere = DispatchSemaphore(value: 0)

  func put(_ result: Result<HTTPResponse, SourceError>) {
    answer.withLock { $0 = result }
    isThere.signal()
  }

  func taken() -> Result<HTTPResponse, SourceError> {
    isThere.wait()
    return answer.withLock(\.self)
  }
}

extension HTTPRequest {
  /// What tells this request from others: its address, query and body.
  fileprivate var key: String {
    let items = query.map { "\($0.name)=\($0.value)" }
    return "\(url)?\(items)\(body.map { String(decoding: $0, as: UTF8.self) } ?? "")"
  }
}

extension LoopbackReply {
  /// A reply that was received, sent on.
  fileprivate init(_ response: HTTPResponse) {
    // The body is unpacked, and complete.
    let own: Set = ["content-length", "content-encoding", "transfer-encoding", "connection"]
    let headers = response.headers.filter { !own.contains($0.name) }
    self = .status(
      response.status, response.body, headers: headers.map { ($0.name, $0.value) })
  }
}
