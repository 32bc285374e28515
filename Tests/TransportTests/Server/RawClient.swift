import Foundation
import Synchronization

/// A client that sends any bytes, at any pace; its calls wait on threads of their own.
final class RawClient: Sendable {
  struct Response {
    var status: Int
    var head: String
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? {
      let prefix = "\(name.lowercased()): "
      let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
      return line.map { String($0.dropFirst(prefix.count)) }
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let descriptor: Int32
  private let received = Mutex<[UInt8]>([])

  /// Connects to a port of 127.0.0.1.
  init(to port: Int, from address: String = "127.0.0.1", bufferSize: Int32? = nil) throws {
    #if canImport(Darwin)
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    if var bufferSize {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &bufferSize, socklen_t(MemoryLayout<Int32>.size))
    }
    let isConnected =
      Self.withAddress(address, 0) { bind(descriptor, $0, $1) } == 0
      && Self.withAddress("127.0.0.1", port) { connect(descriptor, $0, $1) } == 0
    guard isConnected else {
      let error = errno
      close(descriptor)
      throw Failure(description: "cannot connect: \(String(cString: strerror(error)))")
    }
  }

  deinit { close(descriptor) }

  /// Sends text; returns false if the server has closed the connection.
  @discardableResult
  func send(_ text: String) async -> Bool {
    await onThread { [descriptor] in
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Self.send($0, on: descriptor) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  /// Sends a short text on many connections, as nearly at the same time as possible.
  static func send(_ text: String, on clients: [RawClient]) async {
    await onThread {
      for client in clients {
        _ = Array(text.utf8).withUnsafeBytes { Self.send($0, on: client.descriptor) }
      }
    }
  }

  /// Sends a request and returns its response.
  func get(_ path: String, _ headers: String = "", method: String = "GET") async throws -> Response
  {
    await send("\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(headers)\r\n")
    return try await response(hasBody: method != "HEAD")
  }

  /// The next response, which must have a length.
  func response(hasBody: Bool = true) async throws -> Response {
    let end = Array("\r\n\r\n".utf8)
    let head = try await receive { received in
      received.firstRange(of: end).map { $0.upperBound }
    }
    let text = String(decoding: head, as: UTF8.self)
    guard let status = Int(text.dropFirst("HTTP/1.1 ".count).prefix(3)) else {
      throw Failure(description: "not a response: \(text)")
    }
    var response = Response(status: status, head: text, body: [])
    // The length is that of what is not sent again.
    if hasBody, status != 304, let count = response.header("Content-Length").flatMap({ Int($0) }) {
      response.body = try await receive { $0.count >= count ? count : nil }
    }
    return response
  }

  /// Receives up to and including a text.
  func receive(through text: String) async throws -> String {
    let bytes = Array(text.utf8)
    let received = try await receive { $0.firstRange(of: bytes).map { $0.upperBound } }
    return String(decoding: received, as: UTF8.self)
  }

  /// Waits until the server closes the connection, sending a byte every few milliseconds meanwhile.
  func drip(_ text: String) async {
    await onThread { [descriptor] in
      while true {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 1024)
        if poll(&polled, 1, 5) > 0, recv(descriptor, &buffer, buffer.count, 0) <= 0 { return }
        _ = Array(text.utf8).withUnsafeBytes { Self.send($0, on: descriptor) }
      }
    }
  }

  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Waits until the server closes the connection.
  func waitForClose() async {
    await onThread { [descriptor] in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
    }
  }

  private func receive(_ end: @escaping @Sendable ([UInt8]) -> Int?) async throws -> [UInt8] {
    try await onThread { [descriptor, self] in
      while true {
        let part = received.withLock { received -> [UInt8]? in
          guard let count = end(received) else { return nil }
          defer { received.removeFirst(count) }
          return Array(received.prefix(count))
        }
        if let part { return Result<[UInt8], Failure>.success(part) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return .failure(Failure(description: "the server has left")) }
        received.withLock { $0 += buffer.prefix(count) }
      }
    }.get()
  }

  private static func send(_ bytes: UnsafeRawBufferPointer, on descriptor: Int32) -> Int {
    #if canImport(Darwin)
      Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }

  private static func withAddress(
    _ text: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    inet_pton(AF_INET, text, &address.sin_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}

/// Runs a call that blocks, on a thread of its own, because tasks share few threads.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
