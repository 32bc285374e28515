import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `watch SOURCE`: syncs until it is interrupted; ``Watch`` has tests with a clock of their own.
@Suite(.timeLimit(.minutes(10))) struct WatchTests {
  /// Starts a watch whose output goes to a pipe.
  private func start(
    _ line: String, _ service: FakeProducts, in home: TestHome
  ) throws -> (run: Binary.Run, pipe: ProgramPipe) {
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      line, environment: service.settings.mapValues(Optional.some), in: home.sandbox,
      output: .descriptor(pipe.writeEnd))
    pipe.close(pipe.writeEnd)
    return (run, pipe)
  }

  /// Waits for output of this length, or its end.
  private func output(of pipe: ProgramPipe, bytes count: Int) async -> String {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = await pipe.firstBytes(atMost: count - bytes.count)
      if more.isEmpty { break }
      bytes += more
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func service(_ numbers: ClosedRange<Int>) throws -> FakeProducts {
    try FakeProducts(numbers.map { FakeProduct($0, .string("Thing \($0)")) })
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `prints changes, passes them to a command, and ends by a signal`(signal: Int32) async throws
  {
    let before = try service(1...20)
    let home = try TestHome(before.settings)
    #expect(try await home.run("products sync").status == 0)
    before.become(try service(1...21))
    // The command prints the changes again.
    let (run, pipe) = try start(
      "watch products --every 1h --ndjson --fields change,name --exec cat", before, in: home)
    let line = "{\"change\":\"added\",\"name\":\"Thing 21\"}\n"
    #expect(await output(of: pipe, bytes: 2 * line.utf8.count) == line + line)
    run.child.send(signal)
    let outcome = try await run.outcome()
    #expect(outcome.ending == .signal(signal))
    #expect(outcome.errors.hasPrefix("Watching 21 products, every 60 min\n20"), "\(outcome)")
    #expect(outcome.errors.contains("Z: 1 added\n"), "\(outcome)")
  }

  @Test func `counts the records of a first sync, and warns of failures`() async throws {
    let service = try service(1...20)
    let home = try TestHome(service.settings)
    service.fail(with: .status(500, "{}"), times: 3)
    let run = try Binary.start(
      "watch products --every 1s --csv",
      environment: service.settings.mapValues(Optional.some), in: home.sandbox)
    // Three attempts of the first round, two pages of the second, and one of the third.
    _ = await service.requests(atLeast: 6)
    run.child.send(SIGINT)
    let outcome = try await run.outcome()
    #expect(outcome.ending == .signal(SIGINT))
    #expect(outcome.output.split(separator: "\r\n").count <= 1, "only a header: \(outcome)")
    #expect(outcome.errorLines.first?.hasPrefix("warning: products: ") == true, "\(outcome)")
    #expect(outcome.errors.contains("\nWatching 20 products, every 1 s\n"), "\(outcome)")
  }

  @Test func `a paused service is no reason to name an option that watch does not have`()
    async throws
  {
    let service = try service(1...20)
    let home = try TestHome(service.settings)
    service.fail(with: .status(500, "{}"))
    // Three attempts each; five failures pause it.
    for _ in 0..<2 { _ = try await home.run("products sync") }
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "watch products --every 1h", environment: service.settings.mapValues(Optional.some),
      in: home.sandbox, output: .descriptor(pipe.writeEnd), isMerged: true)
    pipe.close(pipe.writeEnd)
    var text = ""
    while !text.contains(/hint: .*\n/) {
      let more = await pipe.firstBytes(atMost: 4096)
      if more.isEmpty { break }
      text += String(decoding: more, as: UTF8.self)
    }
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    #expect(text.contains("paused") && text.contains("hint: "), "\(text)")
    #expect(!text.contains("--refresh"))
  }

  @Test(arguments: [("false", "status 1"), ("kill -9 $$", "signal 9")])
  func `a command that fails is a warning`(command: String, ending: String) async throws {
    let before = try service(1...20)
    let home = try TestHome(before.settings)
    #expect(try await home.run("products sync").status == 0)
    before.become(try service(1...21))
    let count = before.requests.count
    let pipe = try ProgramPipe()
    let run = try Binary.Run(
      ["watch", "products", "--every", "1s", "--exec", command],
      environment: before.settings.mapValues(Optional.some), in: home.sandbox,
      output: .descriptor(pipe.writeEnd))
    // The second round has begun.
    _ = await before.requests(atLeast: count + 3)
    run.child.send(SIGINT)
    let outcome = try await run.outcome()
    #expect(
      outcome.errors.contains("warning: \"\(command)\" failed with \(ending)\n"), "\(outcome)")
  }

  @Test func `a command ends with the program`() async throws {
    let before = try service(1...20)
    let home = try TestHome(before.settings)
    #expect(try await home.run("products sync").status == 0)
    before.become(try service(1...21))
    let file = home.sandbox.root.appending(path: "pid")
    let run = try Binary.Run(
      [
        "watch", "products", "--every", "1s", "--exec",
        "echo $$ > \(file.path).new; mv \(file.path).new \(file.path); sleep 1000",
      ], environment: before.settings.mapValues(Optional.some), in: home.sandbox)
    while !FileManager.default.fileExists(atPath: file.path) { await Task.yield() }
    let shell = try #require(pid_t(String(contentsOf: file, encoding: .utf8).trimmed))
    run.child.send(SIGTERM)
    #expect(try await run.outcome().ending == .signal(SIGTERM))
    // The shell and its sleep.
    while Self.isRunning(group: shell) { await Task.yield() }
  }

  private static func isRunning(group: pid_t) -> Bool {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.contains { process in
      guard pid_t(process) != nil,
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      else { return false }
      let words = text.split(separator: ") ").last?.split(separator: " ") ?? []
      return words.count > 2 && words[0] != "Z" && words[2] == "\(group)"
    }
  }

  @Test(arguments: [
    ("products --json", 64, "--json"), ("products --format json", 64, "use --ndjson"),
    ("products --every 10ms", 64, "must be at least 1s"),
    ("products --every soon", 64, "must be a duration"), ("", 64, "missing argument: SOURCE"),
    ("nothing", 64, "unknown source"), ("users", 64, "unbounded: specify --max-pages"),
    ("products --exec /nowhere/none", 69, "the program is not installed"),
    ("heroes --every 1s", 77, "COMIC_VINE_API_KEY is not set"),
  ])
  func `refuses what cannot work`(line: String, code: Int32, reason: String) async throws {
    let outcome = try await Binary.run("watch \(line)")
    #expect(outcome.status == code, "\(outcome)")
    #expect(outcome.errors.contains(reason), "\(outcome)")
  }

  @Test func `needs the history`() async throws {
    let outcome = try await Binary.run(
      "watch products", environment: ["AGGREGATOR_HISTORY": "off"])
    #expect(outcome.status == 69)
    #expect(outcome.errors.contains("AGGREGATOR_HISTORY is off"), "\(outcome)")
  }
}
