import Core
import Foundation
import SourceTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LoopbackServerTests {
  @Test func `ends with stop, and lets go of everybody`() async throws {
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

  @Test func `ends when nobody holds it`() async throws {
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

  @Test func `says when its script is at an end`() async throws {
    try await withServer(replies: .json("{}")) { server in
      let transport = HTTPTransport()
      let first = try await transport.send(HTTPRequest(.get, server.baseURL))
      let second = try await transport.send(HTTPRequest(.get, server.baseURL))
      #expect(first.status == 200)
      #expect(second.status == 500)
    }
  }
}
