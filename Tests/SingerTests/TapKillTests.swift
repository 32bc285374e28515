import AggregatorPostgresServer
import Foundation
import Testing

/// Whatever is killed, and whenever, nothing is missing afterwards, and nothing is there twice.
@Suite(.enabled(if: TapUser.hasPython, "python3 is not installed"), .timeLimit(.minutes(10)))
struct TapKillTests {
  private static let count = 12

  /// The lines of a run: a schema, records, and a state after every third of them and at the end.
  private static let lines = 1...(1 + count + count / 3 + 1)

  @Test(arguments: ["tap", "parent", "both"], ["full", "incremental", "versioned"])
  func `a kill after any line loses and repeats nothing`(_ who: String, _ mode: String) async throws
  {
    let user = try TapUser()
    try user.setRows(1...Self.count)
    #expect(try await user.add("\"mode\": \"\(mode)\"").status == 0)
    for line in Self.lines {
      try user.write(#"{"line": \#(line), "who": "\#(who)"}"#, to: "plan")
      let killed = try await user.run("shop sync")
      if who != "tap" {
        // An incremental stream has sent all that it has by then, with fewer lines.
        #expect(
          killed.status == 128 + SIGKILL || mode == "incremental" && killed.status == 0, "\(killed)"
        )
      } else if killed.status != 0 {
        #expect(killed.errors.contains("signal 9"), "\(killed)")
      }
    }
    try FileManager.default.removeItem(atPath: user.path("plan"))
    let last = try await user.run("shop sync")
    #expect(last.status == 0, "\(last)")
    #expect(try await user.records() == rows(1...Self.count))
    // The configuration of killed runs is gone.
    #expect(user.files(under: "home/.local/state/aggregator/taps").isEmpty)
  }

  @Test func `records that were stored with their state are not sent again`() async throws {
    let user = try TapUser()
    try user.setRows(1...Self.count)
    #expect(try await user.add(#""mode": "incremental""#).status == 0)
    // A kill when the store has the first records, and so the state after them.
    for stored in [3, 6, 9] {
      try user.write(#"{"line": 5, "who": "parent", "stored": \#(stored)}"#, to: "plan")
      #expect(try await user.run("shop sync").status == 128 + SIGKILL)
    }
    try FileManager.default.removeItem(atPath: user.path("plan"))
    #expect(try await user.run("shop sync").status == 0)
    let starts = try user.text("log").split(separator: "\n").filter { $0.hasPrefix("start") }
    #expect(
      starts == [
        "start {}", #"start {"at": 3, "n": 3}"#, #"start {"at": 6, "n": 3}"#,
        #"start {"at": 9, "n": 3}"#,
      ])
    #expect(try await user.records() == rows(1...Self.count))
  }

  @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed"))
  func `machines with one store go on from each other's state`() async throws {
    try await withDatabase { database in
      let variables = ["AGGREGATOR_STORE": "\(database.uri)"]
      let machines = [try TapUser(), try TapUser()]
      try machines[0].setRows(1...Self.count / 2)
      #expect(try await machines[0].add(#""mode": "incremental""#).status == 0)
      #expect(try await machines[0].run("shop sync", variables: variables).status == 0)
      try machines[0].setRows(1...Self.count)
      // The same source: its configuration has the same rows.
      let manifest = "home/.config/aggregator/sources/shop.json"
      try FileManager.default.createDirectory(
        atPath: machines[1].path("home/.config/aggregator/sources"),
        withIntermediateDirectories: true)
      try machines[1].write(machines[0].text(manifest), to: manifest)
      for line in Self.lines {
        try machines[0].write(#"{"line": \#(line), "who": "both"}"#, to: "plan")
        _ = try await machines[line % 2].run("shop sync", variables: variables)
        // As if its time had passed.
        _ = try await database.run(
          "DELETE FROM aggregator_store.checkpoints WHERE name LIKE 'lease %'")
      }
      try FileManager.default.removeItem(atPath: machines[0].path("plan"))
      let last = try await machines[1].run("shop sync", variables: variables)
      #expect(last.status == 0, "\(last)")
      let starts = try machines[0].text("log").split(separator: "\n")
        .filter { $0.hasPrefix("start") }
      // The other machine goes on where the first one was, and nobody goes back.
      #expect(starts.dropFirst().first == #"start {"at": 6, "n": 6}"#, "\(starts)")
      #expect(!starts.dropFirst().contains("start {}"), "\(starts)")
      for machine in machines {
        #expect(try await machine.records(variables: variables) == rows(1...Self.count))
      }
    }
  }

  @Test(arguments: ["SIGINT", "SIGTERM"])
  func `a signal ends the whole group of the tap`(_ name: String) async throws {
    let user = try TapUser()
    try user.setRows(1...3)
    #expect(try await user.add().status == 0)
    // A child that ignores SIGTERM, as its parent does.
    try user.write(
      """
      #!/bin/sh
      trap '' TERM
      sleep 6000 &
      echo $! > \(user.path("child"))
      echo $$ > \(user.path("leader"))
      kill -s \(name.dropFirst(3)) $PPID
      wait
      """, to: "tap")
    let ended = try await user.run("shop sync")
    #expect(ended.status == 128 + (name == "SIGINT" ? SIGINT : SIGTERM), "\(ended)")
    for file in ["child", "leader"] {
      let id = try #require(
        pid_t(try user.text(file).trimmingCharacters(in: .whitespacesAndNewlines)))
      // A zombie of another parent is no longer running either. On a busy machine a killed process takes its time; the
      // limit of the suite ends this loop if it was not killed.
      while let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
        !status.contains(") Z ")
      { await Task.yield() }
    }
    #expect(user.files(under: "home/.local/state/aggregator/taps").isEmpty)
  }
}
