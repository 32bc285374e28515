public import AggregatorCore
public import AggregatorFoundation

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
      return response
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
