import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `--record` and `--replay` through the built program.
@Suite struct RecordingTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  /// Runs a command line with the settings of a service.
  private func run(_ line: String, _ settings: [String: String] = [:]) async throws -> Outcome {
    try await Binary.run(line, environment: settings.mapValues(\.self), in: sandbox)
  }

  /// Runs a command while it is recorded, and again as a replay, with no key and once the service is
  /// gone.
  private func replayed(
    _ line: String, _ settings: [String: String], then stop: () -> Void
  ) async throws -> (live: Outcome, replay: Outcome) {
    let live = try await run("\(line) --record tape", settings)
    stop()
    let keyless = settings.filter { $0.key != "COMIC_VINE_API_KEY" }
    return (live, try await run("\(line) --replay tape", keyless))
  }

  /// The names of the recordings, and their joined contents.
  private func tape() throws -> (names: [String], text: String) {
    let directory = sandbox.work.appending(path: "tape").path
    let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    return (names, try names.map { try sandbox.text(of: "work/tape/\($0)") }.joined())
  }

  @Test(arguments: [
    "heroes search spider", "heroes search spider --json", "heroes list --all --ndjson",
    "heroes show 1443 --json", "heroes show 1443 999999",
  ])
  func `heroes are replayed byte for byte, without a service or a key`(
    line: String
  ) async throws {
    let service = try FakeComicVine()
    let (live, replay) = try await replayed(line, service.settings, then: service.stop)
    #expect(!live.output.isEmpty)
    #expect(live.output == replay.output)
    #expect(live.errors == replay.errors)
    #expect(live.status == replay.status)
    let (names, text) = try tape()
    #expect(names.first?.hasPrefix("0001-get-api-") == true)
    #expect(text.contains("api_key=REDACTED"))
    for part in FakeComicVine.key.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
      .dropFirst()
    {
      #expect(!(text + names.joined()).lowercased().contains(part))
    }
  }

  @Test(arguments: ["list --json", "list --all --max-pages 2 --csv", "search a --json"])
  func `every source is replayed byte for byte`(verb: String) async throws {
    let countries = try FakeCountries()
    let heroes = try FakeComicVine()
    let products = try FakeProducts()
    let users = try FakeRandomUser()
    // One directory for all of them: each finds its own.
    for (source, settings, stop) in [
      ("countries", countries.settings, countries.stop), ("heroes", heroes.settings, heroes.stop),
      ("products", products.settings, products.stop), ("users", users.settings, users.stop),
    ] {
      let (live, replay) = try await replayed("\(source) \(verb)", settings, then: stop)
      #expect(live.output.utf8.count > 100)
      #expect(live.output == replay.output)
      #expect(live.errors == replay.errors)
      #expect(live.status == replay.status)
    }
  }

  @Test func `a replay opens no connection and does not count against the rate`() async throws {
    let reply = #"{"status_code":1,"error":"OK","results":{"id":1443,"name":"Spider-Man"}}"#
    let service = try FakeServer(.json(reply))
    var settings = service.settings.compactMapValues(\.self)
    settings["COMIC_VINE_RATE"] = "1/h"
    let (live, replay) = try await replayed("heroes show 1443 --verbose", settings) {}
    #expect(service.connectionCount == 1)
    #expect(replay.output == live.output)
    #expect(replay.errors.contains("/api/character/4005-1443/?api_key=REDACTED&format=json"))
    let again = try await run("heroes show 1443 1443 1443 --replay tape", settings)
    #expect(again.status == 0)
    #expect(service.connectionCount == 1)
  }

  static let faults: [(name: String, reply: LoopbackReply, words: String)] = [
    (
      "429", .status(429, "slow down", headers: [("Retry-After", "3600")]),
      #"rate limited by Comic Vine (429): "slow down""#
    ),
    ("500", .html(title: "Oh no", status: 500), #"Comic Vine failed (500): "Oh no""#),
    ("cut", .cut(after: Data("{\"a\":".utf8), of: 100), "in the middle of the response"),
    ("reset", .reset, "lost the connection"),
    ("closed", .closed, "without a response"),
    ("stalled", .stalled, "no answer within 5 s"),
    ("page", .html(title: "Comic Vine"), #"sent an HTML page instead of JSON: "Comic Vine""#),
    ("not UTF-8", .ok(Data([0xFF, 0xFE, 0x00])), "something that is not JSON"),
  ]

  @Test(arguments: faults.indices, ["--json", "--no-fallback"])
  func `replays failures`(index: Int, option: String) async throws {
    let fault = Self.faults[index]
    let service = try FakeComicVine()
    service.fail(with: fault.reply)
    // Long enough for the request to get out, on the busiest machine: else there is nothing to replay.
    let bound = fault.name == "stalled" ? "--timeout 5s" : ""
    let (live, replay) = try await replayed(
      "heroes list \(bound) \(option)", service.settings, then: service.stop)
    #expect(live.errors.contains(fault.words), "\(live.errors)")
    #expect(live.errors == replay.errors)
    #expect(live.output == replay.output)
    #expect(live.status == replay.status)
  }

  @Test func `replays a refused connection and a successful retry`() async throws {
    let (refused, again) = try await replayed("countries list --json", [:]) {}
    #expect(try refused.envelope().provenance?.reason == "unreachable")
    #expect(refused.output == again.output)

    let service = try FakeComicVine()
    service.fail(with: ComicVineFault.unavailable.reply, times: 1)
    let (live, replay) = try await replayed(
      "heroes list --json", service.settings, then: service.stop)
    #expect(live.output == replay.output)
    #expect(try replay.envelope().provenance?.origin == "live")
    #expect(try tape().text.contains("### HTTP 503"))
  }

  @Test func `an unrecorded request fails, whatever the fallbacks`() async throws {
    let service = try FakeComicVine()
    _ = try await run("heroes search spider --record tape", service.settings)
    let other = try await run("heroes search batman --replay tape", service.settings)
    #expect(other.status == 69)
    #expect(other.output == "")
    #expect(
      other.errors == """
        error: heroes: GET \(service.url.absoluteString)/search/ is not in the recording tape: the \
        nearest, 0001-get-api-search.http, has query=spider, not query=batman
        hint: record it with --record

        """)
    // In the middle of pagination too, after the recorded pages.
    _ = try await run("heroes list --all --max-pages 1 --record tape", service.settings)
    let walk = try await run("heroes list --all --replay tape", service.settings)
    #expect(walk.status == 3)
    #expect(!walk.output.isEmpty)
    #expect(walk.errors.contains("is not in the recording tape: the nearest, 0002-get-api-ch"))
  }

  @Test(arguments: [
    ("--record a --replay b", [:], "--record and --replay cannot be used together"),
    (
      "--record a", ["AGGREGATOR_REPLAY": "b"],
      "--record and AGGREGATOR_REPLAY cannot be used together"
    ),
    (
      "", ["AGGREGATOR_RECORD": "a", "AGGREGATOR_REPLAY": "b"],
      "AGGREGATOR_RECORD and AGGREGATOR_REPLAY cannot be used together"
    ),
  ])
  func `--record and --replay cannot be used together`(
    options: String, variables: [String: String], words: String
  ) async throws {
    let outcome = try await run("heroes list \(options)", variables)
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains(words))
  }

  @Test func `settings can also name the directory, relative to the working directory`()
    async throws
  {
    let service = try FakeComicVine()
    let live = try await run(
      "heroes list", service.settings.merging(["AGGREGATOR_RECORD": "tape"]) { $1 })
    #expect(live.status == 0)
    service.stop()
    let replay = try await run(
      "heroes list", service.settings.merging(["AGGREGATOR_REPLAY": "tape"]) { $1 })
    #expect(replay.output == live.output)
    // Commands that read no source ignore it.
    #expect(try await run("config list", ["AGGREGATOR_REPLAY": "nothing"]).status == 0)
  }

  @Test func `a directory that cannot be used is an error`() async throws {
    let missing = try await run("heroes list --replay nothing")
    #expect(missing.status == 74)
    #expect(missing.errors.hasPrefix("error: cannot read nothing: No such file or directory"))
    try sandbox.write("x", to: "work/file")
    let file = try await run("heroes list --record file")
    #expect(file.status == 74)
    #expect(file.errors.hasPrefix("error: cannot write file: Not a directory"))
    let impossible = try await run("heroes list --record /proc/x")
    #expect(impossible.status == 74)
    #expect(impossible.errors.hasSuffix("\nhint: choose a directory that you can create\n"))
    try sandbox.write("GET http://host/\n", to: "work/tape/1.http")
    let foreign = try await run("heroes list --replay tape")
    #expect(foreign.status == 76)
    #expect(foreign.errors.hasPrefix("error: tape/1.http:1: not a recording"))
    try sandbox.write("COUNTRIES_RATE = 1\nAGGREGATOR_REPLAY = tape\n", to: "work/my.xcconfig")
    let relative = try await run("heroes list --config my.xcconfig")
    #expect(relative.status == 78)
    #expect(relative.errors.contains("my.xcconfig:2: invalid value \"tape\" for AGGREGATOR_REPLAY"))
  }

  @Test func `the store neither answers nor changes`() async throws {
    let service = try FakeCountries()
    let temporary = sandbox.root.appending(path: "tmp")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    let settings = service.settings.merging(["TMPDIR": temporary.path]) { $1 }
    // Cached and fresh, but the recorded reply is used.
    _ = try await run("countries list", settings)
    let (live, replay) = try await replayed("countries list --json", settings) {}
    #expect(try live.envelope().provenance?.origin == "live")
    #expect(live.output == replay.output)
    #expect(service.requests.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
    // Deletions are permanent, whatever the environment sets for recordings.
    let variables = settings.merging(["AGGREGATOR_REPLAY": "tape"]) { $1 }
    #expect(try await run("countries delete FR --yes", variables).status == 0)
    #expect(try await run("countries show FR", settings).status == 1)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL])
  func `nothing is left of the store of a recording that a signal ends`(signal: Int32) async throws
  {
    let service = try FakeComicVine()
    let temporary = sandbox.root.appending(path: "tmp")
    try FileManager.default.createDirectory(
      at: temporary.appending(path: "aggregator-other"), withIntermediateDirectories: true)
    let settings = service.settings.merging(["TMPDIR": temporary.path]) { $1 }
    var environment: [String: String?] = settings.mapValues(Optional.some)
    environment["COMIC_VINE_RATE"] = "off"
    service.fail(with: .stalled, after: 2)
    let left = { try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted() }
    func start() throws -> Binary.Run {
      try Binary.start(
        "heroes sync --record tape --timeout 10m", environment: environment, in: sandbox)
    }
    let run = try start()
    _ = await service.requests(atLeast: 3)
    #expect(try left().count == 2)
    // One that is at work stays, whatever others do.
    #expect(try await self.run("countries list --replay tape", settings).status != 0)
    #expect(try left().count == 2)
    run.child.send(signal)
    #expect(try await run.outcome().ending == .signal(signal))
    if signal == SIGKILL {
      #expect(try left().count == 2)
      _ = try await self.run("countries list --replay tape", settings)
    }
    let names = try left()
    #expect(names == ["aggregator-other"])
  }

  @Test func `ages are relative to the time of the recording`() async throws {
    let service = try FakeRandomUser()
    let line = "users list --limit 3 --fields age"
    let live = try await run("\(line) --record tape", service.settings)
    for name in try tape().names {
      let text = try sandbox.text(of: "work/tape/\(name)")
      try sandbox.write(text.replacing(/\n# 20\d\d-/, with: "\n# 2096-"), to: "work/tape/\(name)")
    }
    let replay = try await run("\(line) --replay tape", service.settings)
    let ages = live.lines.compactMap { Int($0) }
    #expect(ages.count == 3)
    let years = zip(ages, replay.lines.compactMap { Int($0) }).map { $1 - $0 }
    #expect(Set(years).count == 1)
    #expect((years.first ?? 0) > 40)
  }
}
