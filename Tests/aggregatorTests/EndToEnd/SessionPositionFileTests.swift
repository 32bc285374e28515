import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

/// The files of `next`: damaged, in use by another process, not to be written.
@Suite struct PlaceFileTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private static let directory = "home/.local/state/aggregator/positions/default"
  private static let place = "\(directory)/countries.json"

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
    ("was kept by another version of this program", #"{"version":2}"#),
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
  func `a place that leads nowhere is 1, until --reset`(index: Int) async throws {
    let (what, text) = Self.damages[index]
    try sandbox.write(text, to: Self.place)
    for line in ["next", "next --peek"] {
      let outcome = try await countries(line)
      #expect(outcome.status == 1)
      #expect(outcome.output == "")
      #expect(
        outcome.errors == """
          error: countries: the place to go on from \(what)
          hint: aggregator countries next --reset

          """)
    }
    #expect(try sandbox.text(of: Self.place) == text)
    let reset = try await countries("next --reset -L2")
    #expect(reset.status == 0)
    #expect(reset.lines == ["AF", "AL"])
    #expect(
      reset.errors.contains("\(what); starting from the beginning of the list") == (index < 5))
    #expect(try await countries("next -L2").lines == ["DZ", "AS"])
  }

  @Test func `what is no file is no place, and is not waited for`() async throws {
    try sandbox.write("", to: "\(Self.directory)/x")
    let pipe = sandbox.root.appending(path: Self.place).path
    #expect(mkfifo(pipe, 0o600) == 0)
    let outcome = try await countries("next")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("error: countries: the place to go on from is damaged\n"))
    #expect(try await countries("next --reset -L1").lines == ["AF"])
  }

  @Test func `without a home a listing is shown with a warning, and next is 74`() async throws {
    let list = try await countries(
      "list -L1", NextTests.terminal.merging(["HOME": nil]) { $1 })
    #expect(list.status == 0)
    #expect(list.lines == ["AF"])
    #expect(
      list.errors.hasPrefix(
        """
        warning: nothing is remembered: there is no place for a store
        hint: set HOME, XDG_DATA_HOME or AGGREGATOR_HOME
        warning: countries: the place for next was not kept: there is no directory to keep a place in
        hint: set HOME or AGGREGATOR_HOME
        1 of 250 countries · more: --cursor offline.
        """), "\(list)")
    let next = try await countries("next", ["HOME": nil])
    #expect(next.status == 74)
    #expect(next.output == "")
    #expect(
      next.errors == """
        error: there is no directory to keep a place in
        hint: set HOME or AGGREGATOR_HOME

        """)
  }

  @Test func `what cannot be written is found out before anything is asked`() async throws {
    let service = try FakeCountries()
    let file = try sandbox.write("", to: "home/file").path
    let home: [String: String?] = ["AGGREGATOR_HOME": file]
    let list = try await countries("list -L1 --session x", home)
    #expect(list.status == 0)
    #expect(list.errors.contains("the place for next was not kept: \(file)/positions/x cannot be"))
    let next = try await Binary.run(
      "countries next",
      environment: home.merging(service.settings.mapValues(Optional.some)) { $1 }, in: sandbox)
    #expect(next.status == 74)
    #expect(next.output == "")
    #expect(next.errors.contains("\nhint: see that the disk has room"))
    #expect(service.requests.isEmpty)
  }

  @Test func `a place that cannot be moved after all is 74, and said`() async throws {
    // A file cannot take the place of a directory, not even for root.
    try sandbox.write("", to: "\(Self.place)/x")
    let next = try await countries("next --reset -L1")
    #expect(next.status == 74)
    #expect(next.lines == ["AF"])
    #expect(next.errors.contains("countries.json cannot be written: "))
    #expect(try sandbox.files(under: Self.directory).count { $0.hasPrefix("countries.json") } == 2)
  }

  @Test func `AGGREGATOR_HOME is where places are`() async throws {
    let home = sandbox.root.appending(path: "home/mine").path
    #expect(try await countries("next -L1", ["AGGREGATOR_HOME": home]).lines == ["AF"])
    #expect(try await countries("next -L1", ["AGGREGATOR_HOME": home]).lines == ["AL"])
    #expect(try sandbox.files(under: "home/mine/positions/default").contains("countries.json"))
    #expect(try await countries("next", ["AGGREGATOR_HOME": "mine"]).status == 78)
    #expect(try await countries("next -L1").lines == ["AF"])
  }

  @Test func `the place stays if the page could not be written`() async throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    _ = try await countries("next -L2")
    #expect(try await countries("next -L2", output: .file("/dev/full")).status == 74)
    #expect(try await countries("next -L2", output: .closed).status == 74)
    let pipe = try Pipe()
    pipe.close(pipe.readEnd)
    #expect(try await countries("next -L2", output: .descriptor(pipe.writeEnd)).status == 0)
    #expect(try await countries("next -L2").lines == ["DZ", "AS"])
    _ = try await countries("search new --session default", output: .file("/dev/full"))
    #expect(try await countries("next -L2").lines == ["AD", "AO"])
  }

  @Test func `a place in use is waited for, and 75 after the timeout`() async throws {
    _ = try await countries("next -L2")
    let path = sandbox.root.appending(path: "\(Self.directory)/countries.lock").path
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    let next = try await countries("next --timeout 200ms")
    #expect(next.status == 75)
    #expect(next.output == "")
    #expect(
      next.errors.hasPrefix("error: another process is using this place of countries\nhint: "))
    #expect(try await countries("next -L2 --peek").lines == ["DZ", "AS"])
    let list = try await countries("list -L2 --timeout 100ms", NextTests.terminal)
    #expect(list.status == 0)
    #expect(
      list.errors.hasPrefix("warning: countries: the place for next was not kept: another process"))

    // Other sessions do not wait, and who waits goes on when it is free.
    #expect(try await countries("next -L1 --session other --timeout 200ms").status == 0)
    let waiting = try Binary.start(
      "countries next -L2 --offline --fields code --tsv", in: sandbox)
    flock(descriptor, LOCK_UN)
    #expect(try await waiting.outcome().lines == ["DZ", "AS"])
  }

  @Test func `who was killed gives the page again`() async throws {
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
