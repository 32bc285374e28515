import AggregatorKit
import Foundation
import Testing

/// Exports that end early, or while records change.
@Suite(.timeLimit(.minutes(10))) struct ExportInterruptionTests {
  /// Fills the store of a home with so many things that a state comes before the end.
  private static func fill(_ home: ExportHome, _ numbers: Range<Int>, _ name: String) async throws {
    let store = SQLiteStore(at: home.path(".local/share/aggregator/store.sqlite"))
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1000) {
      let entries = (start..<min(start + 1000, numbers.upperBound)).map { number in
        let text = #"{"id":"x\#(number)","row":{"id":"x\#(number)","name":"\#(name)"}}"#
        return StoreEntry(id: "x\(number)", json: Data(text.utf8)) { FoldedText(name) }
      }
      _ = try await store.save(StoreBatch(entries), of: "things", at: Date())
    }
  }

  private static let count = 25_000

  private static func filledHome() async throws -> ExportHome {
    let home = try await ExportHome()
    try await home.sync()
    try await fill(home, 0..<count, "old")
    return home
  }

  @Test func `a run that ends early continues after its last state`() async throws {
    let home = try await Self.filledHome()
    let all = try await home.run("export things --format singer")
    let states = all.lines.indices.filter { all.lines[$0].hasPrefix(#"{"type":"STATE""#) }
    #expect(states.count == 3, "\(all.errors)")
    for end in states.dropLast() {
      var target = TableTarget()
      try target.read(Array(all.lines[...end]))
      let reached = target.counts["RECORD"] ?? 0
      // Records change before the run continues, also some that were sent.
      try await Self.fill(home, 0..<2, "new \(end)")
      try home.write(Message.text(target.state), to: "state.json")
      let rest = try await home.run("export things --format singer --state state.json")
      try target.read(rest.lines)
      #expect(target.counts["RECORD"] ?? 0 < all.lines.count - reached + 10)
      #expect(target.counts["ACTIVATE_VERSION"] == 1)
      #expect(try await target.rows() == home.cached())
    }
  }

  @Test func `changes of many records have states between, too`() async throws {
    let home = try await Self.filledHome()
    var target = TableTarget()
    try await home.export(to: &target)
    try await Self.fill(home, 0..<Self.count, "new")
    try home.write(Message.text(target.state), to: "state.json")
    let all = try await home.run("export things --format singer --state state.json")
    let end = try #require(all.lines.firstIndex { $0.hasPrefix(#"{"type":"STATE""#) })
    #expect(end < all.lines.count - 1)
    try target.read(Array(all.lines[...end]))
    try await Self.fill(home, 0..<2, "newer")
    try await home.export(to: &target)
    #expect(target.counts["RECORD"] ?? 0 < Self.count)
  }

  @Test func `records that change while a run is reading are neither lost nor claimed`()
    async throws
  {
    let home = try await Self.filledHome()
    var target = TableTarget()
    for round in 1...4 {
      if let state = target.state { try home.write(Message.text(state), to: "state.json") }
      // The reader of the pipe waits for the change, so the run is in the middle.
      let option = target.state == nil ? "" : "--state state.json"
      try? FileManager.default.removeItem(atPath: home.path("go"))
      let line =
        "$AGGREGATOR export things --format singer \(option) 2>errors | { head -c 200; touch begun; "
        + "until [ -e go ]; do :; done; cat; }"
      try? FileManager.default.removeItem(atPath: home.path("begun"))
      let running = try home.start(line)
      while !FileManager.default.fileExists(atPath: home.path("begun")), running.process.isRunning {
        await Task.yield()
      }
      try await Self.fill(home, (round * 100)..<(round * 100 + 50), "round \(round)")
      try await Self.fill(home, (Self.count + round)..<(Self.count + round + 1), "added")
      _ = try await home.run("things delete x\(round) x\(Self.count - round) --yes")
      _ = try await home.run("things restore x\(round - 1)")
      try home.write("", to: "go")
      try target.read(try await running.outcome().lines)
    }
    try await home.export(to: &target)
  }

  @Test func `a closed pipe is no error, and a full disk is one`() async throws {
    let home = try await Self.filledHome()
    let closed = try await home.shell(
      "{ $AGGREGATOR export things --format singer; echo $? >status; } | head -n 2; cat status")
    #expect(closed.lines.last == "0", "\(closed)")
    let full = try await home.shell("$AGGREGATOR export things --format singer >/dev/full")
    #expect(full.status == 74, "\(full)")
    #expect(full.errors.contains("No space left on device"), "\(full)")
  }

  @Test func `a signal ends it`() async throws {
    let home = try await Self.filledHome()
    try #require(mkfifo(home.path("pipe"), 0o600) == 0)
    for number in [SIGINT, SIGTERM] {
      let running = try home.start("exec $AGGREGATOR export things --format singer >pipe")
      // More follows than fits into a pipe.
      let pipe = try FileHandle(forReadingFrom: home.root.appending(path: "pipe"))
      _ = try pipe.read(upToCount: 100)
      kill(running.process.id, number)
      // It may write on: a pipe that is closed sooner would end it, too, without an error.
      let outcome = try await running.outcome()
      try pipe.close()
      #expect(outcome.status == 128 + number, "\(outcome)")
    }
  }

  @Test func `rows that cannot be read are said, and the state does not pass them`() async throws {
    let home = try await ExportHome()
    try await home.sync()
    var target = TableTarget()
    try await home.export(to: &target)
    let before = Message.text(target.state)
    let store = SQLiteStore(at: home.path(".local/share/aggregator/store.sqlite"))
    let entry = StoreEntry(id: "t1", json: Data("[]".utf8)) { FoldedText("") }
    _ = try await store.save(StoreBatch([entry]), of: "things", at: Date())
    try home.write(before, to: "state.json")
    let outcome = try await home.run("export things --format singer --state state.json")
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.errors.contains("1 row could not be read"), "\(outcome)")
    try target.read(outcome.lines)
    #expect(Message.text(target.state) == before)
  }
}
