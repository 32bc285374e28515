import AggregatorFakeServices
import AggregatorKit
import AggregatorPostgresServer
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Running servers with one store in PostgreSQL.
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
    try await withServers(2) { servers, database in
      try await body(servers[0], servers[1], database)
    }
  }

  /// - Parameter files: Files for the working directory of each server.
  private func withServers(
    _ count: Int, _ options: String = "", files: [String: String] = [:],
    _ body: ([ServingProgram], PostgresDatabase) async throws -> Void
  ) async throws {
    try await withDatabase { database in
      let settings = heroes.settings.merging([
        "AGGREGATOR_STORE": database.uri, "COMIC_VINE_PAGE_SIZE": "10",
      ]) { $1 }
      let homes = try (0..<count).map { _ in try TestHome(settings) }
      var servers: [ServingProgram] = []
      for home in homes {
        for (name, text) in files { try home.sandbox.write(text, to: "work/\(name)") }
        servers.append(
          try await ServingProgram(
            "--source heroes \(options)", environment: home.environment, in: home.sandbox))
      }
      try await body(servers, database)
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

  private func ids(in page: JSON) -> [String] {
    (page["items"]?.list ?? []).map { $0["id"]?.text ?? "" }
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

  /// Each request goes to another server, as from a balancer.
  @Test func `a browser does not notice which of three servers answers`() async throws {
    let secret = String(repeating: "0123456789abcdef", count: 2)
    let files = ["secrets": "my-own-token-0123\n\(secret)\n"]
    let options = "--token-file secrets --host https://heroes.example"
    try await withServers(3, options, files: files) { servers, _ in
      var turn = 0
      var browser = ["Host": "heroes.example", "Authorization": ""]
      func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:]
      ) async throws -> ServingProgram.Reply {
        turn += 1
        let server = servers[turn % servers.count]
        return try await server.send(method, path, browser.merging(headers) { $1 })
      }
      func names() async throws -> [String] {
        var lists: [String] = []
        for _ in servers {
          let list = try await send("GET", "/api/v1/heroes?cache=offline&limit=5").json()
          lists.append(ids(in: list).joined(separator: " "))
        }
        return lists
      }
      let exchange = try await send("GET", "/?token=my-own-token-0123")
      let cookie = try #require(exchange.header("Set-Cookie"))
      browser["Cookie"] = String(cookie.prefix { $0 != ";" })

      // A sync that one begins is shown by all of them, and its records are in all lists.
      let own = ["Origin": "https://heroes.example", "Accept": "application/json"]
      #expect(try await send("POST", Self.path, own).status == 202)
      for _ in servers {
        var state: String?
        while state != "done" {
          let jobs = try await send("GET", Self.path).json()["items"]?.list
          state = jobs?.first?["state"]?.word
          try #require(["running", "done"].contains(state))
        }
      }
      let before = try await names()
      #expect(Set(before).count == 1 && !before[0].isEmpty, "\(before)")

      // A deletion holds for each of them at once, and so does its end.
      let id = try #require(before[0].split(separator: " ").first.map(String.init))
      let deletion = try await send("POST", "/sources/heroes/\(id)/delete", own)
      #expect(deletion.status == 303, "\(deletion.text)")
      let after = try await names()
      #expect(Set(after).count == 1 && !after[0].hasPrefix("\(id) "), "\(after)")
      #expect(try await send("POST", "/sources/heroes/\(id)/restore", own).status == 303)
      #expect(try await names() == before)

      // A cursor of one leads on at the next, and no page is missing.
      var all: [String] = []
      var next: String? = ""
      while let cursor = next {
        let page = try await send("GET", "/api/v1/heroes?cache=offline&limit=100\(cursor)").json()
        all += ids(in: page)
        next = page["page"]?["next"]?.word.map { "&cursor=\($0)" }
      }
      #expect(all.count == 257 && Set(all).count == 257)
      for server in servers { try await server.stop() }
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
