import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The files of `next`: damaged, locked by another process, not writable.
@Suite struct SessionPositionFileTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private static let directory = "home/.local/state/aggregator/positions/default"
  private static let position = "\(directory)/countries.json"

  private func countries(
    _ line: String, _ environment: [String: String?] = [:], output: Binary.Sink = .captured
  ) async throws -> Outcome {
    try await Binary.run(
      "countries \(line) --offline --fields code --tsv", environment: environment, in: sandbox,
      output: output)
  }

  static let damages: [(what: String, text: String)] = [
    ("is damaged", ""), ("is damaged", "{"), ("is damaged", "null"),
    ("is damaged", String(repeating: " ", count: 1 << 20) + "{}"),
    ("was written by another version of this program", #"{"version":2}"#),
    (
      "is no longer valid",
      #"{"version":1,"next":"offline.cA.b","latest":{"limit":2,"count":0},"earlier":[],"ids":""}"#
    ),
    (
      "is no longer valid",
      #"{"version":1,"next":"x","latest":{"limit":2,"count":0},"earlier":[],"ids":""}"#
    ),
  ]

  @Test(arguments: damages.indices)
  func `an invalid position exits 1 until --reset`(index: Int) async throws {
    let (what, text) = Self.damages[index]
    try sandbox.write(text, to: Self.position)
    for line in ["next", "next --peek"] {
      let outcome = try await countries(line)
      #expect(outcome.status == 1)
      #expect(outcome.output == "")
      #expect(
        outcome.errors.hasSuffix(
          """
          error: countries: the session position \(what)
          hint: aggregator countries next --reset

          """))
    }
    #expect(try sandbox.text(of: Self.position) == text)
    let reset = try await countries("next --reset -L2")
    #expect(reset.status == 0)
    #expect(reset.lines == ["AF", "AL"])
    #expect(
      reset.errors.contains("\(what); starting from the beginning of the list") == (index < 5))
    #expect(try await countries("next -L2").lines == ["DZ", "AS"])
  }

  @Test func `a named pipe is a damaged position, and does not block`() async throws {
    try sandbox.write("", to: "\(Self.directory)/x")
    let pipe = sandbox.root.appending(path: Self.position).path
    #expect(mkfifo(pipe, 0o600) == 0)
    let outcome = try await countries("next")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("error: countries: the session position is damaged\n"))
    #expect(try await countries("next --reset -L1").lines == ["AF"])
  }

  @Test func `without HOME, a listing causes a warning and next exits 74`() async throws {
    let list = try await countries(
      "list -L1", NextTests.terminal.merging(["HOME": nil]) { $1 })
    #expect(list.status == 0)
    #expect(list.lines == ["AF"])
    #expect(
      list.errors.hasPrefix(
        """
        warning: caching is disabled: no directory for the store
        hint: set HOME, XDG_DATA_HOME or AGGREGATOR_HOME
        warning: countries: the session position was not saved: no directory for session positions
        hint: set HOME or AGGREGATOR_HOME
        1 of 250 countries · more: --cursor offline.
        """), "\(list)")
    let next = try await countries("next", ["HOME": nil])
    #expect(next.status == 74)
    #expect(next.output == "")
    #expect(
      next.errors == """
        error: no directory for session positions
        hint: set HOME or AGGREGATOR_HOME

        """)
  }

  @Test func `an unwritable position fails before any request`() async throws {
    let service = try FakeCountries()
    let file = try sandbox.write("", to: "home/file").path
    let home: [String: String?] = ["AGGREGATOR_HOME": file]
    let list = try await countries("list -L1 --session x", home)
    #expect(list.status == 0)
    #expect(
      list.errors.contains("the session position was not saved: cannot write \(file)/positions/x: ")
    )
    let next = try await Binary.run(
      "countries next",
      environment: home.merging(service.settings.mapValues(Optional.some)) { $1 }, in: sandbox)
    #expect(next.status == 74)
    #expect(next.output == "")
    #expect(next.errors.contains("\nhint: choose a directory that you can create"))
    #expect(service.requests.isEmpty)
  }

  @Test func `a position that cannot be saved exits 74`() async throws {
    // A file cannot replace a directory, not even for root.
    try sandbox.write("", to: "\(Self.position)/x")
    let next = try await countries("next --reset -L1")
    #expect(next.status == 74)
    #expect(next.lines == ["AF"])
    #expect(next.errors.contains("countries.json: "))
    #expect(try sandbox.files(under: Self.directory).count { $0.hasPrefix("countries.json") } == 2)
  }

  @Test func `AGGREGATOR_HOME holds the positions`() async throws {
    let home = sandbox.root.appending(path: "home/mine").path
    #expect(try await countries("next -L1", ["AGGREGATOR_HOME": home]).lines == ["AF"])
    #expect(try await countries("next -L1", ["AGGREGATOR_HOME": home]).lines == ["AL"])
    #expect(try sandbox.files(under: "home/mine/positions/default").contains("countries.json"))
    #expect(try await countries("next", ["AGGREGATOR_HOME": "mine"]).status == 78)
    #expect(try await countries("next -L1").lines == ["AF"])
  }

  @Test func `the position is unchanged if the page could not be written`() async throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    _ = try await countries("next -L2")
    #expect(try await countries("next -L2", output: .file("/dev/full")).status == 74)
    #expect(try await countries("next -L2", output: .closed).status == 74)
    let pipe = try ProgramPipe()
    pipe.close(pipe.readEnd)
    #expect(try await countries("next -L2", output: .descriptor(pipe.writeEnd)).status == 0)
    #expect(try await countries("next -L2").lines == ["DZ", "AS"])
    _ = try await countries("search new --session default", output: .file("/dev/full"))
    #expect(try await countries("next -L2").lines == ["AD", "AO"])
  }

  @Test func `waits for a locked position, and exits 75 after the timeout`() async throws {
    _ = try await countries("next -L2")
    let path = sandbox.root.appending(path: "\(Self.directory)/countries.lock").path
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let next = try await countries("next --timeout 200ms")
    #expect(next.status == 75)
    #expect(next.output == "")
    #expect(
      next.errors.hasPrefix(
        "error: another process is using the session position of countries\nhint: "))
    #expect(try await countries("next -L2 --peek").lines == ["DZ", "AS"])
    let list = try await countries("list -L2 --timeout 100ms", NextTests.terminal)
    #expect(list.status == 0)
    #expect(
      list.errors.hasPrefix(
        "warning: countries: the session position was not saved: another process"))

    // Other sessions do not wait; a waiting process continues when the lock is released.
    #expect(try await countries("next -L1 --session other --timeout 200ms").status == 0)
    let waiting = try Binary.start(
      "countries next -L2 --offline --fields code --tsv", in: sandbox)
    flock(descriptor, LOCK_UN)
    #expect(try await waiting.outcome().lines == ["DZ", "AS"])
  }

  @Test func `a killed process's page is shown again`() async throws {
    let stalled = try FakeServer(.stalled)
    let run = try Binary.start(
      "heroes next -L2 --timeout 10m", environment: stalled.settings, in: sandbox)
    _ = await stalled.requests(atLeast: 1)
    let other = try await Binary.run("heroes next --offline --timeout 100ms", in: sandbox)
    #expect(other.status == 75, "\(other)")
    run.child.send(SIGKILL)
    #expect(try await run.outcome().ending == .signal(SIGKILL))
    let next = try await Binary.run("heroes next -L2 --offline --tsv", in: sandbox)
    #expect(next.ids == [1440, 1441], "\(next)")
  }

  @Test func `two processes never get the same page`() async throws {
    for round in 0..<20 {
      let line = "next -L3 --session round\(round)"
      async let one = countries(line)
      async let two = countries(line)
      let lines = try await one.lines + two.lines
      #expect(Set(lines) == ["AF", "AL", "DZ", "AS", "AD", "AO"], "round \(round): \(lines)")
      #expect(lines.count == 6)
    }
  }
}
