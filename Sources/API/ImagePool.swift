import AggregatorKit
package import AggregatorServer
import Synchronization

/// The fetches of images by a server: few at a time, so that a slow host of images keeps nothing else waiting.
///
/// Requests that find no room wait in their order, and a bounded number of them: each holds the connection of a client.
package final class ImagePool: Sendable {
  private typealias Waiter = CheckedContinuation<Result<Void, SourceError>, Never>

  private struct State {
    var running = 0
    var lastNumber = 0
    var waiting: [(number: Int, waiter: Waiter)] = []
  }

  /// The most fetches at a time: a quarter of the connections that libcurl opens to a host, which may be the service's own.
  private let width: Int
  private let maxWaiting: Int
  private let state = Mutex(State())

  /// A pool that leaves half of the connections of a client to other requests.
  package convenience init(for limits: ServerLimits) {
    self.init(
      width: min(8, max(1, limits.connectionsPerAddress / 4)),
      maxWaiting: limits.connectionsPerAddress / 3)
  }

  package static var standard: ImagePool { ImagePool(for: .standard) }

  init(width: Int, maxWaiting: Int) {
    self.width = width
    self.maxWaiting = maxWaiting
  }

  /// A transport that fetches in this pool.
  ///
  /// Beyond its bounds calls fail with code `busy`.
  func transport(_ base: any Transport) -> any Transport { PooledTransport(base: base, pool: self) }

  var waitingCount: Int { state.withLock(\.waiting.count) }

  fileprivate func enter() async throws(SourceError) {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let entry = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        if let answer = join(as: number, waiter) { waiter.resume(returning: answer) }
        // The cancellation handler may have run before the waiter was added.
        if Task.isCancelled { abandon(number) }
      }
    } onCancel: {
      abandon(number)
    }
    try entry.get()
  }

  /// The answer, unless the call has to wait.
  private func join(as number: Int, _ waiter: Waiter) -> Result<Void, SourceError>? {
    state.withLock { state in
      if state.running < width {
        state.running += 1
        return .success(())
      }
      guard state.waiting.count < maxWaiting else {
        return .failure(
          SourceError(.busy, "too many images are being loaded", retryAfter: .seconds(2)))
      }
      state.waiting.append((number, waiter))
      return nil
    }
  }

  private func abandon(_ number: Int) {
    let waiter = state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).waiter }
    }
    waiter?.resume(returning: .failure(.cancelled))
  }

  fileprivate func leave() {
    let next = state.withLock { state -> Waiter? in
      guard !state.waiting.isEmpty else {
        state.running -= 1
        return nil
      }
      return state.waiting.removeFirst().waiter
    }
    next?.resume(returning: .success(()))
  }
}

private struct PooledTransport: Transport {
  let base: any Transport
  let pool: ImagePool

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await pool.enter()
    defer { pool.leave() }
    return try await base.send(request)
  }
}
