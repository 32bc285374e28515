import CAggregatorSQLite
import Testing

@testable import AggregatorCore
@testable import AggregatorSQLite

/// The function that finds a member of a JSON text, compared with `json_extract`.
@Suite struct SQLMemberTests {
  private static let values = [
    "0", "-0", "1", "-12", "0.0", "-0.0", "0.1", "12.99", "2.675", "1e5", "1E+5", "1e-7", "1e400",
    "5e-324",
    "1.865773024477409e-301", "123456789012345678", "999999999999999999", "1234567890123456789",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "0.12345678901234567890",
    "9007199254740993.0", "562949953421312.25", "123456789012345678901234567890", "true", "false",
    "null",
    #""""#, #""x""#, #""a\"b""#, #""\\""#, #""\\\"""#, #""\u0041""#, #""\u0000z""#,
    #""\ud83d\ude00""#, #""\ud800""#,
    #""é😀""#, #""\n\t\/\b\f\r""#, #""{\"k\":1}""#, #""a,b:c}""#, #""12""#, "[]", "{}", "[ 1 , 2 ]",
    #"[1,"]",{"k":2}]"#,
    #"{"k":{"a":1},"k":2}"#, #"{ "k" : "\"" }"#,
  ]
  private static let names = [
    "k", "a", #"\u006b"#, #"a\"b"#, "", "é", "k ", "K", "0", "a.b", #"k\\"#,
  ]
  private static let damage = [
    "{", "}", "[", "]", "\"", ",", ":", "\\", "'", "/*", "0", "-", " ", "x",
  ]
  private static let paths = [
    "$", #"$."k""#, #"$."a""#, #"$."k"."a""#, #"$."a"."k"."k""#, #"$."é""#, #"$."0""#, #"$."a.b""#,
    #"$."""#,
    #"$."u006b""#,
  ]

  private func document(_ generator: inout SeededGenerator, depth: Int = 0) -> String {
    func space() -> String { ["", "", "", " ", "\n\t"].randomElement(using: &generator) ?? "" }
    let members = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
      let name = Self.names.randomElement(using: &generator) ?? ""
      let isNested = depth < 3 && Int.random(in: 0..<4, using: &generator) == 0
      let value =
        isNested
        ? document(&generator, depth: depth + 1)
        : Self.values.randomElement(using: &generator) ?? ""
      return "\(space())\"\(name)\"\(space()):\(space())\(value)\(space())"
    }
    return "{\(space())\(members.joined(separator: ","))}"
  }

  /// The documents, some of them damaged.
  private func documents(_ count: Int) -> [String] {
    var generator = SeededGenerator(7)
    return (0..<count).map { index in
      var text = document(&generator)
      guard index % 4 == 0 else { return text }
      let place = text.indices.randomElement(using: &generator) ?? text.startIndex
      if Bool.random(using: &generator) { return String(text[..<place]) }
      text.insert(contentsOf: Self.damage.randomElement(using: &generator) ?? "", at: place)
      return text
    }
  }

  @Test func `a member is what json_extract finds, of the same type`() throws {
    var connection = try Connection(
      ":memory:", busyTimeout: .zero, flags: SQLITE_OPEN_READWRITE)
    try connection.defineMember(as: "member")
    try connection.execute("CREATE TABLE documents (json TEXT)")
    for text in Self.values + documents(3000) {
      try connection.run("INSERT INTO documents VALUES (?1)", text)
    }
    for path in Self.paths {
      // The texts of all values that differ. A part of JSON stays JSON in another one.
      let different = try connection.rows(
        """
        SELECT json FROM documents CROSS JOIN (SELECT ?1 AS path) WHERE json_valid(json) AND (
          json_extract(json, path) IS NOT member(json, path)
          OR typeof(json_extract(json, path)) <> typeof(member(json, path))
          OR hex(json_extract(json, path)) <> hex(member(json, path))
          OR json_array(json_extract(json, path)) <> json_array(member(json, path)))
        """, path
      ) { $0.text(0) ?? "" }
      #expect(different == [], "\(path)")
      // What is damaged has an error or a value, and ends.
      let damaged = try connection.rows("SELECT json FROM documents WHERE NOT json_valid(json)") {
        $0.text(0) ?? ""
      }
      #expect(damaged.count > 100)
      for text in damaged {
        _ = try? connection.row("SELECT member(?1, ?2)", text, path) { $0.text(0) }
      }
    }
    #expect(
      try connection.row(#"SELECT member(NULL, '$."k"') IS NULL"#) { $0.integer(0) } == 1)
  }
}
