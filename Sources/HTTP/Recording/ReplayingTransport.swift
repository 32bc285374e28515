public import AggregatorCore
public import AggregatorFoundation
import AggregatorText
import Synchronization

/// Replays a ``Recording`` without using the network.
///
/// Identical requests are answered in the order in which they were recorded; after the last one, its
/// response is repeated. Requests are identical if they have the same method, URL, query in any order,
/// ignoring secrets, and body, ignoring white space and the order of members in JSON. A request that was not
/// recorded fails with `notRecorded`, for which nothing falls back.
public final class ReplayingTransport: Transport {
  /// The current date: the time of the latest replayed exchange (at first, of the recording) plus the time
  /// since on the ``clock``.
  public var now: @Sendable () -> Date { { [time] in time.now } }

  /// The clock of the replay: waits inside of calls take no time.
  public let clock = ReplayClock()

  private let recording: Recording
  private let replies: RecordedReplies
  private let time: ExchangeTime

  public init(_ recording: Recording) {
    self.recording = recording
    replies = recording.replies
    time = ExchangeTime(from: recording.recordedAt, before: { Date() }, on: clock)
  }

  /// - Throws: The recorded failure, or ``SourceError``: `notRecorded`, or `cancelled`.
  public func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    guard !Task.isCancelled else { throw .cancelled }
    let observer = Observer.current
    let stream = request.responseStream
    let request = RecordedRequest(request)
    observer(.sent(method: request.method.rawValue, address: request.address))
    do throws(SourceError) {
      guard let exchange = replies.next(for: request) else {
        throw recording.missing(request, nearest: replies.neighbors(of: request).first)
      }
      time.advance(to: exchange.time)
      let response = try await replay(exchange.outcome)
      observer(
        .received(
          status: response.status, bytes: response.body.count, after: .zero,
          address: request.address)
      )
      return stream?.taking(response) ?? response
    } catch {
      observer(.lost(error, after: .zero, address: request.address))
      throw error
    }
  }

  private func replay(
    _ outcome: RecordedExchange.Outcome
  ) async throws(SourceError) -> HTTPResponse {
    switch outcome {
    case .reply(let response): return response
    case .failure(let error): throw error
    case .silence:
      await clock.passDeadline()
      guard !Task.isCancelled else { throw .cancelled }
      throw SourceError(.timedOut, "no response until the deadline, as recorded")
    }
  }
}

/// The replies of a recording, which it gives as ``ReplayingTransport`` does.
package final class RecordedReplies: Sendable {
  private let exchanges: [(name: String, exchange: RecordedExchange)]
  private let used = Mutex<Set<Int>>([])

  init(_ exchanges: [(name: String, exchange: RecordedExchange)]) { self.exchanges = exchanges }

  /// The names of query items whose values are secrets.
  package var secretNames: Set<String> {
    Set(exchanges.flatMap { $0.exchange.request.query.filter(\.isRedacted).map(\.name) })
  }

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
    func rank(_ neighbor: Neighbor) -> (Int, Int) {
      (neighbor.request.endpoint == request.endpoint ? 0 : 1, neighbor.differences.count)
    }
    return neighbors.sorted { rank($0) < rank($1) }
  }
}

extension Recording {
  var replies: RecordedReplies { RecordedReplies(exchanges) }

  /// The replies by path and query, for a server in the place of the recorded one.
  package var repliesWithoutHost: RecordedReplies {
    RecordedReplies(
      exchanges.map { name, exchange in
        let request = exchange.request
        var exchange = exchange
        let path = request.target.hasPrefix("/") ? String(request.target) : "/\(request.target)"
        exchange.request = RecordedRequest(
          method: request.method, address: path, headers: request.headers, body: request.body)
        return (name, exchange)
      })
  }

  /// The URLs of the recorded services without their paths: `https://api.github.com`.
  package var origins: Set<String> { Set(exchanges.map(\.exchange.request.origin)) }
}

extension RecordedRequest {
  /// A request as a server receives it; `nil` for an invalid method.
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
      return "\(name)=\(Secret.mark)"
    }
    return "\(path)?\(items.joined(separator: "&"))"
  }

  fileprivate var origin: String { String(address.prefix(address.count - target.count)) }

  fileprivate var target: Substring {
    guard let scheme = address.firstRange(of: "://") else { return address[...] }
    let rest = address[scheme.upperBound...]
    return rest[(rest.firstIndex { "/?".contains($0) } ?? rest.endIndex)...]
  }
}
