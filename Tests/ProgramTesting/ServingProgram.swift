import AggregatorKit
import Foundation
import Testing

/// `aggregator serve` as a running program, and a client of it.
struct ServingProgram {
  struct Reply {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    func json() throws -> JSON { try JSONDecoder().decode(JSON.self, from: body) }

    func header(_ name: String) -> String? {
      headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }

  let run: Binary.Run
  let port: Int
  /// `nil` without one.
  let token: String?
  /// The first line that the program printed.
  let address: String

  /// Starts it on a free port, and waits until it listens.
  init(
    _ options: String = "", environment: [String: String?] = [:], in sandbox: Sandbox? = nil,
    by program: [String] = []
  ) async throws {
    let pipe = try ProgramPipe()
    run = try Binary.start(
      "serve --port 0 \(options)", environment: environment, in: sandbox,
      output: .descriptor(pipe.writeEnd), by: program)
    pipe.close(pipe.writeEnd)
    let line = String(decoding: await pipe.firstBytes(atMost: 1000), as: UTF8.self)
    address = String(line.prefix { $0 != "\n" })
    guard
      let match = address.wholeMatch(
        of: /http:\/\/[^:\/]+:([0-9]+)(?:\/\?token=([-0-9a-zA-Z]+))?/)
    else {
      run.child.send(SIGTERM)
      Issue.record("not started: \(line) \(try await run.outcome().errors)")
      throw POSIXError(.ECONNREFUSED)
    }
    port = try #require(Int(match.1))
    token = match.2.map(String.init)
  }

  /// Ends it by a signal.
  @discardableResult func stop(by signal: Int32 = SIGTERM) async throws -> Outcome {
    run.child.send(signal)
    return try await run.outcome()
  }

  /// Sends a request, with the token unless `headers` contain `Authorization` or a cookie.
  func send(
    _ method: String = "GET", _ path: String, _ headers: [String: String] = [:], body: String = ""
  ) async throws -> Reply {
    var fields = ["Host": "127.0.0.1:\(port)", "Connection": "close"]
    if let token { fields["Authorization"] = "Bearer \(token)" }
    if headers["Cookie"] != nil { fields["Authorization"] = nil }
    fields.merge(headers) { $1 }
    let head = fields.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }
      .map { "\($0.key): \($0.value)\r\n" }.joined()
    let length = method == "POST" ? "Content-Length: \(body.utf8.count)\r\n" : ""
    let bytes = try await exchange("\(method) \(path) HTTP/1.1\r\n\(head)\(length)\r\n\(body)")
    return try Reply(received: bytes)
  }

  func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Reply {
    try await send("GET", path, headers)
  }

  /// Sends a body of JSON, unless `headers` name another type.
  func post(
    _ path: String, _ body: String, _ headers: [String: String] = [:]
  ) async throws -> Reply {
    let type = ["Content-Type": "application/json"]
    return try await send("POST", path, type.merging(headers) { $1 }, body: body)
  }

  /// Sends a request, and reads until the server closes the connection, on a thread of its own.
  private func exchange(_ request: String) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [port] in
        continuation.resume(with: Result { try Self.exchange(request, port) })
      }
    }
  }

  private static func exchange(_ request: String, _ port: Int) throws -> Data {
    let descriptor = try connected(to: port)
    defer { close(descriptor) }
    let bytes = Array(request.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw POSIXError(.EPIPE) }
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
      received += buffer[..<count]
    }
    return received
  }

  /// A connected socket, which the caller closes.
  static func connected(to port: Int) throws -> Int32 {
    #if canImport(Darwin)
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECONNREFUSED) }
    return descriptor
  }
}

extension ServingProgram.Reply {
  fileprivate init(received: Data) throws {
    let end = try #require(received.range(of: Data("\r\n\r\n".utf8)), "no response")
    let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(
      separator: "\r\n")
    status = try #require(Int(lines[0].split(separator: " ")[1]))
    headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
    }
    var rest = received[end.upperBound...]
    guard headers.contains(where: { $0.name.lowercased() == "transfer-encoding" }) else {
      body = Data(rest)
      return
    }
    var body = Data()
    while let line = rest.range(of: Data("\r\n".utf8)),
      let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16),
      count > 0, rest.distance(from: line.upperBound, to: rest.endIndex) >= count + 2
    {
      body += rest[line.upperBound..<line.upperBound + count]
      rest = rest[(line.upperBound + count + 2)...]
    }
    self.body = body
  }
}
