import AggregatorFilters
import AggregatorKit
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorServer
@testable import AggregatorWeb

/// What the form of a filter means.
@Suite struct FilterFormTests {
  private func form(_ comparison: String, _ value: String?, to end: String? = nil) throws
    -> FilterForm
  {
    let fields = [("field", "size"), ("operator", comparison), ("value", value), ("to", end)]
    let query = fields.compactMap { name, value in
      value.map { ServerRequest.Parameter(name, $0) }
    }
    return try #require(FilterForm(ServerRequest(method: "GET", query: query)))
  }

  @Test(
    arguments: [
      ("=", "20,000.5", nil, ValueKind.number, #"size="20000.5""#),
      ("between", "10", "2,000", .number, #"size in "10".."2000""#),
      ("between", "2024", "2024-03-04", .date, #"size in "2024".."2024-03-04""#),
      ("in", "1, 2 ,3", nil, .number, #"size in ("1", "2", "3")"#),
      ("in", "1,000; 2", nil, .number, #"size in ("1000", "2")"#),
      ("in", "Kitchen", nil, .text, #"size in ("Kitchen")"#),
      (">", "20", nil, .number, #"size>"20""#), ("<", "20", nil, .any, #"size<"20""#),
      ("between-below", "20", "4,000", .number, #"size>="20" and size<"4000""#),
      (">", "2024-03", nil, .date, #"size>"2024-03""#), ("=", "yes", nil, .bool, #"size="true""#),
      ("=", "1,000", nil, .text, #"size="1,000""#), ("~", "x", nil, .number, #"size~"x""#),
      ("empty", "left over", nil, .date, #"size="""#), ("present", nil, nil, .bool, #"size!="""#),
    ] as [(String, String?, String?, ValueKind, String)])
  func `a condition has the exact value`(
    comparison: String, value: String?, end: String?, kind: ValueKind, condition: String
  ) throws {
    let made = try #require(try form(comparison, value, to: end).condition(of: kind))
    #expect(made == condition)
    // A form that is filled in for the filter makes it again.
    let isOffered = FilterForm.comparisons.contains {
      $0.name == comparison && $0.kinds.contains(kind)
    }
    let filled = FilterForm(try TypedFilter(made).conjuncts, ["size": kind])
    #expect((filled != nil) == isOffered)
    if let filled { #expect(try filled.condition(of: kind) == made) }
  }

  @Test(arguments: [#"size in ("a, b")"#, #"size in ("a, b", "c")"#, "size in (a, b)"])
  func `a list of values is filled in as it was`(text: String) throws {
    let filter = try TypedFilter(text)
    let form = try #require(FilterForm([filter], ["size": .text]))
    #expect(try form.condition(of: .text) == filter.quoted)
  }

  @Test func `both bounds are a range`() throws {
    let form = try #require(
      FilterForm(try TypedFilter("size>=1 and size<=3").conjuncts, ["size": .number]))
    #expect(try form.condition(of: .number) == #"size in "1".."3""#)
  }

  @Test(arguments: [
    "size~/x/", "size>1 and size<3", "size=1 or size=3", "not size=3", #"size in ("a;b", c)"#,
  ])
  func `the form is not filled in for what it cannot make`(text: String) throws {
    #expect(FilterForm(try TypedFilter(text).conjuncts, ["size": .number]) == nil)
  }

  @Test func `the values that were chosen are exact, and none of them is no filter`() throws {
    func condition(_ choices: [String]) throws -> String? {
      let fields = [("field", "size"), ("operator", "in")] + choices.map { ("choice", $0) }
      let request = ServerRequest(
        method: "GET", query: fields.map { ServerRequest.Parameter($0.0, $0.1) })
      return try #require(FilterForm(request)).condition(of: .text)
    }
    #expect(try condition(["a, b", "c;d"]) == #"size in ("a, b", "c;d")"#)
    #expect(try condition([]) == nil)
  }

  @Test(
    arguments: [
      ("=", "many", nil, ValueKind.number), (">=", "1,00", nil, .number),
      ("=", "2024-13", nil, .date),
      ("=", "maybe", nil, .bool), ("between", "1", nil, .number), ("between", "", "2024", .date),
      ("in", " , ", nil, .text), ("in", "1, x", nil, .number), ("?", "1", nil, .any),
    ] as [(String, String, String?, ValueKind)])
  func `a value of another kind is refused`(
    comparison: String, value: String, end: String?, kind: ValueKind
  ) throws {
    let form = try form(comparison, value, to: end)
    #expect(throws: Problem.self) { try form.condition(of: kind) }
  }

  @Test func `every comparison of the form has a condition`() throws {
    for comparison in FilterForm.comparisons {
      for kind in comparison.kinds {
        let value = ["number": "1", "bool": "no"][kind.rawValue] ?? "2024"
        _ = try form(comparison.name, value, to: value).condition(of: kind)
      }
    }
  }

  private struct Thing: SourceRecord {
    var id: Int
    var value: JSON
  }

  @Test(
    arguments: [
      ([JSON.integer(1), .null, .number(1.5)], ValueKind.number), ([true, "", false], .bool),
      (["2024-03-04", "2024-03-04T09:12:44Z"], .date), (["2024-03-04", "soon"], .text),
      (["2024"], .text), ([["a"], []], .list), ([1, "a"], .any), ([nil], .any),
    ] as [([JSON], ValueKind)])
  func `the kind of a field is that of its values`(values: [JSON], kind: ValueKind) {
    let field = Field<Thing>("value", "Value", .any, about: "A value.", read: \.value)
    let things = values.enumerated().map { Thing(id: $0.offset, value: $0.element) }
    #expect(ValueKind(of: field, in: things) == kind)
  }
}
