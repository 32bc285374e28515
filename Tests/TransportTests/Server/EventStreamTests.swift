import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
struct EventStreamTests {
  private typealias Events = AsyncStream<ServerSentEvent>
  private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test func `sends events as they come, and keeps the connection`() async throws {
    let (events, continuation) = Events.makeStream()
    try await withHTTPServer { request in
      request.path == ["text"] ? .text("ok") : ServerResponse(events: events)
    } do: { server in
      let client = try RawClient(to: server.port)
      await client.send(Self.request)
      let head = try await client.receive(through: "\r\n\r\n")
      #expect(head.contains("Content-Type: text/event-stream\r\n"))
      #expect(head.contains("Cache-Control: no-store\r\n"))
      continuation.yield(ServerSentEvent("progress", data: "1\n2\r\n3"))
      let first = try await client.receive(through: "data: 3\n\n")
      #expect(first.contains("event: progress\ndata: 1\ndata: 2\ndata: 3\n\n"))
      continuation.yield(ServerSentEvent("bad\nname", data: ""))
      let second = try await client.receive(through: "data: \n\n")
      #expect(second.contains("event: badname\ndata: \n\n"))
      continuation.finish()
      _ = try await client.receive(through: "\r\n0\r\n\r\n")
      #expect(try await client.get("/text").text == "ok")
    }
  }

  @Test func `sends what was produced before the stream ended`() async throws {
    try await withHTTPServer { _ in
      ServerResponse(
        events: Events { continuation in
          for number in 0..<5000 { continuation.yield(ServerSentEvent(data: "\(number)")) }
          continuation.finish()
        })
    } do: { server in
      let client = try RawClient(to: server.port)
      await client.send(Self.request)
      let text = try await client.receive(through: "\r\n0\r\n\r\n")
      #expect(text.contains("data: 0\n\n"))
      #expect(text.contains("data: 4999\n\n"))
    }
  }

  @Test func `ends when the client leaves`() async throws {
    let ended = Counter()
    try await withHTTPServer { _ in
      let (events, continuation) = Events.makeStream()
      continuation.onTermination = { _ in ended.add() }
      continuation.yield(ServerSentEvent(data: "hello"))
      return ServerResponse(events: events)
    } do: { server in
      do {
        let client = try RawClient(to: server.port)
        await client.send(Self.request)
        _ = try await client.receive(through: "data: hello\n\n")
      }
      await ended.reaches(1)
    }
  }

  @Test func `ends when the client does not read`() async throws {
    var limits = ServerLimits.standard
    limits.response = .milliseconds(200)
    let ended = Counter()
    try await withHTTPServer(limits: limits) { _ in
      let (events, continuation) = Events.makeStream()
      continuation.onTermination = { _ in ended.add() }
      let text = String(repeating: "a", count: 10_000)
      for _ in 0..<1000 { continuation.yield(ServerSentEvent(data: text)) }
      return ServerResponse(events: events)
    } do: { server in
      let client = try RawClient(to: server.port, bufferSize: 4096)
      await client.send(Self.request)
      await ended.reaches(1)
      withExtendedLifetime(client) {}
    }
  }

  @Test func `limits the number of streams`() async throws {
    var limits = ServerLimits.standard
    limits.eventStreams = 2
    let ended = Counter()
    try await withHTTPServer(limits: limits) { _ in
      let (events, continuation) = Events.makeStream()
      continuation.onTermination = { _ in ended.add() }
      continuation.yield(ServerSentEvent(data: "hello"))
      return ServerResponse(events: events)
    } do: { server in
      let clients = [try RawClient(to: server.port), try RawClient(to: server.port)]
      for client in clients {
        await client.send(Self.request)
        _ = try await client.receive(through: "data: hello\n\n")
      }
      let refused = try await RawClient(to: server.port).get("/")
      #expect(refused.status == 503)
      #expect(refused.header("Retry-After") == "10")
      await ended.reaches(1)  // that of the refused one
      withExtendedLifetime(clients) {}
    }
  }

  @Test func `answers HEAD without opening a stream`() async throws {
    var limits = ServerLimits.standard
    limits.eventStreams = 0
    try await withHTTPServer(limits: limits) { _ in
      ServerResponse(events: Events { $0.yield(ServerSentEvent(data: "hello")) })
    } do: { server in
      let head = try await RawClient(to: server.port).get("/", method: "HEAD")
      #expect(head.status == 200)
      #expect(head.header("Content-Type") == "text/event-stream")
    }
  }
}
