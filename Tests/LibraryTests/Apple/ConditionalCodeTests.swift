import Foundation
import Testing

/// Code that only one platform compiles is listed, with its reason, in decision 24.
@Suite struct ConditionalCodeTests {
  private static let decision = "Docs/Decisions/0024-conditional-code.md"

  @Test func `the list names each file and the number of its conditions`() throws {
    var found: [String: Int] = [:]
    for path in try SourceTree.files(endingWith: ".swift", ".c") {
      let lines = try SourceTree.text(of: path).split(separator: "\n")
      let count = lines.count { $0.drop { $0 == " " }.hasPrefix("#if") }
      if count > 0 { found[path] = count }
    }
    // | `Sources/…` | count | reason |
    var listed: [String: Int] = [:]
    for line in try SourceTree.text(of: Self.decision).split(separator: "\n")
    where line.hasPrefix("| `Sources/") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      try #require(cells.count == 3)
      #expect(!cells[2].isEmpty, "\(line)")
      listed[cells[0].replacing("`", with: "")] = Int(cells[1])
    }
    #expect(listed == found)
  }
}
