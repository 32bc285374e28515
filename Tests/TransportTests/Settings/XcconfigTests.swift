import AggregatorKit
import Testing

@Suite struct XcconfigTests {
  /// The contents of a text, one line of words per statement.
  private func read(_ text: String) -> [String] { read(Array(text.utf8)) }

  private func read(_ bytes: [UInt8]) -> [String] {
    Xcconfig(bytes).lines.map { line in
      switch line.statement {
      case .assignment(let it):
        "\(line.number) \(it.key)\(it.isConditional ? "[]" : "")=\(it.value)"
      case .include(let path, let isOptional):
        "\(line.number) include\(isOptional ? "?" : "") \(path)"
      case .unreadable(let fault): "\(line.number) \(fault.message)"
      }
    }
  }

  @Test(
    arguments: [
      ("KEY = value", ["1 KEY=value"]),
      ("KEY=value", ["1 KEY=value"]),
      ("\t KEY \t=\t two words \t", ["1 KEY=two words"]),
      ("KEY =", ["1 KEY="]),
      ("KEY = a = b", ["1 KEY=a = b"]),
      ("_K3Y = 日本", ["1 _K3Y=日本"]),
      ("KEY = value // why", ["1 KEY=value"]),
      ("KEY = value;", ["1 KEY=value"]),
      ("KEY = value ; ; // why", ["1 KEY=value"]),
      ("KEY = a;b", ["1 KEY=a;b"]),
      ("KEY = \"quoted\"", ["1 KEY=\"quoted\""]),
      ("KEY = https:/$()/host/a?b=c#d", ["1 KEY=https:/$()/host/a?b=c#d"]),
      ("KEY[sdk=*] = value", ["1 KEY[]=value"]),
      ("KEY[sdk=a*][arch=b] = value", ["1 KEY[]=value"]),
      ("KEY[sdk=a,arch=b]=value", ["1 KEY[]=value"]),
      ("#include \"a b.xcconfig\"", ["1 include a b.xcconfig"]),
      ("# include?\"http://x\" // why", ["1 include? http://x"]),
      ("", []),
      ("\n // only a comment\n\n", []),
      ("A = 1\nB = 2\r\nC = 3\rD = 4", ["1 A=1", "2 B=2", "3 C=3", "4 D=4"]),
      ("\r\n\r\nA = 1\r\n", ["3 A=1"]),
      ("\u{FEFF}A = 1", ["1 A=1"]),
    ] as [(String, [String])])
  func `reads the same as Xcode`(text: String, expected: [String]) {
    #expect(read(text) == expected)
  }

  @Test(
    arguments: [
      ("just words", "1 the line has no ="),
      ("= value", "1 the line has no key before its ="),
      ("A-B = value", "1 the line has no key of letters, digits and _ before its ="),
      ("\u{A0}A = value", "1 the line has no key of letters, digits and _ before its ="),
      ("1A = value", "1 the line has no key before its ="),
      ("A[sdk=* = value", "1 the [ after the key has no ]"),
      ("[sdk=*] = value", "1 the line has no key of letters, digits and _ before its ="),
      ("A = a\0b", "1 the line contains a NUL character"),
      ("A = a\u{1B}[31mb", "1 the line contains a control character"),
      ("#include file", "1 invalid #include"),
      ("#include \"\"", "1 invalid #include"),
      ("#include \"a\" b", "1 invalid #include"),
      ("#include \"a", "1 invalid #include"),
      ("#import \"a\"", "1 invalid #include"),
      ("#include \"a\u{1B}b\"", "1 the line contains a control character"),
      (String(repeating: "K", count: 129) + " = a", "1 the key is longer than 128 characters"),
      ("A = " + String(repeating: "a", count: 16_384), "1 the line is longer than 16384 bytes"),
    ] as [(String, String)])
  func `reports invalid lines without quoting them`(text: String, expected: String) {
    #expect(read(text) == [expected])
  }

  @Test func `requires UTF-8, except in comments`() {
    #expect(read(Array("A = ".utf8) + [0xE9]) == ["1 the line is not UTF-8"])
    #expect(read(Array("A = b // ".utf8) + [0xE9, 0x0A] + "B = c".utf8) == ["1 A=b", "2 B=c"])
    #expect(read([0xFF, 0xFE, 0x41, 0]) == ["1 is UTF-16 text"])
    #expect(read([0xFE, 0xFF, 0, 0x41]) == ["1 is UTF-16 text"])
  }

  @Test func `continues after an invalid line`() {
    #expect(read("A = 1\noops\nB = 2") == ["1 A=1", "2 the line has no =", "3 B=2"])
  }

  @Test(arguments: [
    ("https://host", true), ("HTTP://host", true), ("a https://host", true),
    ("https: //host", false), ("x // https:", false), ("https:/$()/host", false),
    ("ftp://host", false),
  ])
  func `detects a URL that a comment cut off`(value: String, isCut: Bool) throws {
    let line = try #require(Xcconfig(Array("A = \(value)".utf8)).lines.first)
    guard case .assignment(let assignment) = line.statement else {
      Issue.record("no assignment")
      return
    }
    #expect(assignment.isCut == isCut)
  }

  @Test(
    arguments: [
      ("a", [.text("a")]),
      ("", []),
      ("$(A)", [.reference("A")]),
      ("${A}b", [.reference("A"), .text("b")]),
      ("a/$()/b", [.text("a/"), .text("/b")]),
      ("$(inherited) x", [.inherited, .text(" x")]),
      ("$5 $A $", [.text("$5 $A $")]),
      ("$$()(A)", [.text("$"), .text("(A)")]),
      ("日$(A)本", [.text("日"), .reference("A"), .text("本")]),
    ] as [(String, [Xcconfig.Piece])])
  func `parses values`(value: String, expected: [Xcconfig.Piece]) throws {
    #expect(try Xcconfig.pieces(of: value) == expected)
  }

  @Test(arguments: ["$(A", "${A)", "$(A:lower)", "$(A_$(B))", "$( A )", "$(é)"])
  func `rejects references that only Xcode supports`(value: String) {
    #expect(throws: SourceError.self) { try Xcconfig.pieces(of: value) }
  }
}
