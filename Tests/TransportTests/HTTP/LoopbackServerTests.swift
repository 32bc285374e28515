import AggregatorKit
import Foundation
import Testing

@testable import AggregatorSourceTesting

@Suite(.timeLimit(.minutes(10)))
struct LoopbackServerTests {
  @Test func `ends with stop, and closes all connections`() async throws {
    let server = try LoopbackServer { _ in .stalled }
    let waiting = Task { await server.requests(atLeast: 2).count }
    let asking = Task { try await HTTPTransport().send(HTTPRequest(.get, server.baseURL)) }
    _ = await server.requests(atLeast: 1)
    server.stop()
    #expect(await waiting.value == 1)
    let error = await #expect(throws: SourceError.self) { try await asking.value }
    #expect(error?.code == .connectionLost)
    server.stop()
  }

  @Test func `keeps its port after it has stopped`() async throws {
    let server = try LoopbackServer { _ in .json("{}") }
    server.stop()
    #expect(await code(of: server) == .unreachable)
    #expect(!isFree(port: server.port))
  }

  @Test func `accepts no connection after stop, whether its thread has run or not`() async throws {
    for _ in 0..<50 {
      let server = try LoopbackServer { _ in .json("{}") }
      server.stop()
      #expect(await code(of: server) == .unreachable)
      #expect(server.connectionCount == 0)
    }
  }

  @Test func `stops even if another process has inherited its signal`() throws {
    let signal = try ShutdownSignal()
    let inherited = dup(signal.writeEnd)
    defer { close(inherited) }
    #expect(signal.wait(for: -1, 0, atMost: .zero) == false)
    signal.send()
    #expect(signal.wait(for: -1, 0, atMost: .zero) == nil)
  }

  @Test func `stops when it is released`() async throws {
    var server: LoopbackServer? = try LoopbackServer { _ in .stalled }
    let url = try #require(server?.baseURL)
    let asking = Task { try await HTTPTransport().send(HTTPRequest(.get, url)) }
    _ = await server?.requests(atLeast: 1)
    server = nil
    let error = await #expect(throws: SourceError.self) { try await asking.value }
    #expect(error?.code == .connectionLost)
  }

  @Test func `stops waiting when the task is cancelled`() async throws {
    let server = try LoopbackServer { _ in .json("{}") }
    let waiting = Task { await server.requests(atLeast: 1).count }
    waiting.cancel()
    #expect(await waiting.value == 0)
  }

  @Test func `counts connections and requests in flight`() async throws {
    let server = try LoopbackServer { _ in .stalled }
    let transport = HTTPTransport()
    let tasks = (0..<5).map { _ in
      Task { try await transport.send(HTTPRequest(.get, server.baseURL)) }
    }
    _ = await server.requests(atLeast: 5)
    #expect(server.mostInFlight == 5)
    #expect(server.connectionCount == 5)
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
  }

  @Test func `fails at the end of its script`() async throws {
    try await withServer(replies: .json("{}")) { server in
      let transport = HTTPTransport()
      let first = try await transport.send(HTTPRequest(.get, server.baseURL))
      let second = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(first.status == 200)
      #expect(second.status == 500)
    }
  }
}

/// The failure of a request to a server; `nil` if it is answered.
private func code(of server: LoopbackServer) async -> SourceError.Code? {
  do {
    _ = try await HTTPTransport().send(HTTPRequest(.get, server.baseURL))
    return nil
  } catch {
    return error.code
  }
}

/// `true` if another program could bind to a port of 127.0.0.1.
private func isFree(port: Int) -> Bool {
  #if canImport(Darwin)
    let socket = socket(AF_INET, SOCK_STREAM, 0)
  #else
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  #endif
  defer { close(socket) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = UInt16(port).bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}
