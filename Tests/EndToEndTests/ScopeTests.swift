import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The records of other settings and accounts, which are kept apart.
@Suite struct ScopeTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  /// A service with the records of each key.
  private static func service(_ records: [String: ClosedRange<Int>]) throws -> LoopbackServer {
    try LoopbackServer { request in
      guard let ids = records[request.header("X-Key") ?? ""] else { return .status(401) }
      let rows = ids.map { #"{"id": \#($0), "name": "Thing \#($0)"}"# }
      return .json("[\(rows.joined(separator: ","))]")
    }
  }

  private static let records = ["key-of-ann-1": 1...5, "key-of-bob-1": 11...13]

  private func add(_ service: LoopbackServer) async throws {
    let added = try await Binary.run(
      [
        "sources", "add", "things", "\(service.baseURL)/things", "--rate", "off", "--yes",
        "--header", "X-Key: key-of-ann-1",
      ], environment: home.environment, in: home.sandbox)
    #expect(added.status == 0, "\(added)")
  }

  private func run(_ line: String, key: String) async throws -> Outcome {
    try await home.run(line, ["THINGS_X_KEY": key])
  }

  private func count(key: String) async throws -> Outcome {
    try await Binary.run(
      ["sql", "SELECT count(*) FROM things", "--tsv"],
      environment: home.environment.merging(["THINGS_X_KEY": key]) { $1 }, in: home.sandbox)
  }

  @Test func `scopes are listed, adopted and cleared`() async throws {
    let service = try Self.service(Self.records)
    try await add(service)
    #expect(try await run("things list --all", key: "key-of-ann-1").lines.count == 5)
    #expect(try await run("things list --all", key: "key-of-bob-1").lines.count == 3)
    for (key, expected) in [("key-of-ann-1", "5"), ("key-of-bob-1", "3")] {
      let counted = try await count(key: key)
      #expect(counted.lines.first == expected, "\(counted)")
    }
    let bob = try await run(
      "store scopes things --fields scope,records,isShown --tsv", key: "key-of-bob-1")
    let states = bob.lines.map { $0.split(separator: "\t").dropFirst().joined(separator: " ") }
    #expect(states == ["3 true", "5 false"])
    let ann = try String(#require(bob.lines.last?.split(separator: "\t").first))

    let adopted = try await run("store adopt things \(ann)", key: "key-of-bob-1")
    #expect(adopted.status == 0, "\(adopted)")
    #expect(try await count(key: "key-of-bob-1").lines.first == "5")
    let scopes = try await run("store scopes things --fields scope --tsv", key: "key-of-bob-1")
    let other = try #require(scopes.lines.last)
    for (line, status) in [
      ("store adopt things nothing", 1), ("store adopt things", 64), ("store scopes nothing", 64),
      ("store clear things --scope nothing --yes", 1),
      ("store clear things --scope \(ann) --yes", 64),
      ("store clear things --scope \(other) --dry-run", 0),
      ("store clear things --scope \(other) --yes", 0),
    ] as [(String, Int32)] {
      let outcome = try await run(line, key: "key-of-bob-1")
      #expect(outcome.status == status, "\(line): \(outcome)")
    }
    #expect(
      try await run("store scopes things --fields scope --tsv", key: "key-of-bob-1").lines == [ann])
  }

  @Test func `an unknown secret asks the service instead of the store`() async throws {
    let service = try Self.service(Self.records)
    try await add(service)
    #expect(try await run("things sync", key: "key-of-ann-1").status == 0)
    let found = try await run("things show 11", key: "key-of-bob-1")
    #expect(found.status == 0, "\(found)")
    #expect(try await count(key: "key-of-ann-1").lines.first == "5")
  }

  @Test func `a cleared scope stays that of its secret`() async throws {
    let service = try Self.service(Self.records)
    try await add(service)
    #expect(try await run("things list --all", key: "key-of-ann-1").lines.count == 5)
    #expect(try await run("things delete 2 --yes", key: "key-of-ann-1").status == 0)
    // Whoever clears it.
    for key in Self.records.keys.sorted() {
      #expect(try await run("store clear things --yes", key: key).status == 0)
    }
    #expect(try await run("things list --all", key: "key-of-bob-1").lines.count == 3)
    #expect(try await run("things list --all", key: "key-of-ann-1").lines.count == 4)
    let scopes = try await run("store scopes things --fields scope --tsv", key: "key-of-ann-1")
    #expect(scopes.lines.count == 2, "\(scopes)")
  }

  @Test func `a source is removed with all of its scopes`() async throws {
    let service = try Self.service(Self.records)
    try await add(service)
    for key in Self.records.keys.sorted() {
      #expect(try await run("things list --all", key: key).status == 0)
    }
    let key = "key-of-bob-1"
    let status = try await run("store", key: key)
    #expect(
      status.errors.contains("Kept of other scopes: 1 of things · aggregator store scopes"),
      "\(status)")
    let dry = try await run("sources remove things --data --dry-run", key: key)
    #expect(
      dry.errors
        == "Would remove the source things and its 3 cached records and 1 kept scope\n")
    let removed = try await run("sources remove things --yes", key: key)
    #expect(removed.errors.contains("aggregator store clear things --forget-deleted"), "\(removed)")
    let cleared = try await run("store clear things --forget-deleted --yes", key: key)
    #expect(cleared.errors == "Removed 3 cached records and 1 kept scope\n")
    try await add(service)
    #expect(try await run("things list --all", key: key).lines.count == 3)
    let scopes = try await run("store scopes things --fields scope --tsv", key: key)
    #expect(scopes.lines.count == 1, "\(scopes)")
  }

  @Test func `another URL of a compiled source has records of its own`() async throws {
    let services = try [1...3, 101...105].map { numbers in
      try FakeProducts(numbers.map { FakeProduct($0, .string("Thing \($0)")) })
    }
    let settings = services.map { $0.settings.mapValues(Optional.some) }
    for there in settings {
      let synced = try await home.run("products sync", there)
      #expect(synced.status == 0, "\(synced)")
    }
    let scopes = try await home.run(
      "store scopes products --fields scope,records --tsv", settings[1])
    let records = scopes.lines.map { $0.split(separator: "\t").last }
    #expect(records == ["5", "3"], "\(scopes)")
    let other = try #require(scopes.lines.last?.split(separator: "\t").first)
    let adopted = try await home.run("store adopt products \(other)", settings[1])
    #expect(adopted.status == 64, "\(adopted)")
    #expect(adopted.errors.contains("was read with other settings"), "\(adopted)")
    let deletion = "products delete \(FakeProduct.id(1)) --yes"
    #expect(try await home.run(deletion, settings[0]).status == 0)
    for (there, numbers) in zip(settings + settings, [2...3, 101...105, 2...3, 101...105]) {
      let listed = try await home.run(
        "products list --all --offline --fields id --tsv", there)
      #expect(listed.status == 0, "\(listed)")
      #expect(Set(listed.lines) == Set(numbers.map { FakeProduct.id($0) }), "\(listed)")
    }
  }

  @Test func `seeds of users are not mixed`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("users load 10").status == 0)
    let first = Set(try await home.column("email", "users list --all --offline"))
    #expect(first.count >= 10)
    let seed = ["RANDOM_USER_SEED": "another"]
    #expect(try await home.run("users load 5", seed).status == 0)
    let other = try await home.run("users list --all --offline --fields email --tsv", seed)
    // A few people have the same address in each of them.
    #expect(!other.lines.isEmpty && first.intersection(other.lines).count < 5, "\(other)")
    #expect(Set(try await home.column("email", "users list --all --offline")) == first)
  }
}
