import AggregatorCore
import AggregatorStore
import AggregatorText
import Foundation

/// Records with lists in them, some of which are none, or have elements of several kinds.
enum NestedSample {
  struct Basket: SourceRecord {
    let id: Int
    let lines: [Line]
  }

  struct Line: Codable, Hashable, Sendable {
    let sku: String?
    let count: Int?
    var tags: [String]?
  }

  static let fields: [Field<Basket>] = [Field(\.id)]

  static let tables: [NestedTable<Basket>] = [
    NestedTable(
      "lines", at: "lines",
      fields: [
        Field(\.sku), Field(\.count),
        Field("a\"'b", "Odd", .any, about: "Odd.") { _ in .null }
          .stored(at: "a'b"),
        Field("first", "First", .any, about: "Of a list.") {
          ($0.tags?.first).json
        }
        .computed(as: .value(at: [.member("tags"), .member("0")])),
      ], elements: \.lines),
    NestedTable(
      "all", at: "deep.list",
      fields: [Field<JSON>("value", "value", .any, about: "All.") { $0 }.stored(at: "")]
    ) { _ in [] },
  ]

  static let entries: [StoreEntry] = [
    #"{"id":1,"lines":[{"sku":"x'\"\u0000","count":10,"a'b":{"c":[1]},"tags":["t","u"]},{"count":9}],"deep":{"list":[1,[2],"[3]"]}}"#,
    #"{"id":2,"lines":[],"deep":{"list":{"no":"list"}}}"#,
    #"{"id":3,"lines":"[1,2]","deep":[{"list":[1]}]}"#,
    #"{"id":4,"deep":{"list":[null,true,2.5,"a'b",{"x":null}]}}"#,
    #"{"id":5,"lines":[null,7,"{\"sku\":\"no\"}",[{"sku":"no"}],{"sku":5,"count":"8"}],"deep":7}"#,
  ].enumerated().map { index, json in
    StoreEntry(id: "\(index + 1)", json: Data(json.utf8)) { FoldedText("") }
  }
}
