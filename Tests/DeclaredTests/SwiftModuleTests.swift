import AggregatorInference
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorExport
@testable import DeclaredSource

/// Modules that are written from manifests; `Scripts/check-new-source` compiles some with all that manifests can say.
@Suite struct SwiftModuleTests {
  private func module(
    _ manifest: String, rows: String, page: String? = nil, named name: String = "boxes"
  ) throws -> SwiftModule {
    let manifest = try Manifest(reading: Data(manifest.utf8))
    let rows = try #require(JSON(inOrder: Data(rows.utf8)))
    let page = try page.map { try #require(JSON(inOrder: Data($0.utf8))) }
    return try SwiftModule(
      of: name, manifest, record: "box",
      from: ModuleSample(page: page ?? ["items": rows], rows: rows.children))
  }

  private func text(_ ending: String, of module: SwiftModule) throws -> String {
    try #require(module.files.first { $0.path.hasSuffix(ending) }).text
  }

  private static let plain = #"""
    {"url": "https://api.example/v1/boxes?lang=en", "headers": {"Authorization": "Bearer ${BOXES_KEY}"},
     "rows": "items", "id": "id", "fields": ["title", "html_url", "maker.name", "weight"], "page": "page=1",
     "size": "limit=50", "total": "header:X-Total", "paging": "proved", "search": "q", "link": "html_url",
     "item": "https://api.example/v1/boxes/{id}"}
    """#

  private static let row = #"""
    [{"id": 7, "title": "Red box", "html_url": "https://boxes.example/7", "maker": {"name": "Ann"}, "weight": 2.5}]
    """#

  @Test func `a usual manifest is a record of its fields`() throws {
    let module = try module(Self.plain, rows: Self.row)
    #expect(
      module.files.map(\.path) == [
        "Sources/Sources-Boxes/Box.swift", "Sources/Sources-Boxes/BoxesPlugin.swift",
        "Sources/Sources-Boxes/Resources/boxes.json", "Sources/Sources-Boxes/Resources/README.md",
        "Tests/BoxesTests/BoxesTests.swift",
      ])
    #expect(module.notes.isEmpty)
    #expect(
      try text("Box.swift", of: module) == #"""
        public import AggregatorKit

        /// One of the boxes.
        public struct Box: SourceRecord {
          public let id: String
          public let title: String?
          public let htmlURL: String?
          public let maker: Maker?
          public let weight: Double?

          /// The maker of a record.
          public struct Maker: Codable, Hashable, Sendable {
            public let name: String?
          }

          private enum CodingKeys: String, CodingKey {
            case id
            case title
            case htmlURL = "html_url"
            case maker
            case weight
          }
        }

        """#)
  }

  @Test func `and a plugin with its settings, paging, search and lookup`() throws {
    let plugin = try text("Plugin.swift", of: module(Self.plain, rows: Self.row))
    for part in [
      #"public let example = PluginExample(query: "red", id: "7")"#,
      #"""
      public static let key = Setting(
          "BOXES_KEY", .secret, about: "secret of boxes, sent to api.example only")
      """#,
      #""BOXES_URL", .url, default: "https://api.example/v1/boxes", about: "URL of the service")"#,
      #"Field(\.title, isSearchable: true),"#,
      #"Field("html_url", "Html URL", \.htmlURL, about: "Html URL.", isSearchable: true),"#,
      #"Field("maker.name", "Maker name", \.maker?.name, about: "Maker name.", isSearchable: true),"#,
      #"public let layout = RecordLayout<Box>(link: { $0.htmlURL })"#,
      #"let key = try environment.settings.required(Self.key)"#,
      #"let list = HTTPRequest(.get, url, query: [.init("lang", "en")], headers: [.bearer(key)])"#,
      #".page(.query("page"), start: 1), size: (.query("limit"), 50), honorsSize: true)"#,
      #"rows: "items", total: .header("X-Total"))"#,
      #".searching(by: .query("q"))"#, #".item(below: url)"#,
    ] {
      #expect(plugin.contains(part), "\(part)\n\(plugin)")
    }
    #expect(!plugin.contains("localSearchBound"))
  }

  @Test func `and the total of a header field, where code reads the response`() throws {
    let manifest = Self.plain.replacing(
      #""total": "header:X-Total""#, with: #""total": "header:Content-Range", "more": "has_more""#)
    let plugin = try text("Plugin.swift", of: module(manifest, rows: Self.row))
    #expect(plugin.contains(#"total: response.total(inField: "Content-Range")"#), "\(plugin)")
  }

  @Test func `and its rules for errors`() throws {
    func plugin(_ rules: String) throws -> SwiftModule {
      try module(
        Self.plain.replacing(
          #""link": "html_url""#, with: #""link": "html_url", "errors": \#(rules)"#),
        rows: Self.row)
    }
    let rules = #"""
      [{"status": 422, "path": "error.code", "equals": "too \"deep\"", "then": "end"},
       {"path": "code", "equals": 7, "message": "text", "then": "retry"}]
      """#
    let plain = try plugin(rules)
    let text = try text("Plugin.swift", of: plain)
    for part in [
      #"ErrorRule(.end, status: 422, at: "error.code", equals: "too \"deep\"")"#,
      #"ErrorRule(.retry, at: "code", equals: 7, message: "text")"#,
    ] {
      #expect(text.contains(part), "\(part)\n\(text)")
    }
    #expect(plain.notes.isEmpty)
    let other = try plugin(#"[{"path": "errors.*.code", "equals": 7, "then": "end"}]"#)
    #expect(other.notes.contains { $0.hasPrefix("errors: ") })
    #expect(try !self.text("Plugin.swift", of: other).contains("handlingErrors"))
  }

  @Test func `tables are named, for the module does not have them`() throws {
    let module = try module(
      Self.plain.replacing(
        #""link": "html_url""#,
        with: #""link": "html_url", "tables": {"parts": "parts", "tags": "tags"}"#),
      rows: Self.row)
    #expect(module.notes.count == 1)
    #expect(module.notes.first?.hasPrefix("tables: parts, tags are left out") == true)
  }

  @Test func `bundled records are in the form of the record`() throws {
    let rows = #"""
      [{"id": 7, "title": " ", "weight": null, "html_url": "", "more": 1}, {"title": "no ID"},
       {"id": "8", "title": "Box", "weight": 2, "html_url": "u"}]
      """#
    let module = try module(Self.plain, rows: rows)
    let bundled = try #require(JSON(reading: Data(text("boxes.json", of: module).utf8)))
    #expect(bundled == [["id": "7"], ["html_url": "u", "id": "8", "title": "Box", "weight": 2]])
  }

  @Test(arguments: [
    ("html_url", "htmlURL"), ("first-name", "firstName"), ("ID", "id"), ("größe", "grosse"),
    ("3d", "value3d"), ("🎁", "value"), ("", "value"), ("self", "self2"), ("class", "class"),
    ("a\nb\"c\\(d)", "aBCD"), ("hashValue", "hashValue2"),
  ])
  func `a property's name is Swift`(name: String, expected: String) {
    var names = SwiftNames(avoiding: ["self", "hashValue"])
    #expect(names.property(name) == expected)
  }

  @Test func `names that become the same stay apart`() {
    var names = SwiftNames(avoiding: [])
    #expect(
      ["a_b", "aB", "a.b"].map { names.property($0) } == ["aB", "aB2", "aB3"])
    #expect("default".declaredName == "`default`")
  }

  @Test(arguments: [
    (#"a"b\c"#, #""a\"b\\c""#), ("\\(exit(1))\n\t", #""\\(exit(1))\n\t""#),
    ("\u{202E}\u{0}", #""\u{202E}\u{0}""#), ("é🎁", "\"é🎁\""),
  ])
  func `a literal is its text`(text: String, literal: String) {
    #expect(text.swiftLiteral == literal)
  }

  @Test func `a raw literal has more number signs than its text`() {
    #expect("a".fence == "#")
    #expect(##"\#(x) "#"##.fence == "##")
  }

  @Test func `what cannot be carried over is said`() throws {
    let manifest = #"""
      {"url": "https://api.example/boxes", "rows": "all.{}", "fields": ["name", "none", {"name": "row", "path": "$"}],
       "next": "next", "paging": "unproved", "item": "https://api.example/boxes/{id}"}
      """#
    let module = try module(manifest, rows: #"[{"id": "a", "name": "A", "none": null}]"#)
    #expect(
      module.notes == [
        "$: it is the whole row: write a property of Box and its Field by hand",
        "fields: none had no value, so the type is JSON: see Box.swift",
        "paging: it is not proved, and no list will say so: compare their length in BoxesPlugin.swift",
        "rows: those of an object are in the order of its names: see the RESTSource in BoxesPlugin.swift",
        "item: its response has no ID: write .item(at:decoding:) in BoxesPlugin.swift",
      ])
  }

  @Test(arguments: [
    (#""id": "tags.0""#, "inside a list"), (#""id": ["a", "a"]"#, "twice"),
  ])
  func `an ID that no record can have is refused`(id: String, words: String) throws {
    let manifest = #"{"url": "https://api.example/boxes", "rows": "$", \#(id)}"#
    let error = #expect(throws: SourceError.self) {
      try module(manifest, rows: #"[{"a": "1", "tags": ["x"]}]"#)
    }
    #expect(try #require(error).message.contains(words))
  }

  @Test func `a value and a part of it are one property`() throws {
    let manifest = #"""
      {"url": "https://api.example/boxes", "rows": "items", "id": "id", "fields": ["maker", "maker.name", "tags.0"]}
      """#
    let module = try module(
      manifest, rows: #"[{"id": "1", "maker": {"name": "Ann"}, "tags": ["a"]}]"#)
    #expect(try text("Box.swift", of: module).contains("public let maker: JSON?"))
    let plugin = try text("Plugin.swift", of: module)
    #expect(plugin.contains(#"$0.maker?.value(at: [.member("name")]) ?? .null"#))
    #expect(plugin.contains(#"$0.tags?.value(at: [.member("0")]) ?? .null"#))
    #expect(plugin.contains("fileprivate func value(at path: [JSONPathComponent]) -> JSON?"))
  }

  @Test(arguments: [
    ("https://a.example/boxes", "https://a.example/boxes/{id}", "url", "url", true),
    (
      "https://a.example/v1/boxes", "https://a.example/v2/box/{id}",
      #"url.appending(path: "v1/boxes")"#,
      #"url.appending(path: "v2/box")"#, true
    ),
    ("https://a.example/boxes?x=1", "https://b.example/{id}.json", "url", "itemURL", false),
    ("https://a.example/a%2Fb", "https://a.example/c?id={id}", "url", "itemURL", false),
  ])
  func `URLs are settings and paths below them`(
    url: String, item: String, list: String, parent: String, isBelow: Bool
  ) throws {
    let text = JSON.object([
      .init("url", .string(url)), .init("rows", "$"), .init("id", "id"),
      .init("item", .string(item)),
    ]).text
    let addresses = Addresses(of: try Manifest(reading: Data(text.utf8)))
    #expect(addresses.list.code == list)
    let template = try #require(addresses.item)
    #expect(template.address.code == parent)
    #expect(template.isBelow == isBelow)
  }
}
