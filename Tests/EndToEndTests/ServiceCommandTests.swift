import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// A service whose lists are sources, used by several processes.
@Suite(.timeLimit(.minutes(10))) struct ServiceCommandTests {
  /// A service with eight pages of each list, that refuses the 17th request in any second: twice the rate, because requests
  /// that left one after the other may arrive together on a busy machine.
  private final class Limit: Sendable {
    private let times = Mutex<[ContinuousClock.Instant]>([])

    func reply(to request: LoopbackRequest) -> LoopbackReply {
      let now = ContinuousClock.now
      let recent = times.withLock { times in
        times.append(now)
        return times.count { now - $0 < .seconds(1) }
      }
      guard recent <= 16 else { return .status(429, "slow down", headers: [("Retry-After", "1")]) }
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = page <= 8 ? "{\"id\": \(page)}" : ""
      return .json("{\"data\": [\(rows)]}")
    }
  }

  private static func service(at server: LoopbackServer, _ members: String = "") -> String {
    """
    {"service": {"base": "\(server.baseURL)/v3", "rate": "8/s", "rows": "data", "id": "id", "page": "page=1"\(members)},
     "resources": {"a": {"url": "/a"}, "b": {"url": "/b"}, "c": {"url": "/c"}, "d": {"url": "/d"}}}
    """
  }

  private func home(
    _ server: LoopbackServer, _ settings: [String: String?] = [:], members: String = ""
  ) throws -> TestHome {
    let home = try TestHome(settings)
    try home.sandbox.write(
      Self.service(at: server, members), to: home.manifestPath("crm.json"))
    try home.sandbox.write(
      #"{"url": "\#(server.baseURL)/e", "rate": "9/s", "rows": "data", "id": "id", "page": "page=1"}"#,
      to: home.manifestPath("separate.json"))
    return home
  }

  private static let lists = ["crm-a", "crm-b", "crm-c", "crm-d", "separate"]

  private func syncAll(_ homes: [TestHome]) async throws -> [Outcome] {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      for (index, list) in Self.lists.enumerated() {
        group.addTask { try await homes[index % homes.count].run("\(list) sync") }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func expectSharedRate(_ homes: [TestHome], _ server: LoopbackServer) async throws {
    let begin = ContinuousClock.now
    let outcomes = try await syncAll(homes)
    #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes)")
    // No request was sent again.
    #expect(server.requests.count == 45)
    // At most eight at once, and then eight in a second.
    #expect(.now - begin > .seconds(4))
  }

  @Test func `five syncs at once keep the rate of their service`() async throws {
    let limit = Limit()
    let server = try LoopbackServer { limit.reply(to: $0) }
    try await expectSharedRate([try home(server)], server)
  }

  @Test(.requiresPostgres) func `so do machines that share a store`() async throws {
    try await withDatabase { database in
      let limit = Limit()
      let server = try LoopbackServer { limit.reply(to: $0) }
      let homes = try (0..<2).map { _ in try home(server, ["AGGREGATOR_STORE": database.uri]) }
      try await expectSharedRate(homes, server)
    }
  }

  @Test func `a pause that two lists were told holds for the others`() async throws {
    let server = try LoopbackServer { _ in
      .status(429, "slow down", headers: [("Retry-After", "3600")])
    }
    let home = try home(server)
    for list in Self.lists {
      let outcome = try await home.run("\(list) list --no-fallback")
      #expect(outcome.status == 75, "\(outcome)")
      #expect(outcome.errors.contains("rate limited"), "\(outcome)")
    }
    #expect(server.requests.count == 2)
  }

  @Test func `the lists are sources, and the service is one file`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"data": [{"id": 1}]}"#) }
    let home = try home(server, members: #", "headers": {"X-Key": "${CRM_KEY}"}"#)
    #expect(try await home.column("name", "sources").suffix(5) == Self.lists)
    let shown = try await home.run("sources show crm-b --json")
    #expect(
      shown.output.replacing("\\/", with: "/").contains("\(server.baseURL)/v3/b"), "\(shown)")
    #expect(try await home.run("crm-b list").status == 77)
    #expect(try await home.column("key", "config").count { $0 == "CRM_KEY" } == 1)
    #expect(try await home.run("config set CRM_KEY", input: "hunter2hunter2").status == 0)
    for list in ["crm-a", "crm-b"] {
      #expect(try await home.run("\(list) list").lines.count == 1)
    }
    #expect(server.requests.allSatisfy { $0.header("x-key") == "hunter2hunter2" })
    let completed = try await Binary.run(
      ["__complete", "fish", "--line", "aggregator sources remove crm"], in: home.sandbox)
    #expect(completed.lines.contains { $0.hasPrefix("crm-a") })
    #expect(completed.lines.contains { $0 == "crm" || $0.hasPrefix("crm\t") })

    let list = try await home.run("sources remove crm-a --yes")
    #expect(list.status == 64)
    #expect(list.errors.hasPrefix("error: crm-a is a list of the service crm\n"), "\(list)")
    for name in ["crm", "crm-a"] {
      let added = try await home.run("sources add \(name) \(server.baseURL)/ --replace")
      #expect(added.status == 64, "\(added)")
    }
    let removed = try await home.run("sources remove crm --data --yes")
    #expect(removed.status == 0, "\(removed)")
    #expect(try await home.column("name", "sources").last == "separate")
    #expect(try await home.run("store --fields source --tsv").lines.allSatisfy { $0 != "crm-a" })
  }
}
