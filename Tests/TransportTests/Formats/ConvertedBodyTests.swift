import AggregatorFormats
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// Bodies in other formats are read as JSON.
struct ConvertedBodyTests {
  private func body(
    _ text: String, _ type: String, rows: [String]? = nil, maxBytes: Int = 1 << 20
  ) throws -> ConvertedBody {
    try body(Data(text.utf8), type, rows: rows, maxBytes: maxBytes)
  }

  private func body(
    _ bytes: Data, _ type: String, rows: [String]? = nil, maxBytes: Int = 1 << 20
  ) throws -> ConvertedBody {
    let origin = ConvertedBody.Origin(contentType: type, path: "/", rows: rows)
    return try #require(try ConvertedBody(bytes, from: origin, maxBytes: maxBytes))
  }

  private func json(_ body: ConvertedBody) throws -> JSON {
    JSON(try #require(JSONText(body.json)))
  }

  // MARK: - CSV

  static let tables: [(text: String, rows: JSON)] = [
    ("id,name\n1,x\n2,y", [["id": "1", "name": "x"], ["id": "2", "name": "y"]]),
    ("id,name\r\n1,x\r\n\r\n2,\r\n", [["id": "1", "name": "x"], ["id": "2", "name": nil]]),
    ("id,name\n1,\"\"\n", [["id": "1", "name": ""]]),
    (
      "id,name\n1,\"a \"\"b\"\"\r\nc, d\"\n2,5\" pipe\n",
      [["id": "1", "name": "a \"b\"\r\nc, d"], ["id": "2", "name": "5\" pipe"]]
    ),
    ("id;price\n1;2,5\n", [["id": "1", "price": "2,5"]]),
    ("\u{FEFF}id,id,\n1,2,3\n", [["id": "1", "id_2": "2", "column_3": "3"]]),
    // A row with fewer values than names is none, as one with more.
    ("id,name\n1\n2,x,y\n3,z\n\n", [nil, nil, ["id": "3", "name": "z"]]),
    // It may lack those without a name at its end.
    (
      "id,name,,\"\"\n1,x\n2,y,,\n3,z,4",
      [
        ["id": "1", "name": "x"],
        ["id": "2", "name": "y", "column_3": nil, "column_4": nil],
        ["id": "3", "name": "z", "column_3": "4"],
      ]
    ),
    ("id,\"a\"\"b\\\"\n1,\"tab\t\u{1}\"\n", [["id": "1", "a\"b\\": "tab\t\u{1}"]]),
    ("id,name\n", []),
  ]

  @Test(arguments: tables) func `CSV is a list of objects of texts`(
    text: String, rows: JSON
  ) throws {
    let body = try body(text, "text/csv")
    #expect(body.format == .csv)
    #expect(try json(body) == rows)
    #expect(body.cut == nil)
  }

  /// Whatever is split between two pieces of a file, the rows are the same.
  @Test(arguments: tables) func `CSV is the same in pieces`(text: String, rows: JSON) throws {
    let bytes =
      Array(text.utf8).starts(with: [0xEF, 0xBB, 0xBF])
      ? Array(text.utf8.dropFirst(3)) : Array(text.utf8)
    for size in 1...bytes.count {
      var reader = try RowReader(.csv, head: bytes)
      var read = JSONRows()
      for start in stride(from: 0, to: bytes.count, by: size) {
        let piece = Array(bytes[start..<min(start + size, bytes.count)])
        var position = 0
        while position < piece.count {
          try reader.read(piece, from: &position, into: &read, upTo: read.count + 1)
        }
      }
      #expect(try reader.finish(after: 0, into: &read) == nil)
      #expect(JSON(try #require(JSONText(read.json))) == rows, "in pieces of \(size)")
    }
  }

  @Test(arguments: [
    ("id,name\n1,\"x\ny\n", "line 2: a quote is not closed", 0),
    ("id,name\n1,x\n2", "the last line has 1 of 2 values", 1),
  ])
  func `cut-off CSV has the rows before the cut`(text: String, reason: String, count: Int) throws {
    let body = try body(text, "text/csv")
    #expect(body.cut == reason)
    guard case .array(let rows) = try json(body) else { throw SourceError(.malformed, "no list") }
    #expect(rows.count == count)
  }

  @Test(arguments: [
    ("", "the file is empty"), ("\n\n", "the file is empty"), ("\u{FEFF}", "the file is empty"),
    ("id\n", "line 1: there is neither a row nor more than one column"),
    ("\"id\n", "line 1: there is neither a row nor more than one column"),
  ])
  func `a table without rows and with at most one column is an error`(
    text: String, reason: String
  ) throws {
    let error = #expect(throws: FormatError.self) { try body(text, "text/csv") }
    #expect(error?.description == reason)
  }

  @Test func `CSV that is damaged is an error with its line`() throws {
    let error = #expect(throws: FormatError.self) {
      try body("id,name\n1,\"x\"y\n", "text/csv")
    }
    #expect(error?.description == "line 2: text after a closing quote")
    #expect(error?.sourceError(from: "shop").code == .malformed)
  }

  @Test func `a table in Markdown is no CSV`() throws {
    let error = #expect(throws: FormatError.self) {
      try body("| ID | v |\n| ---: | --- |\n| 1 | a |\n", "text/csv")
    }
    #expect(error?.description.contains("it is a Markdown table") == true)
    // Values may be dashes.
    #expect(try json(body("id|v\n1|-\n", "text/csv")) == [["id": "1", "v": "-"]])
    #expect(try json(body("id,v\n-,-\n", "text/csv")) == [["id": "-", "v": "-"]])
  }

  @Test(arguments: ["text/csv", "text/tab-separated-values"])
  func `what is no text is no table`(type: String) throws {
    let noise = Data((0..<2560).map { UInt8(truncatingIfNeeded: $0 * 167 + $0 / 256) })
    let controls = Data(String(repeating: "a\u{1},\u{2}b\n", count: 30).utf8)
    for bytes in [noise, Data("id,name\n1,a\0b\n".utf8), controls] {
      let error = #expect(throws: FormatError.self) { try body(bytes, type) }
      #expect(error?.description == "it is binary, or in an encoding other than UTF-8")
    }
    #expect(try body("id,name\n1,\u{1}\u{1B}[1m\n", type).json.isEmpty == false)
  }

  @Test func `a row with more or fewer values than columns is named by its line`() throws {
    let body = try body("id,name\n1,\"x\ny\"\n2,y,z\n3,y,z,z\n4,z\n", "text/csv")
    #expect(
      try json(body) == [["id": "1", "name": "x\ny"], nil, nil, ["id": "4", "name": "z"]])
    #expect(body.fault == "line 4 has 3 values for 2 columns")
    for (text, type) in [
      ("id,name\n1,x\n2\n3,y\n", "text/csv"), ("id\tname\n1\tx\n2\n", "text/tab-separated-values"),
    ] {
      let body = try self.body(text, type)
      #expect(body.fault == "line 3 has 1 value for 2 columns" && body.cut == nil)
    }
  }

  @Test func `CSV may grow to four times the limit`() throws {
    let name = String(repeating: "n", count: 900)
    let error = #expect(throws: FormatError.self) {
      try body("\(name)\n" + String(repeating: "1\n", count: 20_000), "text/csv")
    }
    #expect(error?.kind == .tooLarge)
  }

  // MARK: - NDJSON

  @Test func `NDJSON is a list of its lines`() throws {
    let body = try body(
      "{\"id\": 1}\r\n\n{\"id\": 2}{}\n{\"id\": 3}", "application/x-ndjson")
    #expect(try json(body) == [["id": 1], nil, ["id": 3]])
    #expect(body.cut == nil)
    let cut = try self.body("{\"id\": 1}\n{\"id\"", "application/x-ndjson")
    #expect(try json(cut) == [["id": 1]])
    #expect(cut.cut == "the last line is not a whole JSON value")
  }

  @Test func `a line that is not JSON is named`() throws {
    let body = try body(
      "{\"id\": 1}\r\n\n{\"id\": 2, \"at\":\nx\n{\"id\": 3}\n", "application/x-ndjson")
    #expect(try json(body) == [["id": 1], nil, nil, ["id": 3]])
    #expect(body.fault == "line 3 is not JSON")
  }

  // MARK: - XML

  static let documents: [(text: String, rows: [String]?, json: JSON)] = [
    ("<a/>", nil, ["a": nil]),
    ("<a> x &amp; <![CDATA[<y>]]></a>", nil, ["a": " x & <y>"]),
    (
      #"<a id="1">x<b/><c k="2"/><b>y</b>z</a>"#, nil,
      ["a": ["@id": "1", "b": [nil, "y"], "c": ["@k": "2"], "#text": "xz"]]
    ),
    (
      #"<x:a xmlns:x="urn:x" xmlns="urn:y" x:id="1"><x:b/></x:a>"#, nil,
      ["x:a": ["@x:id": "1", "x:b": nil]]
    ),
    (
      #"<rss version="2.0"><channel><item><guid isPermaLink="false">7</guid></item></channel></rss>"#,
      nil, ["rss": ["@version": "2.0", "channel": ["item": [["guid": "7"]]]]]
    ),
    ("<feed><title>t</title></feed>", nil, ["feed": ["title": "t", "entry": []]]),
    ("<r><rows><row>1</row></rows></r>", nil, ["r": ["rows": ["row": "1"]]]),
    ("<r><rows><row>1</row></rows></r>", ["r", "rows", "row"], ["r": ["rows": ["row": ["1"]]]]),
    ("<r><rows/></r>", ["r", "rows", "row"], ["r": ["rows": ["row": []]]]),
    ("<r><error>no</error></r>", ["r", "rows", "row"], ["r": ["error": "no"]]),
  ]

  @Test(arguments: documents) func `XML is an object of its elements`(
    text: String, rows: [String]?, expected: JSON
  ) throws {
    let body = try body(text, "application/xml", rows: rows)
    #expect(body.format == .xml)
    #expect(try json(body) == expected)
  }

  @Test func `a cut-off document has the rows before the cut`() throws {
    let text = "<r><row><id>1</id></row><row><id>2</id><name>x</na"
    let body = try body(text, "text/xml", rows: ["r", "row"])
    #expect(try json(body) == ["r": ["row": [["id": "1"]]]])
    #expect(body.cut == "the document ends in line 1")
  }

  @Test(arguments: [
    (
      #"<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>"#,
      "line 1: the document declares entities, which are not read"
    ),
    (
      #"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>"#,
      "line 1: the document declares entities, which are not read"
    ),
    ("<a>\n<b></a>", "line 2: mismatched tag"),
    ("<a>&nbsp;</a>", "line 1: undefined entity"),
    (
      String(repeating: "<a>", count: 5000),
      "line 1: elements are nested more than 200 deep"
    ),
  ])
  func `a hostile or damaged document is an error`(text: String, reason: String) throws {
    let error = #expect(throws: FormatError.self) { try body(text, "text/xml") }
    #expect(error?.description == reason)
  }

  @Test func `the next page of an Atom feed is its link`() throws {
    let text = #"<feed><link rel="self" href="/1"/><link rel="next" href="/2?a=1&amp;b=2"/></feed>"#
    #expect(try body(text, "application/atom+xml").next == "/2?a=1&b=2")
    #expect(try body("<feed/>", "application/atom+xml").next == nil)
  }

  // MARK: - Encodings and compression

  @Test func `text is in the encoding that the service names`() throws {
    let text = "id,name\n1,Zoë – “x”\n"
    let rows: JSON = [["id": "1", "name": "Zoë – “x”"]]
    for (encoding, charset) in [
      (String.Encoding.utf8, "utf-8"), (.utf16LittleEndian, "utf-16le"),
      (.utf16BigEndian, "UTF-16BE"), (.utf16, "utf-16"),
    ] {
      let bytes = try #require(text.data(using: encoding))
      #expect(try json(try body(bytes, "text/csv; charset=\"\(charset)\"")) == rows, "\(charset)")
    }
    let latin1 = Data("id,name\n1,Zo".utf8) + [0xEB, 0x80, 0x0A]
    #expect(
      try json(try body(latin1, "text/csv; charset=ISO-8859-1")) == [["id": "1", "name": "Zoë€"]])
    let error = #expect(throws: FormatError.self) {
      try body(text, "text/csv; charset=ebcdic")
    }
    #expect(error?.description == #"unknown encoding "ebcdic""#)
    let document = Data("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>".utf8) + [0xEB]
    #expect(try json(try body(document + Data("</a>".utf8), "text/xml")) == ["a": "ë"])
    let utf16 = try #require("<a>ë</a>".data(using: .utf16))
    #expect(try json(try body(utf16, "text/xml")) == ["a": "ë"])
  }

  @Test func `bytes that are not UTF-8 are read as Windows-1252, and it is said`() throws {
    let mixed =
      Data("id,name\n1,Zo".utf8) + [0xEB, 0x20, 0x80, 0x0A] + Data("2,Zoë €\n3,caf".utf8) + [0xE9]
    let guessed = try body(mixed, "text/csv")
    #expect(guessed.isGuess)
    #expect(
      try json(guessed) == [
        ["id": "1", "name": "Zoë €"], ["id": "2", "name": "Zoë €"], ["id": "3", "name": "café"],
      ])
    #expect(try !body("id,name\n1,Zoë €\n", "text/csv").isGuess)
    let bytes = [UInt8](mixed)
    for size in 1...bytes.count {
      var decoder = try TextDecoder(contentType: nil, head: bytes.prefix(4))
      var text = stride(from: 0, to: bytes.count, by: size).flatMap {
        decoder.decode(Array(bytes[$0..<min($0 + size, bytes.count)]))
      }
      text += decoder.finish()
      #expect(
        String(validating: text, as: UTF8.self) == "id,name\n1,Zoë €\n2,Zoë €\n3,café",
        "in pieces of \(size)")
      #expect(decoder.isGuess)
    }
  }

  @Test(arguments: [
    ("application/json", true), ("application/json; charset=iso-8859-1", false),
    ("application/json; charset=ebcdic", true),
  ])
  func `JSON that is not UTF-8 is read as other text`(type: String, isGuess: Bool) throws {
    let text = Data(#"[{"v": "Zo"#.utf8) + [0xEB, 0x20, 0x80] + Data(#""}]"#.utf8)
    let read = try body(text, type)
    #expect(try json(read) == [["v": "Zoë €"]])
    #expect(read.isGuess == isGuess && read.format == nil)
  }

  @Test func `UTF-16 is the same in pieces`() throws {
    let text = "a😀ë"
    let bytes = [UInt8](try #require(text.data(using: .utf16)))
    for size in 1...bytes.count {
      var decoder = try TextDecoder(contentType: nil, head: bytes.prefix(4))
      let pieces = stride(from: 0, to: bytes.count, by: size).flatMap {
        decoder.decode(Array(bytes[$0..<min($0 + size, bytes.count)]))
      }
      #expect(String(decoding: pieces, as: UTF8.self) == text, "in pieces of \(size)")
    }
  }

  @Test func `compressed files are read in their own format`() throws {
    let table = Data("id,name\n1,x\n".utf8)
    let file = Gzip.file(table)
    #expect(try json(try body(file, "application/gzip")) == [["id": "1", "name": "x"]])
    let plain = try body(Gzip.file(Data(#"{"id": 1}"#.utf8)), "application/gzip")
    #expect(plain.format == nil)
    #expect(try json(plain) == ["id": 1])
    // Several members are one file.
    let joined = try body(file + Gzip.file(Data("2,y\n".utf8)) + [0, 0], "application/gzip")
    #expect(try json(joined) == [["id": "1", "name": "x"], ["id": "2", "name": "y"]])
    let cut = try body(file.dropLast(6), "application/gzip")
    #expect(cut.cut == "the compressed file ends too early")
    #expect(try json(cut) == [["id": "1", "name": "x"]])
    var damaged = file
    damaged[damaged.count - 6] ^= 1
    let error = #expect(throws: FormatError.self) { try body(damaged, "application/gzip") }
    #expect(error?.description == "the compression is damaged")
  }

  @Test func `a bomb ends at the limit`() throws {
    let bomb = Gzip.file(Data("a,b\n".utf8) + Data(repeating: 0x31, count: 3 << 20))
    let error = #expect(throws: FormatError.self) {
      try body(bomb, "application/gzip", maxBytes: 2 << 20)
    }
    #expect(error?.kind == .tooLarge)
    #expect(error?.description == "the file is larger than 2 MiB")
  }
}
