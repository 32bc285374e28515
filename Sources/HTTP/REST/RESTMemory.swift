import AggregatorCore
import AggregatorFoundation
import Synchronization

/// The reply to the request of a page.
struct RESTReply<Item: Record> {
  let position: RESTPosition
  let query: Query?
  let request: HTTPRequest
  let response: RESTResponse<Item>
  let fetchedAt: Date
}

/// The page that is being cut, and the pages that cannot be requested again.
final class RESTMemory<Item: Record>: Sendable {
  private struct Start: Hashable {
    let start: RESTPosition.Start
    let query: String?
  }

  /// The oldest are forgotten: then the service refuses their tokens.
  private static var maxLost: Int { 100 }

  private let state = Mutex<(reply: RESTReply<Item>?, lost: [Start])>((nil, []))

  func keep(_ reply: RESTReply<Item>) { state.withLock { $0.reply = reply } }

  /// The reply of the page that a position is in.
  func kept(_ position: RESTPosition, of query: Query?) -> RESTReply<Item>? {
    state.withLock(\.reply).flatMap { reply in
      let isSame =
        reply.query == query && reply.position.start == position.start
        && reply.position.size == position.size
      return isSame ? reply : nil
    }
  }

  func lose(_ start: RESTPosition.Start, of query: Query?) {
    state.withLock { state in
      state.lost.append(Start(start: start, query: query?.text))
      if state.lost.count > Self.maxLost { state.lost.removeFirst() }
    }
  }

  func isLost(_ start: RESTPosition.Start, of query: Query?) -> Bool {
    state.withLock { $0.lost.contains(Start(start: start, query: query?.text)) }
  }
}
