import Testing

@testable import AggregatorSQL

/// The place of a mistake in a statement of SQL.
@Suite struct StatementExcerptTests {
  @Test(arguments: [
    ("SELECT 'é日本' FORM heroes", 18, ["  SELECT 'é日本' FORM heroes", "                      ^"]),
    ("SELECT 1,\n\t nam\nFROM heroes", 12, ["  nam", "  ^"]),
    ("SELECT a\tb c", 11, ["  SELECT a b c", "             ^"]),
    ("SELECT 1 +", 10, ["  SELECT 1 +", "            ^"]),
    (
      "\(String(repeating: "1 + ", count: 20))x y \(String(repeating: "z ", count: 20))", 82,
      ["  …1 + 1 + x y z z z…", "             ^"]
    ),
  ])
  func `a caret is below the place of a mistake`(
    statement: String, offset: Int, lines: [String]
  ) {
    #expect(statement.excerpt(at: offset, width: statement.count > 80 ? 22 : 80) == lines)
  }
}
