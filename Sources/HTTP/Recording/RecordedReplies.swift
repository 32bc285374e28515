import AggregatorCore
import AggregatorFoundation
import AggregatorText
import Synchronization

/// The replies of a recording in their order.
///
/// Identical requests are answered in the order in which they were recorded; after the last one, its reply is
/// repeated.
package final class RecordedReplies: Sendable {
  private let exchanges: [(name: String, exchange: RecordedExchange)]
  /// The indices of the exchanges that were replayed.
  private let used = Mutex<Set<Int>>([])

  init(_ exchanges: [(name: String, exchange: RecordedExchange)]) { self.exchanges = exchanges }

  package var count: Int { exchanges.count }

  /// The names of query items whose values are secrets.
  package var secretNames: Set<String> {
    Set(exchanges.flatMap { $0.exchange.request.query.filter(\.isRedacted).map(\.name) })
  }

  /// Returns the next exchange with an identical request; `nil` if there is none.
  package func next(for request: RecordedRequest) -> RecordedExchange? {
    let matches = exchanges.indices.filter {
      let recorded = exchanges[$0].exchange.request
      return request.endpoint == recorded.endpoint && request.differences(from: recorded).isEmpty
    }
    return used.withLock { used in
      guard let index = matches.first(where: { !used.contains($0) }) ?? matches.last else {
        return nil
      }
      used.insert(index)
      return exchanges[index].exchange
    }
  }

  /// A recorded request that is not the one that was asked for.
  package struct Neighbor: Sendable {
    /// The name of the file.
    package let name: String
    package let request: RecordedRequest
    /// The most important difference first.
    package let differences: [String]
  }

  /// Returns all recorded requests, those with the same URL and the fewest differences first.
  package func neighbors(of request: RecordedRequest) -> [Neighbor] {
    let neighbors = exchanges.map { name, exchange in
      Neighbor(
        name: name, request: exchange.request,
        differences: request.differences(from: exchange.request))
    }
    func rank(_ item: (offset: Int, element: Neighbor)) -> (Int, Int, Int) {
      let isElsewhere = item.element.request.endpoint != request.endpoint
      return (isElsewhere ? 1 : 0, item.element.differences.count, item.offset)
    }
    return neighbors.enumerated().sorted { rank($0) < rank($1) }.map(\.element)
  }
}

extension Recording {
  var replies: RecordedReplies { RecordedReplies(exchanges) }

  /// The replies by path and query, for a server in the place of the recorded one.
  package var repliesWithoutHost: RecordedReplies {
    RecordedReplies(
      exchanges.map { name, exchange in
        var exchange = exchange
        exchange.request = exchange.request.withoutHost
        return (name, exchange)
      })
  }

  /// The URLs of the recorded services without their paths: `https://api.github.com`.
  package var origins: Set<String> { Set(exchanges.map(\.exchange.request.origin)) }
}

extension RecordedRequest {
  /// A request as a server receives it; `nil` for a method that is never recorded.
  ///
  /// - Parameter target: The path and the query, as sent.
  package init?(_ method: String, target: String, body: [UInt8]) {
    guard let method = HTTPRequest.Method(rawValue: method) else { return nil }
    self.init(method: method, address: target, body: Data(body))
  }

  /// The method and the URL, secret values as `REDACTED`.
  package var line: String { "\(method.rawValue) \(address)" }

  /// The path and query of a request with the values of some query items as `REDACTED`.
  package static func target(_ path: String, _ query: String?, hiding names: Set<String>) -> String
  {
    guard let query else { return path }
    let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
      let name = item.prefix { $0 != "=" }
      guard names.contains(name.percentDecoded ?? "") else { return String(item) }
      return "\(name)=\(SecretScanner.mark)"
    }
    return "\(path)?\(items.joined(separator: "&"))"
  }

  fileprivate var origin: String { String(address.prefix(address.count - target.count)) }

  fileprivate var withoutHost: RecordedRequest {
    RecordedRequest(
      method: method, address: target.hasPrefix("/") ? String(target) : "/\(target)",
      headers: headers, body: body)
  }

  /// The path and the query.
  private var target: Substring {
    guard let scheme = address.firstRange(of: "://") else { return address[...] }
    let rest = address[scheme.upperBound...]
    return rest[(rest.firstIndex { "/?".contains($0) } ?? rest.endIndex)...]
  }
}
