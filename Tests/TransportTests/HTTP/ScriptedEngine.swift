import AggregatorKit
import Synchronization

/// An engine that opens no socket: it returns its replies in order and records the requests.
final class ScriptedEngine: HTTPEngine {
  private let rest: Mutex<ArraySlice<HTTPResponse>>
  private let asked = Mutex<[WireRequest]>([])

  init(_ replies: [HTTPResponse]) { rest = Mutex(replies[...]) }

  var requests: [WireRequest] { asked.withLock(\.self) }

  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
    asked.withLock { $0.append(request) }
    guard let reply = rest.withLock({ $0.popFirst() }) else {
      throw SourceError(.connectionLost, "the script has no reply left")
    }
    return reply
  }
}
