package import AggregatorCore
import AggregatorFoundation
import Synchronization

/// The body of a successful response (200 or 206) while it arrives, for a request that has one as its
/// ``HTTPRequest/responseStream``.
///
/// The engine pauses the transfer while the stream is full, so that a slow reader needs no more memory than a fast one. All
/// other responses are returned whole, as without a stream. Bytes are those that the service sent: they are neither
/// decompressed nor free of secrets, because then a range of them would begin somewhere else. Whoever shows them removes the
/// ``secrets``.
///
/// A stream has one response and one reader, which ends the transfer sooner by cancelling the task that sends the request.
package final class ResponseStream: Sendable {
  private struct State {
    var head: HTTPResponse?
    var secrets: [Secret] = []
    var bytes: [UInt8] = []
    var count = 0
    var hasEnded = false
    /// Continues the transfer; `nil` if it is not paused.
    var resume: (@Sendable () -> Void)?
  }

  /// The most bytes that wait for the reader.
  private static let capacity = 512 << 10

  private let state = Mutex(State())
  private let wakeup = Wakeup()

  package init() {}

  /// The secrets of the request, which the service may repeat anywhere.
  package var secrets: [Secret] { state.withLock(\.secrets) }

  /// The number of bytes that have arrived.
  var count: Int { state.withLock(\.count) }

  // MARK: - Reading

  /// The status and the header fields, without secrets; `nil` if the request ends without a successful response.
  package func head() async -> HTTPResponse? {
    while !Task.isCancelled {
      let (head, hasEnded) = state.withLock { ($0.head, $0.hasEnded) }
      if head != nil || hasEnded { return head }
      await wakeup.wait()
    }
    return nil
  }

  /// The bytes that have arrived since the last call; `nil` at the end of the transfer, whether it was complete or not.
  package func next() async -> [UInt8]? {
    while !Task.isCancelled {
      var bytes: [UInt8] = []
      let (hasEnded, resume) = state.withLock { state in
        swap(&bytes, &state.bytes)
        defer { state.resume = nil }
        return (state.hasEnded, state.resume)
      }
      resume?()
      if !bytes.isEmpty { return bytes }
      if hasEnded { return nil }
      await wakeup.wait()
    }
    return nil
  }

  /// Ends the stream, once the request has ended.
  package func finish() {
    state.withLock { $0.hasEnded = true }
    wakeup.signal()
  }

  // MARK: - Writing

  func hide(_ secrets: [Secret]) {
    state.withLock { state in
      state.secrets += secrets.filter { !state.secrets.contains($0) }
    }
  }

  /// Begins the body of a response; false if that is not successful, or not the first one.
  func begin(_ response: HTTPResponse) -> Bool {
    let begins = state.withLock { state in
      guard [200, 206].contains(response.status), state.head == nil else { return false }
      state.head = SecretScanner(state.secrets).redacted(response)
      return true
    }
    wakeup.signal()
    return begins
  }

  /// Takes bytes of the body; if there is no room for them, returns false, and calls `resume` when there is some.
  func receive(
    _ bytes: UnsafeRawBufferPointer, orResume resume: @escaping @Sendable () -> Void
  ) -> Bool {
    let isTaken = state.withLock { state in
      guard state.bytes.isEmpty || state.bytes.count + bytes.count <= Self.capacity else {
        state.resume = resume
        return false
      }
      state.bytes += bytes
      state.count += bytes.count
      return true
    }
    wakeup.signal()
    return isTaken
  }

  /// Takes the body of a response that was received whole; returns the response without it.
  func taking(_ response: HTTPResponse) -> HTTPResponse {
    var head = response
    head.body = Data()
    if head.header("content-encoding") != nil {
      // The engine has decompressed the body.
      head.headers.removeAll { ["content-encoding", "content-length"].contains($0.name) }
    }
    guard begin(head) else { return response }
    _ = response.body.withUnsafeBytes { receive($0) {} }
    return head
  }
}

/// Wakes a task; a signal that no task waits for is kept for the next one that does.
struct Wakeup: Sendable {
  private let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func signal() { continuation.yield() }

  /// Waits for a signal or the cancellation of the task, after which no signal arrives any more.
  func wait() async { for await _ in signals { return } }
}
