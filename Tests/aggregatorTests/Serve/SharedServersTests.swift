import AggregatorFakeServices
import AggregatorKit
import AggregatorPostgresServer
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Two running servers with one store in PostgreSQL.
@Suite(
  .requiresPostgres, .timeLimit(.minutes(10)),
  .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct SharedServersTests {
  private static let path = "/api/v1/sync/heroes"

  private let heroes: FakeComicVine

  init() throws { heroes = try FakeComicVine() }

  private func withServers(
    _ body: (_ a: ServingProgram, _ b: ServingProgram, PostgresDatabase) async throws -> Void
  ) async throws {
    try await withDatabase { database in
      let settings = heroes.settings.merging([
        "AGGREGATOR_STORE": database.uri, "COMIC_VINE_PAGE_SIZE": "10",
      ]) { $1 }
      let homes = [try TestHome(settings), try TestHome(settings)]
      var servers: [ServingProgram] = []
      for home in homes {
        servers.append(
          try await ServingProgram(
            "--source heroes", environment: home.environment, in: home.sandbox))
      }
      try await body(servers[0], servers[1], database)
    }
  }

  /// Starts the sync without following it.
  private func start(_ server: ServingProgram) async throws -> Int {
    try await server.send("POST", Self.path, ["Accept": "application/json"]).status
  }

  /// The job, as a server shows it, once it is as wanted; `act` is run before each look.
  private func job(
    of server: ServingProgram, where isWanted: (JSON) -> Bool,
    before act: () async throws -> Void = {}
  ) async throws -> JSON {
    while true {
      try await act()
      let reply = try await server.get(Self.path)
      if let job = try reply.json()["items"]?.list.first, isWanted(job) { return job }
    }
  }

  private func isRunning(_ job: JSON) -> Bool {
    job["state"]?.word == "running"
  }

  /// The events of the job, as they arrive.
  private func events(of server: ServingProgram) throws -> AsyncStream<String> {
    let descriptor = try ServingProgram.connected(to: server.port)
    let request = Array(
      """
      GET \(Self.path) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\
      Authorization: Bearer \(server.token ?? "")\r\nAccept: text/event-stream\r\n\
      Connection: close\r\n\r\n
      """.utf8)
    #expect(write(descriptor, request, request.count) == request.count)
    let (pieces, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while case let count = read(descriptor, &bytes, bytes.count), count > 0 {
        continuation.yield(String(decoding: bytes.prefix(count), as: UTF8.self))
      }
      close(descriptor)
      continuation.finish()
    }
    return pieces
  }

  @Test func `a sync of one is listed, followed and cancelled by the other`() async throws {
    try await withServers { a, b, _ in
      heroes.fail(with: .stalled, after: 3)
      #expect(try await start(a) == 202)
      _ = await heroes.requests(atLeast: 3)
      let running = try await job(of: b, where: isRunning)
      let worker = try #require(running["worker"]?.word)
      #expect(worker.hasSuffix(":\(a.run.child.id)"), "\(worker)")
      // The other one does not begin it again.
      #expect(try await start(b) == 202)
      #expect(try await job(of: b, where: isRunning)["worker"]?.word == worker)

      var text = ""
      var isCancelled = false
      for await piece in try events(of: b) {
        text += piece
        guard !isCancelled, text.contains("event: progress") else { continue }
        isCancelled = true
        #expect(try await b.send("DELETE", Self.path).status == 204)
      }
      #expect(text.contains("event: error"), "\(text)")
      #expect(text.contains("\"code\":\"cancelled\""), "\(text)")
      for server in [a, b] {
        let job = try await job(of: server) { $0["state"]?.word != "running" }
        #expect(job["state"]?.word == "cancelled", "\(job.text)")
      }
      #expect(try await b.send("DELETE", Self.path).status == 404)
      try await a.stop()
      try await b.stop()
    }
  }

  @Test func `a sync whose server is killed is interrupted, and the other one resumes it`()
    async throws
  {
    try await withServers { a, b, database in
      heroes.fail(with: .stalled, after: 3)
      #expect(try await start(a) == 202)
      _ = await heroes.requests(atLeast: 3)
      _ = try await job(of: b, where: isRunning)
      try await a.stop(by: SIGKILL)
      #expect(try await job(of: b) { _ in true }["state"]?.word == "running")
      // As if the lease of the job, and those of its pages, had passed; what the killed one sent last may arrive later.
      let interrupted = try await job(of: b) { job in
        job["state"]?.word != "running"
      } before: {
        _ = try await database.run(
          """
          UPDATE aggregator_store.shared
          SET value = regexp_replace(value, '"updatedAt":[0-9]+', '"updatedAt":1')
          WHERE key = 'serve/syncs'
          """,
          """
          UPDATE aggregator_store.checkpoints SET value = regexp_replace(value, '"e":[0-9]+', '"e":1', 'g')
          WHERE name <> 'scope'
          """)
      }
      #expect(interrupted["state"]?.word == "interrupted", "\(interrupted.text)")
      #expect(interrupted["error"]?["code"]?.word == "interrupted", "\(interrupted.text)")

      heroes.recover()
      #expect(try await start(b) == 202)
      let done = try await job(of: b) { $0["state"]?.word != "running" }
      #expect(done["state"]?.word == "done", "\(done.text)")
      #expect(done["result"]?["complete"] == true, "\(done.text)")
      #expect(done["worker"]?.word?.hasSuffix(":\(b.run.child.id)") == true, "\(done.text)")
      #expect(done["result"]?["records"] == 257, "\(done.text)")
      try await b.stop()
    }
  }
}

extension JSON {
  fileprivate var word: String? {
    if case .string(let text) = self { text } else { nil }
  }

  fileprivate var list: [JSON] {
    if case .array(let elements) = self { elements } else { [] }
  }
}
