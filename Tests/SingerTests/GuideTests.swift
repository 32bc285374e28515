import Foundation
import Testing

/// The taps of the guide "A source in another language".
@Suite(.timeLimit(.minutes(10)))
struct GuideTests {
  private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: repository.appending(path: path)), as: UTF8.self)
  }

  private static func tap(_ name: String) -> String {
    repository.appending(path: "Examples/Taps/\(name)").path
  }

  private static let hasJQ = ["/usr/bin/jq", "/usr/local/bin/jq"].contains {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(arguments: ["tap-notes.py", "tap-lines.sh"])
  func `the guide has the programs as they are`(_ name: String) throws {
    let guide = try Self.text(
      "Sources/AggregatorKit/AggregatorKit.docc/ASourceInAnotherLanguage.md")
    #expect(try guide.contains(Self.text("Examples/Taps/\(name)") + "```"))
  }

  @Test(.enabled(if: TapUser.hasPython, "python3 is not installed"))
  func `the tap in Python sends what has changed`() async throws {
    let user = try TapUser()
    try FileManager.default.createDirectory(
      atPath: user.path("notes"), withIntermediateDirectories: false)
    func write(_ name: String, _ text: String, at time: Double) throws {
      try user.write(text, to: "notes/\(name).md")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: time)],
        ofItemAtPath: user.path("notes/\(name).md"))
    }
    try write("list", "buy groceries", at: 1_700_000_000)
    try write("plan", "go home", at: 1_700_000_001)
    try user.write("{\"folder\": \"\(user.path("notes"))\"}", to: "notes.json")
    let added = try await user.run(
      "sources add notes --tap \(Self.tap("tap-notes.py")) --tap-config notes.json")
    #expect(added.status == 0, "\(added)")
    #expect(added.output.contains("notes  path  incremental  modified"), "\(added)")
    let first = try await user.run("notes sync")
    #expect(first.output.hasPrefix("notes\t2\t0\t0\t0\t"), "\(first)")
    try write("list", "buy bread", at: 1_700_000_002)
    let second = try await user.run("notes sync")
    #expect(second.output.hasPrefix("notes\t0\t1\t1\t0\t"), "\(second)")
    let found = try await user.run("notes search bread --fields id")
    #expect(found.output == "list.md\n", "\(found)")
  }

  @Test(.enabled(if: hasJQ, "jq is not installed"))
  func `the tap in shell sends everything`() async throws {
    let user = try TapUser()
    try user.setRows(1...3)
    try user.write("{\"file\": \"\(user.path("rows"))\"}", to: "lines.json")
    let added = try await user.run(
      "sources add lines --tap \(Self.tap("tap-lines.sh")) --tap-config lines.json")
    #expect(added.status == 0, "\(added)")
    #expect(try await user.run("lines sync").status == 0)
    try user.setRows(2...3)
    let second = try await user.run("lines sync")
    #expect(second.output.hasPrefix("lines\t0\t0\t2\t1\t"), "\(second)")
    #expect(try await user.records(of: "lines") == rows(2...3))
  }
}
