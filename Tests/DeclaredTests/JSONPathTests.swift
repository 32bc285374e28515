import AggregatorKit
import Testing

@testable import DeclaredSource

struct JSONPathTests {
  private let document: JSON = [
    "data": ["items": [["id": 1, "tags": ["a", "b"]], ["id": 2, "tags": []]]], "a.b": ["*": 3],
    "0": 4,
    "pages": ["x": ["n": 1], "y": ["n": 2], "z": nil],
  ]

  @Test(
    arguments: [
      ("data.items.1.id", JSON.integer(2)), (#""a.b"."*""#, 3), ("0", 4),
      ("data.items.*.id", [1, 2]), ("data.items.*.tags.*", ["a", "b"]), ("pages.*.n", [1, 2]),
      ("data.items.2", nil), ("data.items.x", nil), ("data.items.01.id", nil), ("none.*.x", nil),
    ] as [(String, JSON?)])
  func `A path leads to its values`(text: String, expected: JSON?) throws {
    let path = try #require(JSONPath(text))
    #expect(path.value(in: document) == expected)
    #expect(path.description == text)
  }

  @Test func `The root is the document`() {
    #expect(JSONPath("$")?.value(in: document) == document)
    #expect(JSONPath.root.description == "$")
  }

  @Test(arguments: ["", ".", "a.", ".a", "a..b", #"a."b"#, #""a"b"#, #"a"b""#])
  func `An invalid path is refused`(text: String) { #expect(JSONPath(text) == nil) }

  @Test func `A path of too many components is refused`() {
    #expect(JSONPath(Array(repeating: "a", count: 32).joined(separator: ".")) != nil)
    #expect(JSONPath(Array(repeating: "a", count: 33).joined(separator: ".")) == nil)
  }

  @Test func `The entries of an object become rows with their names as IDs`() {
    let rows = Manifest.RowsPath("data.{}")?.rows(in: ["data": ["x": ["n": 1, "id": 7], "y": [1]]])
    #expect(rows == [["id": "x", "n": 1], ["id": "y", "value": [1]]])
    #expect(Manifest.RowsPath("{}")?.rows(in: [1]) == nil)
  }

  @Test func `A path to several arrays joins their rows`() {
    let rows = Manifest.RowsPath("pages.*.images")?.rows(
      in: ["pages": ["1": ["images": [1, 2]], "2": [:], "3": ["images": [3]]]])
    #expect(rows == [1, 2, 3])
  }

  @Test(arguments: ["meta.total", "header:X-Total-Count", "last.id", #""last".id"#])
  func `A place in a response is written as it is read`(text: String) {
    #expect(Manifest.ResponsePath(text)?.description == text)
  }

  @Test(arguments: ["page=1", "$offset=0", "variables.from=0", "a=b=7"])
  func `A parameter is written as it is read`(text: String) {
    #expect(Manifest.Parameter(text)?.description == text)
  }

  @Test func `A member that is an asterisk is no field for all fields`() {
    #expect(JSONPath([.member("*")]).fieldName == #""*""#)
    #expect(JSONPath("a.*.b")?.fieldName == "a.b")
  }

  @Test(arguments: ["page", "=1", "page=", "page=x", "page=-1", "page=1000001"])
  func `An invalid parameter is refused`(text: String) { #expect(Manifest.Parameter(text) == nil) }
}
