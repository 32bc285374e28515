import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// A store that this person may not write, or not even read, and a program that has no home.
@Suite struct NoPermissionTests {
  private let service: FakeRandomUser
  private let home: TestHome

  init() throws {
    service = try FakeRandomUser()
    home = try TestHome(service.settings)
  }

  private static let deletion = "users delete aino.tormanen@example.com --yes"

  /// Runs a line as a person to whom nothing here belongs.
  private static let nobody = [
    "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
  ]

  /// `true` if that is possible, and that user may run the program.
  @Sendable private static func canBeNobody() async throws -> Bool {
    guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: nobody[0]) else {
      return false
    }
    return try await Binary.run("--version", by: nobody).status == 0
  }

  private func expect(
    _ line: String, status: Int32, _ words: String, _ environment: [String: String?] = [:],
    by program: [String] = []
  ) async throws {
    let outcome = try await home.run(line, environment, by: program)
    #expect(outcome.status == status, "\(line): \(outcome)")
    #expect(outcome.errors.contains(words), "\(line): \(outcome)")
    #expect((outcome.output == "") == ![0, 3].contains(status), "\(line): \(outcome)")
  }

  private func chmod(_ path: String, _ mode: mode_t) {
    #expect(Foundation.chmod(home.sandbox.root.appending(path: path).path, mode) == 0)
  }

  private func openDirectories() {
    for directory in ["home/.local", "home/.local/share", "home/.local/share/aggregator"] {
      chmod(directory, 0o755)
    }
  }

  @Test(.enabled("nobody cannot be played here", canBeNobody))
  func `doctor says that a store that can be read cannot be written`() async throws {
    #expect(try await home.run("users load 20").status == 0)
    openDirectories()
    chmod("home/.local/share/aggregator", 0o777)
    chmod("home/.local/share/aggregator/store.sqlite", 0o444)
    let outcome = try await home.run("doctor users --offline --tsv", by: Self.nobody)
    #expect(outcome.status == 3, "\(outcome)")
    let finding = outcome.lines.first { $0.hasPrefix("store\tpermissions\tfailed\t") }
    #expect(
      finding?.contains("the store cannot be written: Permission denied") == true, "\(outcome)")
  }

  @Test(.enabled("nobody cannot be played here", canBeNobody))
  func `an unreadable store causes a warning and cannot be changed`() async throws {
    #expect(try await home.run("users load 20").status == 0)
    openDirectories()
    let words = "store.sqlite: Permission denied"
    try await expect("users list", status: 3, words, by: Self.nobody)
    try await expect("users search aino", status: 3, words, by: Self.nobody)
    for line in [Self.deletion, "users load 5", "store status", "store clear users --yes"] {
      try await expect(line, status: 74, words, by: Self.nobody)
    }
  }

  @Test(.enabled("nobody cannot be played here", canBeNobody))
  func `a store in an unreadable directory is not an empty one`() async throws {
    #expect(try await home.run("users load 20").status == 0)
    openDirectories()
    chmod("home/.local/share/aggregator", 0)
    let words = "store.sqlite: Permission denied"
    try await expect("users list", status: 3, words, by: Self.nobody)
    try await expect("users list --offline", status: 3, words, by: Self.nobody)
    let lines = [
      "store status", "users load 5", "store clear users --yes",
    ]
    for line in lines + ["sql SELECT/**/1", Self.deletion] {
      try await expect(line, status: 74, words, by: Self.nobody)
    }
  }

  @Test(
    .enabled("nobody cannot be played here", canBeNobody), arguments: [0o644, 0o666] as [mode_t])
  func `a store of an older version that cannot be upgraded is reported`(mode: mode_t) async throws
  {
    #expect(try await home.run("users load 20").status == 0)
    try home.file.makeOlder()
    openDirectories()
    chmod(TestHome.store, mode)
    let words = "store.sqlite was written by an older version and is read-only"
    for line in ["users list", "users list --offline", "users search a"] {
      try await expect(line, status: 3, words, by: Self.nobody)
    }
    for line in ["store status", "sql SELECT/**/count(*)/**/FROM/**/users", "users load 5"] {
      let outcome = try await home.run(line, by: Self.nobody)
      #expect(outcome.status == 74, "\(line): \(outcome)")
      #expect(outcome.errors.contains("store.sqlite"), "\(outcome)")
    }
  }

  @Test(.enabled("nobody cannot be played here", canBeNobody))
  func `a read-only store still answers and cannot be changed`() async throws {
    #expect(try await home.run("users load 20").status == 0)
    let id = try home.file.ids(of: "users")[0]
    #expect(try await home.run("users delete \(id) --yes").status == 0)
    openDirectories()
    chmod(TestHome.store, 0o644)
    let before = try Data(contentsOf: URL(filePath: home.file.path))
    let listed = try await home.run(
      "users list --all --fields email --tsv", by: Self.nobody)
    #expect(listed.status == 0)
    #expect(listed.lines == Array(try home.file.ids(of: "users").dropFirst()))
    #expect(try await home.run("store status", by: Self.nobody).status == 0)
    let counted = try await Binary.run(
      ["sql", "SELECT count(*) FROM users"], environment: home.environment, in: home.sandbox,
      by: Self.nobody)
    #expect(counted.lines == ["\(listed.lines.count)"], "\(counted)")
    for line in ["users delete \(listed.lines[0]) --yes", "users restore --all", "users load 5"] {
      let outcome = try await home.run(line, by: Self.nobody)
      #expect(outcome.status == 74, "\(line): \(outcome)")
      #expect(outcome.errors.contains("store.sqlite: "), "\(outcome)")
    }
    #expect(try Data(contentsOf: URL(filePath: home.file.path)) == before)
  }

  @Test(.enabled("nobody cannot be played here", canBeNobody))
  func `an unwritable directory causes a warning`() async throws {
    let words = "/home/.local/share/aggregator: Permission denied"
    let countries = try FakeCountries()
    let list = try await home.run(
      "countries list", countries.settings.mapValues(Optional.some), by: Self.nobody)
    #expect(list.status == 0)
    #expect(list.lines.count == 20)
    #expect(list.errors.contains(words), "\(list)")
    try await expect("users list", status: 0, words, by: Self.nobody)
    for line in [Self.deletion, "users load 5"] {
      try await expect(line, status: 74, words, by: Self.nobody)
    }
  }

  @Test func `reports an AGGREGATOR_HOME that is not a directory`() async throws {
    let file = try home.sandbox.write("mine", to: "home/file").path
    let place: [String: String?] = ["AGGREGATOR_HOME": file]
    for line in [Self.deletion, "users load 5"] {
      try await expect(line, status: 74, "\(file)/store.sqlite", place)
    }
    try await expect(
      "users list", status: 0,
      "showing bundled sample data (cannot create \(file)/store.sqlite: ", place)
    #expect(try home.sandbox.text(of: "home/file") == "mine")
    // An added source, too, which is unknown for this reason.
    for line in ["users list", "things list"] {
      try await expect(
        line, status: 78, "AGGREGATOR_HOME: must be an absolute path",
        ["AGGREGATOR_HOME": "relative"])
    }
  }

  @Test func `without HOME, all commands answer and warn that nothing is saved`()
    async throws
  {
    let homeless: [String: String?] = ["HOME": nil]
    for line in ["users list --limit 3", "users search ada --limit 3", "countries show AF"] {
      try await expect(
        line, status: 0,
        "warning: caching is disabled: no directory for the store\nhint: set HOME, ",
        homeless)
    }
    // An endless list has no last page.
    let all = try await home.run("users list --all --max-pages 3 --fields email --tsv", homeless)
    #expect(all.status == 3)
    #expect(service.requests.count < 110)
    let lines = [
      Self.deletion, "users restore --all", "store status", "store path",
      "store clear users --yes",
    ]
    for line in lines {
      let problem = line == "users load 5" ? "there is no place " : "no directory for "
      try await expect(line, status: 74, problem, homeless)
    }
    try await expect("users load 5", status: 74, "no directory for the store", homeless)
    #expect(try home.sandbox.files(under: "home").isEmpty)
  }
}
