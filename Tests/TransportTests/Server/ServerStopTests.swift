import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
struct ServerStopTests {
  @Test func `finishes requests in flight and closes idle connections`() async throws {
    let gate = Gate()
    let server = try HTTPServer(on: "localhost", port: 0) { request in
      if request.path == ["slow"] { try? await gate.pass() }
      return .text("done")
    }
    let idle = try RawClient(to: server.port)
    _ = try await idle.get("/")
    let busy = try RawClient(to: server.port)
    await busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    await gate.holds(1)
    async let stopped: Void = server.stop(within: .seconds(600))
    await idle.waitForClose()  // so it is stopping
    gate.open()
    let response = try await busy.response()
    #expect(response.text == "done")
    #expect(response.header("Connection") == "close")
    await busy.waitForClose()
    await stopped
    #expect(throws: (any Error).self) { try RawClient(to: server.port) }
  }

  @Test func `abandons requests that take too long`() async throws {
    let begun = Counter()
    let end = Counter()
    let server = try HTTPServer(on: "localhost", port: 0) { _ in
      begun.add()
      await Task { await end.reaches(1) }.value  // ignores cancellation
      return .text("too late")
    }
    let client = try RawClient(to: server.port)
    await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await begun.reaches(1)
    await server.stop(within: .zero)
    await client.waitForClose()
    end.add()
  }

  @Test func `ends event streams at once`() async throws {
    let ended = Counter()
    let server = try HTTPServer(on: "localhost", port: 0) { _ in
      let (events, continuation) = AsyncStream<ServerSentEvent>.makeStream()
      continuation.yield(ServerSentEvent(data: "hello"))
      continuation.onTermination = { _ in ended.add() }
      return ServerResponse(events: events)
    }
    let client = try RawClient(to: server.port)
    await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    _ = try await client.receive(through: "data: hello\n\n")
    await server.stop(within: .seconds(600))
    await client.waitForClose()
    await ended.reaches(1)
  }

  @Test func `frees the port`() async throws {
    let first = try HTTPServer(on: "localhost", port: 0) { _ in .text("first") }
    let client = try RawClient(to: first.port)
    _ = try await client.get("/")
    await first.stop(within: .zero)
    await first.stop(within: .zero)  // does nothing
    let second = try HTTPServer(on: "localhost", port: first.port) { _ in .text("second") }
    #expect(try await RawClient(to: second.port).get("/").text == "second")
    await second.stop(within: .zero)
  }

  @Test func `leaves no descriptor open after 1000 requests`() async throws {
    let server = try HTTPServer(on: "localhost", port: 0) { request in
      if request.path == ["events"] {
        return ServerResponse(
          events: AsyncStream { continuation in
            continuation.yield(ServerSentEvent(data: "1"))
            continuation.finish()
          })
      }
      return .text("ok")
    }
    #expect(Descriptors.count(ofPort: server.port) == 1)  // it listens
    for number in 0..<200 {
      let client = try RawClient(to: server.port)
      #expect(try await client.get("/1").status == 200)
      #expect(try await client.get("/%").status == 400)
      #expect(try await client.get("/2").status == 200)
      #expect(try await client.get("/3", method: "HEAD").status == 200)
      await client.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
      if number % 2 == 0 { _ = try await client.receive(through: "\r\n0\r\n\r\n") }
    }
    await server.stop(within: .seconds(600))
    #expect(Descriptors.count(ofPort: server.port) == 0)
  }
}

/// The open descriptors of this process, which other tests use too.
private enum Descriptors {
  /// The count of sockets whose own port this is.
  static func count(ofPort port: Int) -> Int {
    (0..<Int32(getdtablesize())).count { descriptor in
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
      }
      return result == 0 && Int32(address.sin_family) == AF_INET
        && Int(UInt16(bigEndian: address.sin_port)) == port
    }
  }
}
