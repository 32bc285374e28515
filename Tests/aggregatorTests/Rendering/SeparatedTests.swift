import AggregatorFormats
import AggregatorKit
import AggregatorSourceTesting
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct SeparatedTests {
  @Test(arguments: [
    ("plain", "plain"), ("a\tb\nc\rd\\e", #"a\tb\nc\rd\\e"#), ("\u{1B}[m\u{0}", #"\x1b[m\x00"#),
    ("\u{9B}\u{7F}", #"\xc2\x9b\x7f"#), ("é日🦸", "é日🦸"), ("\"a\"", "\"a\""),
  ])
  func `TSV escapes control characters`(text: String, escaped: String) {
    for isShown in [true, false] { #expect(text.tsvCell(isShown: isShown) == escaped) }
  }

  @Test(arguments: [
    ("\u{202E}", #"\xe2\x80\xae"#), ("می\u{200C}خواهم", #"می\xe2\x80\x8cخواهم"#),
    ("👩\u{200D}🚀", #"👩\xe2\x80\x8d🚀"#), ("so\u{AD}ft", #"so\xc2\xadft"#),
  ])
  func `TSV escapes format characters on a terminal only`(text: String, escaped: String) {
    #expect(text.tsvCell(isShown: true) == escaped)
    #expect(text.tsvCell(isShown: false).unicodeScalars.elementsEqual(text.unicodeScalars))
  }

  @Test func `TSV is lossless`() {
    var random = SeededGenerator(5)
    for text in hostileTexts + (0..<2000).map({ _ in random.text(upTo: 20) }) {
      for isShown in [true, false] {
        let cell = text.tsvCell(isShown: isShown)
        #expect(unescaped(cell).unicodeScalars.elementsEqual(text.unicodeScalars))
        #expect(
          !cell.unicodeScalars.contains {
            isShown ? $0.isInvisible : $0.properties.generalCategory == .control
          })
      }
    }
  }

  @Test func `TSV with names of columns reads as the texts that were written`() throws {
    var random = SeededGenerator(7)
    var texts = hostileTexts + (0..<2000).map { _ in random.text(upTo: 20) }
    texts += ["\"Weird Al\" Yankovic", "\"", "\"\u{301}", #"C:\temp"#, #"\N"#, #"\x41"#, "\\"]
    let lines = texts.map { text in
      ["a", text.tsvCell(isShown: false, isInTable: true), "z"].joined(separator: "\t") + "\n"
    }
    let bytes = Array(lines.joined().utf8)
    var reader = DelimitedReader(
      separator: UInt8(ascii: "\t"), maxSize: 1 << 20, replacesEscapes: true)
    var position = 0
    for text in texts {
      let isRead = try reader.next(in: bytes, from: &position)
      try #require(isRead)
      try #require(reader.values.count == 3)
      #expect(Array(reader.values[1] ?? []) == Array(text.utf8))
    }
    #expect(position == bytes.count)
  }

  @Test(arguments: [#"C:\Users\n"#, #"\N"#, #"a\"#, #"\x4"#, #"\xff"#, #"\xg0"#, #"\t\q"#])
  func `a value with another backslash is left as it is`(text: String) throws {
    var reader = DelimitedReader(
      separator: UInt8(ascii: "\t"), maxSize: 1 << 20, replacesEscapes: true)
    var position = 0
    let isRead = try reader.next(in: Array("a\t\(text)\n".utf8), from: &position)
    try #require(isRead)
    #expect(Array(reader.values[1] ?? []) == Array(text.utf8))
  }

  @Test func `quoted values, and those of services, have no escapes`() throws {
    for (line, replacesEscapes) in [("a\t\"b\\tc\"", true), ("a\tb\\tc", false)] {
      var reader = DelimitedReader(
        separator: UInt8(ascii: "\t"), maxSize: 1 << 20, replacesEscapes: replacesEscapes)
      var position = 0
      let isRead = try reader.next(in: Array("\(line)\n".utf8), from: &position)
      try #require(isRead)
      #expect(Array(reader.values[1] ?? []) == Array(#"b\tc"#.utf8))
    }
  }

  @Test(
    arguments: [
      ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""),
      ("a\nb", "\"a\nb\""),
      ("=1+1", "'=1+1"), ("@x", "'@x"), ("+49 30", "'+49 30"), ("-x", "'-x"), ("\tx", "'\tx"),
      ("\rx", "\"'\rx\""), ("\r1", "\"'\r1\""), ("-3.5", "-3.5"), ("+1e-9", "+1e-9"),
      ("-inf", "'-inf"), ("-0x1", "'-0x1"),
      ("-1-1", "'-1-1"), ("\u{200B}=1", "'\u{200B}=1"), ("\u{1B}[m", "\u{1B}[m"),
      ("\u{1B}=1", "'\u{1B}=1"), ("\u{202E}a", "\u{202E}a"), ("", ""),
      ("\nx", "\"'\nx\""), ("\n=1", "\"'\n=1\""), (" =1", "' =1"),
      ("\u{A0}\u{3000}@x", "'\u{A0}\u{3000}@x"),
      ("＝1+1", "'＝1+1"), ("＋x", "'＋x"), ("－x", "'－x"), ("＠x", "'＠x"), (" -3.5", " -3.5"),
      (" a=1", " a=1"),
    ] as [(String, String)])
  func `CSV quotes cells and defuses formulas`(text: String, cell: String) {
    #expect(text.csvCell(isRaw: false).unicodeScalars.elementsEqual(cell.unicodeScalars))
  }

  @Test func `raw CSV keeps formulas`() {
    #expect("=1+1".csvCell(isRaw: true) == "=1+1")
    #expect("\u{1B}=,".csvCell(isRaw: true) == "\"\u{1B}=,\"")
  }

  @Test func `CSV has values as they are, Markdown signs of controls; both are safe on a terminal`()
  {
    let name = "\u{1B}[2J a" + String(repeating: "\u{301}", count: 50) + "\u{200B}b"
    let hero = Hero(id: 1, name: name, realName: "a\r\nb\rc", publisher: nil)
    var listing = Listing.heroes
    listing.chosen = Hero.fields.filter { ["name", "realName"].contains($0.name) }
    func line(_ format: Format, on layout: TerminalLayout) -> String {
      rendered([[hero]], as: format, listing, on: layout)
    }
    #expect(
      line(.csv, on: .plain(80)).utf8.elementsEqual(
        "name,realName\r\n\(name),\"a\r\nb\rc\"\r\n".utf8))
    let markdown = name.replacing("\u{1B}[", with: "␛\\[")
    #expect(
      line(.markdown, on: .plain(80)).utf8.elementsEqual(
        "| Name | Real name |\n| --- | --- |\n| \(markdown) | a<br>b<br>c |\n".utf8))
    for format in [Format.csv, .markdown] {
      #expect(!line(format, on: .terminal(80)).contains("\u{1B}[2J"))
      #expect(line(format, on: .terminal(80)).contains("␛"))
    }
  }

  @Test func `CSV parses to the same cells`() throws {
    var random = SeededGenerator(6)
    let rows = (0..<500).map { id in
      Hero(id: id, name: random.text(upTo: 12), realName: random.text(upTo: 12), publisher: nil)
    }
    var listing = Listing.heroes
    listing.isRaw = true
    let text = rendered([rows], as: .csv, listing, on: .plain(80))
    let expected =
      [Hero.fields.map(\.name)]
      + rows.map { row in
        [String(row.id), row.name, row.realName ?? ""]
          + Array(repeating: "", count: Hero.fields.count - 3)
      }
    let found = parsed(csv: text)
    try #require(found.count == expected.count)
    for (found, expected) in zip(found, expected) {
      #expect(found == expected.map { Array($0.unicodeScalars) })
    }
  }

  @Test func `CSV has a header and CR LF also without records`() {
    #expect(rendered([], as: .csv, .countries, on: .plain(80)) == "code,name,region,capital\r\n")
    #expect(
      rendered([[Country.bouvet]], as: .csv, .countries, on: .plain(80))
        == "code,name,region,capital\r\nBV,Bouvet Island,AN,\r\n")
  }

  @Test func `a record with one empty cell is not an empty line`() {
    var listing = Listing.countries
    listing.chosen = [Country.fields[3]]
    #expect(
      rendered([[Country.bouvet]], as: .csv, listing, on: .plain(80)) == "capital\r\n\"\"\r\n")
  }

  @Test func `rows and cards have all fields of a record, as JSON has`() {
    let hero = Hero(id: 1, name: "X", powers: ["a", "b"])
    for listing in [Listing.heroes, .heroCards] {
      #expect(rendered([[hero]], as: .tsv, listing, on: .plain(80)) == "1\tX\t\t\t\ta, b\t\n")
    }
  }

  @Test(
    arguments: [
      (["a", "b"], "a, b"), (["a, b", "c"], #""a, b", c"#), (["5\" disk"], #""5"" disk""#),
      (["a\nb", "c"], "\"a\nb\", c"), ([1, 2], "1, 2"), ([], ""), ("a, b", "a, b"), (nil, ""),
      (["[1]", "", " a"], #"[1], "", " a""#), ([["a", "b"], 1], #"[["a","b"],1]"#),
      ([1, "2", ["y": 0, "z": [.null]]], #"[1,"2",{"y":0,"z":[null]}]"#),
    ] as [(JSON, String)])
  func `elements of a list are quoted where their ends would not be seen`(value: JSON, cell: String)
  {
    #expect(value.unambiguousCell == cell)
  }

  @Test func `CSV and TSV have such a list as a line of CSV`() {
    let hero = Hero(id: 1, name: "X", powers: ["a, b", "c"])
    var listing = Listing.heroes
    listing.chosen = listing.fields.filter { $0.name == "powers" }
    #expect(
      rendered([[hero]], as: .csv, listing, on: .plain(80))
        == "powers\r\n\"\"\"a, b\"\", c\"\r\n")
    #expect(rendered([[hero]], as: .tsv, listing, on: .plain(80)) == "\"a, b\", c\n")
    // A person reads the words.
    #expect(rendered([[hero]], as: .table, listing, on: .plain(80)) == "Powers\na, b, c\n")
  }

  @Test func `rows of the program's own things have the columns of a table`() {
    var listing = Listing.heroes
    listing.isNamedByID = true
    #expect(rendered([[Hero(id: 1)]], as: .tsv, listing, on: .plain(80)) == "1\t\t\t\t\n")
  }
}

/// Decodes the escapes of TSV.
private func unescaped(_ text: String) -> String {
  var bytes: [UInt8] = []
  var rest = Array(text.utf8)[...]
  while let byte = rest.popFirst() {
    guard byte == 0x5C, let kind = rest.popFirst() else {
      bytes.append(byte)
      continue
    }
    switch kind {
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "x"):
      bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    default: bytes.append(kind)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}

/// Parses RFC 4180 strictly.
private func parsed(csv text: String) -> [[[Unicode.Scalar]]] {
  var rows: [[[Unicode.Scalar]]] = []
  var row: [[Unicode.Scalar]] = []
  var rest = Array(text.unicodeScalars)[...]
  while !rest.isEmpty {
    var cell: [Unicode.Scalar] = []
    if rest.first == "\"" {
      rest.removeFirst()
      while let scalar = rest.popFirst() {
        if scalar == "\"" {
          guard rest.first == "\"" else { break }
          rest.removeFirst()
        }
        cell.append(scalar)
      }
    } else {
      while let scalar = rest.first, scalar != ",", scalar != "\r", scalar != "\n" {
        cell.append(scalar)
        rest.removeFirst()
      }
    }
    row.append(cell)
    if rest.starts(with: ["\r", "\n"]) {
      rows.append(row)
      row = []
      rest = rest.dropFirst(2)
    } else if rest.popFirst() != "," {
      return []
    }
  }
  return rows
}
