package import AggregatorKit
import Foundation
import Synchronization

/// One connection of a ``LoopbackServer``, on its own thread.
struct LoopbackConnection: ~Copyable {
  private static let headLimit = 64 << 10

  let socket: LoopbackSocket
  let shutdownSignal: ShutdownSignal
  let requestLog: Watched<RequestLog>
  /// The bytes that have arrived and are not read yet.
  var received = Data()

  /// Replies to requests until the client leaves, a reply ends the connection, or the server stops.
  mutating func serve(_ handler: LoopbackServer.Handler) {
    while let request = nextRequest() {
      requestLog.change { $0.begin(request) }
      let goesOn = play(handler(request).steps)
      requestLog.change { $0.inFlight -= 1 }
      guard goesOn, request.header("connection")?.lowercased() != "close" else { return }
    }
  }

  private mutating func nextRequest() -> LoopbackRequest? {
    let blankLine = Data("\r\n\r\n".utf8)
    var end = received.range(of: blankLine)
    while end == nil {
      guard received.count < Self.headLimit, receive() else { return nil }
      // A method begins with a capital letter; a TLS handshake, for instance, does not.
      guard let first = received.first, 0x41...0x5A ~= first else { return nil }
      end = received.range(of: blankLine)
    }
    guard let end, var request = LoopbackRequest(head: received[..<end.lowerBound]) else {
      return nil
    }
    received = Data(received[end.upperBound...])
    while received.count < request.bodyLength {
      guard receive() else { return nil }
    }
    request.body = received.prefix(request.bodyLength)
    received = Data(received.dropFirst(request.bodyLength))
    return request
  }

  /// Returns true if the connection stays open.
  private borrowing func play(_ steps: [LoopbackReply.Step]) -> Bool {
    for step in steps {
      switch step {
      case .send(let data, nil):
        while send(data) {}
        return false
      case .send(let data, let times?):
        for _ in 0..<times { guard send(data) else { return false } }
      case .wait(let time):
        guard shutdownSignal.wait(for: -1, 0, atMost: time) != nil else { return false }
      case .perform(let body): body()
      case .stall:
        // Readable means that the client has left: it sends nothing before it has its reply.
        _ = shutdownSignal.wait(for: socket.descriptor, POLLIN)
        return false
      case .close: return false
      case .reset:
        socket.resetAtClose()
        return false
      }
    }
    return true
  }

  private mutating func receive() -> Bool {
    while shutdownSignal.wait(for: socket.descriptor, POLLIN) != nil {
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      let count = recv(socket.descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      received.append(contentsOf: buffer.prefix(max(0, count)))
      return count > 0
    }
    return false
  }

  private borrowing func send(_ data: Data) -> Bool {
    data.withUnsafeBytes {
      shutdownSignal.send($0, on: socket.descriptor) { count in
        requestLog.change { $0.bytesSent += count }
      }
    }
  }
}

/// Signals all threads of a server to stop: a byte in a pipe that nobody reads.
///
/// Closing the pipe would be no signal while a process that another test started has inherited it.
package final class ShutdownSignal: Sendable {
  /// Readable after ``send()``.
  let descriptor: Int32
  package let writeEnd: Int32
  private let isSent = Mutex(false)

  package init() throws(SourceError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .noSocket }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (descriptor, writeEnd) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Idempotent; after it returns, nothing is sent any more.
  package func send() {
    isSent.withLock { isSent in
      if !isSent { _ = write(writeEnd, [1], 1) }
      isSent = true
    }
  }

  /// `true` if the socket (-1 for none) is ready, `false` after the timeout, `nil` if the server
  /// stops; `events` is `POLLIN`, `POLLOUT`, or 0 to wait for the client to leave.
  package func wait(for socket: Int32, _ events: Int32, atMost time: Duration? = nil) -> Bool? {
    let deadline = time.map { ContinuousClock.now + $0 }
    while true {
      var polled = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket, events: Int16(events), revents: 0),
      ]
      let left = deadline.map { max(.zero, $0 - .now) / Duration.milliseconds(1) }
      let count = poll(&polled, 2, left.map { Int32($0.rounded(.up)) } ?? -1)
      if count < 0, errno == EINTR { continue }
      if count < 0 || polled[0].revents != 0 { return nil }
      return count > 0
    }
  }

  /// Sends bytes on a socket, and reports the count of each piece that was sent.
  ///
  /// - Returns: False if the peer has left or the server stops.
  package func send(
    _ bytes: UnsafeRawBufferPointer, on socket: Int32, didSend: (Int) -> Void = { _ in }
  ) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard wait(for: socket, POLLOUT) != nil else { return false }
      let piece = UnsafeRawBufferPointer(rebasing: rest)
      // Under the lock of the signal: it may have been sent since the wait.
      let count = isSent.withLock { isSent -> Int in
        guard !isSent else { return 0 }
        let count = Foundation.send(
          socket, piece.baseAddress, piece.count, SocketConstants.sendFlags)
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : max(count, 0)
      }
      if count < 0 { continue }
      guard count > 0 else { return false }
      didSend(count)
      rest = rest.dropFirst(count)
    }
    return true
  }
}

extension SourceError {
  /// The error of the last system call.
  static var noSocket: SourceError {
    SourceError(
      .unreachable,
      "cannot create a socket for the test server: \(String(cString: strerror(errno)))")
  }
}
