public import AggregatorCore
public import Foundation
import Synchronization

/// Answers requests from a ``Recording``; it opens no socket.
///
/// A request is answered by the first recording of the same request that has not answered yet, so
/// that identical requests are answered in the order in which they were recorded; the last one answers
/// from then on. Requests are the same if they have the same method, the same address, the same query
/// in any order, where secrets do not count, and the same body, where white space in JSON does not
/// count. A request that was not recorded fails with `notRecorded`, for which nothing falls back.
public final class ReplayingTransport: Transport {
  /// What the calendar says: the time of the latest exchange that was replayed, before the first one that
  /// of the whole recording, and what has passed since on the ``clock``.
  public var now: @Sendable () -> Date { { [time] in time.now } }

  /// What waits and measures: waits inside of calls take no time.
  public let clock = ReplayClock()

  private let recording: Recording
  private let time: ExchangeTime
  /// Which recordings have answered.
  private let used = Mutex<Set<Int>>([])

  /// A transport that replays.
  ///
  /// - Parameter recording: What answers.
  public init(_ recording: Recording) {
    self.recording = recording
    time = ExchangeTime(from: recording.recordedAt, before: { Date() }, on: clock)
  }

  /// Answers a request as it was answered when it was recorded.
  ///
  /// - Parameter request: What is asked.
  /// - Returns: The recorded reply.
  /// - Throws: The recorded failure, or ``SourceError``: `notRecorded`, or `cancelled`.
  public func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    guard !Task.isCancelled else { throw .cancelled }
    let observer = Observer.current
    let asked = RecordedRequest(request)
    observer(.sent(method: asked.method.rawValue, address: asked.address))
    do throws(SourceError) {
      let exchange = try take(asked)
      time.advance(to: exchange.time)
      let response = try await replay(exchange.outcome)
      observer(
        .received(
          status: response.status, bytes: response.body.count, after: .zero, address: asked.address)
      )
      return response
    } catch {
      observer(.lost(error, after: .zero, address: asked.address))
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
      throw SourceError(.timedOut, "no answer, as when it was recorded")
    }
  }

  /// The recording that answers.
  private func take(_ request: RecordedRequest) throws(SourceError) -> RecordedExchange {
    let matches = recording.exchanges.indices.filter {
      request.differences(from: recording.exchanges[$0].exchange.request).isEmpty
    }
    let index = used.withLock { used in
      let index = matches.first { !used.contains($0) } ?? matches.last
      if let index { used.insert(index) }
      return index
    }
    guard let index else { throw recording.missing(request) }
    return recording.exchanges[index].exchange
  }
}
