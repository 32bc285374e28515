import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorKit
@testable import AggregatorProgramTesting
@testable import AggregatorSQLite

/// A damaged store file: it is reported, nothing in it is lost, and the program continues.
@Suite struct DamagedStoreTests {
  private let service: FakeRandomUser
  private let home: TestHome

  init() throws {
    service = try FakeRandomUser()
    home = try TestHome(service.settings)
  }

  private func bytes(_ suffix: String = "") throws -> Data {
    try Data(contentsOf: URL(filePath: home.file.path + suffix))
  }

  private func replace(by bytes: Data) throws {
    try bytes.write(to: URL(filePath: home.file.path))
  }

  /// The kinds of damage to a valid file.
  static let damages: [(what: String, change: @Sendable (Data) -> Data)] = [
    ("is damaged", { $0.prefix(1) }),
    ("is damaged", { $0.prefix(50) }),
    ("is damaged", { $0.prefix($0.count - 1) }),
    ("is damaged", { $0.prefix(1000) }),
    ("is damaged", { $0.prefix(4096) }),
    ("is damaged", { $0.prefix($0.count / 2) }),
    ("is damaged", { $0.prefix($0.count - 4096) }),
    ("is not a database", { _ in noise(5000) }),
    ("is not a database", { noise(4096) + $0.dropFirst(4096) }),
    ("is damaged", { $0.prefix(4096) + noise($0.count - 4096) }),
  ]

  private static func noise(_ count: Int) -> Data {
    // Not by chance the head of a database.
    Data((0..<count).map { _ in UInt8.random(in: 128...255) })
  }

  @Test(arguments: damages.indices)
  func `a damaged file is moved aside unchanged and reported once`(index: Int) async throws {
    let (what, change) = Self.damages[index]
    #expect(try await home.run("users load 30").status == 0)
    try home.file.checkpoint()
    let whole = try bytes()
    #expect(whole.count > 50_000)
    let damaged = change(whole)
    try replace(by: damaged)
    let lines = ["users list --offline", "users load 5", "users next", "store status"]
    // That a file was moved is said even if quiet.
    let outcome = try await home.run(lines[index % lines.count] + (index > 5 ? " -q" : ""))
    #expect(outcome.status == 0, "\(outcome)")
    let aside = "\(home.file.path).aside-1"
    #expect(
      outcome.errors.contains("warning: \(home.file.path) \(what); moved to \(aside)\n"),
      "\(outcome)")
    #expect(try bytes(".aside-1") == damaged)
    #expect(try await !home.run("store status").errors.contains("warning"))
    #expect(try await home.run("users load 5").status == 0)
    #expect(try home.file.faults() == [])
  }

  @Test(arguments: damages.indices)
  func `doctor examines a damaged file, and does nothing with it`(index: Int) async throws {
    let (what, change) = Self.damages[index]
    #expect(try await home.run("users load 30").status == 0)
    #expect(try await home.run("query save mails -- sql SELECT email FROM users").status == 0)
    try home.file.checkpoint()
    let damaged = change(try bytes())
    try replace(by: damaged)
    let outcome = try await home.run("doctor --offline")
    #expect(outcome.status == 3, "\(outcome)")
    let line = "store\tstore\tfailed\t\(home.file.path) \(what)\tmove it away"
    #expect(outcome.output.contains(line), "\(outcome)")
    #expect(try bytes() == damaged)
    #expect(!FileManager.default.fileExists(atPath: home.file.path + ".aside-1"))
  }

  @Test(arguments: [
    "users list --offline", "users list -q", "users next", "users load 5", "products list -q",
    "heroes search spider --offline", "countries show FR", "sql 'SELECT 1'", "store status",
    "users delete aino.tormanen@example.com --yes",
  ])
  func `a file of a later version or another program is refused and left alone`(line: String)
    async throws
  {
    #expect(try await home.run("users load 30").status == 0)
    try home.file.makeNewer()
    try await expectRefusal(
      of: line, "was written by a newer version of this program",
      hint: "upgrade this program, or choose another store")
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: home.file.path + suffix)
    }
    try makeForeign()
    try await expectRefusal(
      of: line, "is not a store of this program", hint: "move it away, or choose another store")
  }

  private func expectRefusal(of line: String, _ why: String, hint: String) async throws {
    let before = try bytes()
    let outcome = try await home.run(line)
    #expect(outcome.status == 74, "\(line): \(outcome)")
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("\(home.file.path) \(why)"), "\(outcome)")
    #expect(outcome.errors.contains("\nhint: \(hint)"), "\(outcome)")
    #expect(try bytes() == before)
    #expect(!FileManager.default.fileExists(atPath: home.file.path + ".aside-1"))
  }

  @Test func `deletions that can still be read are kept`() async throws {
    #expect(try await home.run("users load 300").status == 0)
    let email = try #require(try await home.column("email", "users list -L 1 --offline").first)
    #expect(try await home.run("users delete \(email) --yes").status == 0)
    try home.file.checkpoint()
    // The tombstones come before most of the records.
    try replace(by: bytes().dropLast(4096))
    let outcome = try await home.run("users list --offline -q")
    #expect(outcome.errors.contains("; 1 deletion kept\n"), "\(outcome)")
    #expect(try await home.run("users show \(email)").errors.contains("is deleted"))
  }

  /// A database of another program.
  private func makeForeign() throws {
    let flags: Int32 = 0x2 | 0x4  // to read and write, and to make
    try Connection(home.file.path, busyTimeout: .seconds(5), flags: flags).execute(
      "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('Blue')")
  }

  /// A process that has saved some pages and waits for the next.
  private func stalled() async throws -> Binary.Run {
    service.fail(with: .stalled, after: 5)
    let count = service.requests.count
    let run = try home.start("users load 100 --timeout 10m")
    _ = await service.requests(atLeast: count + 6)
    // Pages are fetched while others are stored.
    while (try? bytes("-wal"))?.count ?? 0 <= 20_000 { await Task.yield() }
    return run
  }

  @Test func `the files that a killed process left are moved with a damaged one`() async throws {
    #expect(try await home.run("users load 200").status == 0)
    // On a busy machine the last process may leave all of it to the log, which then needs nothing of the file.
    try home.file.checkpoint()
    let run = try await stalled()
    run.child.send(SIGKILL)
    _ = try await run.outcome()
    let log = try bytes("-wal")
    #expect(log.count > 20_000)
    // The log has the last pages, and the first one may be among them.
    let damaged = try Self.noise(bytes().count)
    try replace(by: damaged)
    let outcome = try await home.run("users list --offline")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("moved"), "\(log.count) bytes of log; \(outcome)")
    #expect(try bytes(".aside-1") == damaged)
    #expect(try bytes(".aside-1-wal") == log)
  }

  @Test func `the log of a later version is unchanged`() async throws {
    let run = try await stalled()
    // Beside a process that is still at work, nothing is brought from the log into the file.
    try Connection(home.file.path, busyTimeout: .seconds(5)).execute("PRAGMA user_version = 99")
    run.child.send(SIGKILL)
    _ = try await run.outcome()
    let (file, log) = (try bytes(), try bytes("-wal"))
    #expect(log.count > 20_000)
    let outcome = try await home.run("users list --offline")
    #expect(outcome.errors.contains("was written by a newer version"))
    #expect(try bytes() == file)
    #expect(try bytes("-wal") == log)
  }

  @Test func `a directory instead of the file is reported and not changed`() async throws {
    try home.sandbox.write("mine", to: "\(TestHome.store)/file")
    let list = try await home.run("users list --offline")
    // Records that were deleted may be shown.
    #expect(list.status == 3)
    #expect(list.errors.contains("store.sqlite is a directory"), "\(list)")
    let lines = [
      "users delete aino.tormanen@example.com --yes", "users restore --all", "users load 5",
      "store status", "store clear users --yes",
    ]
    for line in lines {
      let outcome = try await home.run(line)
      #expect(outcome.status == 74, "\(line): \(outcome)")
      #expect(outcome.output == "")
      #expect(
        outcome.errors.contains(
          "store.sqlite is a directory\nhint: move it away, or set AGGREGATOR_HOME\n"), "\(outcome)"
      )
    }
    #expect(try home.sandbox.text(of: "\(TestHome.store)/file") == "mine")
  }
}
