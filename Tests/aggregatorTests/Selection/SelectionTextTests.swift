import AggregatorKit
import Testing

@testable import AggregatorFilters
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection
@testable import AggregatorTerminal

/// What `--where` and `--sort` make of several texts.
@Suite struct SelectionTextTests {
  private struct Thing: SourceRecord {
    var id: Int
    var text: String?
  }

  private static let fields: [Field<Thing>] = [
    Field("id", "ID", \.id, about: ""), Field("text", "Text", \.text, about: ""),
  ]

  @Test func `half of a condition is refused of several sources, also of those without its field`()
    throws
  {
    let text = SelectionText(conditions: ["text=open and size is null"])
    try text.requireFields(in: [["id", "text"]])
    let error = #expect(throws: CommandError.self) {
      try text.requireFields(in: [["id", "text"], ["text", "size"]])
    }
    #expect(error?.code == .usage)
    #expect(error?.message == #"invalid condition "size is null": no operator (character 6)"#)
  }

  @Test func `a value of a facet replaces the conditions that its counts leave out`() throws {
    let text = SelectionText(conditions: ["text=a and id>100 and id!=120"])
    func facet(_ condition: String) -> Facet {
      let value = Facet.Value(text: "", count: 1, condition: condition)
      return Facet(field: "id", label: "ID", isRange: true, values: [value], missing: 0)
    }
    var range = facet("id>=100 and id<150")
    func condition(_ text: SelectionText = text) throws -> String {
      try text.condition(with: range.values[0], of: range)
    }
    #expect(try condition() == #"text="a" and id>=100 and id<150"#)
    #expect(text.omission(from: range) == "id>100 and id!=120")
    #expect(SelectionText(conditions: ["text=a"]).omission(from: range) == nil)
    // Finer ranges are of what the conditions have left.
    range.isDivided = true
    #expect(try condition() == #"text="a" and id>100 and id!=120 and id>=100 and id<150"#)
    #expect(text.omission(from: range) == nil)
    let above = SelectionText(conditions: ["id>100 and text=a"])
    #expect(try condition(above) == #"text="a" and id>100 and id<150"#)
    // Of lists, a record can have several values.
    range = facet("id=5")
    range.isOfLists = true
    #expect(try condition(SelectionText(conditions: ["id=4"])) == "id=4 and id=5")
    #expect(try condition(SelectionText(conditions: ["id=5"])) == "id=5")
  }

  @Test func `what repeats counts once, and there is a limit to the rest`() throws {
    let order = try RecordOrder(
      Array(repeating: "id", count: 3000) + ["-id", "-text", "text"], Self.fields)
    #expect(order.keys.map(\.field.name) == ["id", "text"])
    #expect(order.keys.map(\.isDescending) == [false, true])
    func selection(_ conditions: [String]) throws -> Selection<Thing> {
      try Selection(SelectionText(conditions: conditions), Self.fields, at: Date())
    }
    let repeated = try selection(Array(repeating: "text=franc", count: 3000) + ["text=franc"])
    // Several conditions have no near miss.
    #expect(repeated.nearMiss(in: [Thing(id: 1, text: "Franc")]) == "Franc")
    _ = try selection((1...100).map { "id!=\($0)" })
    for conditions in [
      (1...101).map { "id!=\($0)" }.joined(separator: " and "),
      "id in (\((1...101).map(String.init).joined(separator: ",")))",
    ] {
      let error = #expect(throws: CommandError.self) { try selection([conditions]) }
      #expect(error?.code == .usage)
      #expect(error?.message == "too many conditions (maximum 100)")
    }
  }

  @Test func `knows the value that is near`() throws {
    func nearMiss(_ conditions: String..., or best: String? = nil) throws -> String? {
      try Selection(SelectionText(conditions: conditions), Self.fields, at: Date())
        .nearMiss(in: [Thing(id: 1, text: "Perú"), Thing(id: 222, text: "France")], or: best)
    }
    #expect(try nearMiss("text=peru") == "Perú")
    #expect(try nearMiss("text=Frnace") == "France")
    #expect(try nearMiss("text=frank") == "France")
    #expect(try nearMiss("text=frank", or: "Franka") == "Franka")
    #expect(try nearMiss("text=chile", or: "Chili") == "Chili")
    #expect(try nearMiss("text=chile") == nil)
    #expect(try nearMiss("text=France or Chile") == "text in (France, Chile)")
    for text in ["text=France,Chile", "text=France | Chile", "text in (France Chile)"] {
      #expect(try nearMiss(text) == "text in (France, Chile)")
    }
    #expect(try nearMiss("text in (Spain Chile)") == nil)
    #expect(try nearMiss("text in (Franc, Chile)") == nil)
    let list = "text in (Spain, Chile)"
    #expect(try nearMiss("text=Spain or Chile", or: list) == list)
    #expect(try nearMiss("text=Spain or Chile") == nil)
    #expect(try nearMiss("text=EU  id<5 and x") == "text=EU and id<5 and x")
    #expect(try nearMiss("text~EU id ~ 5") == "text~EU and id ~ 5")
    // What is no filter is no suggestion.
    #expect(try nearMiss("text=\"x' or 1=1\"") == nil)
    #expect(try nearMiss("text=Spa*") == "text~/^Spa/i")
    #expect(try nearMiss("text=%ain") == "text~/ain$/i")
    #expect(try nearMiss("text~^spa") == "text~/^spa/i")
    #expect(try nearMiss("text=NULL") == "text=")
    // Numbers are always near to others.
    #expect(try nearMiss("id=221") == nil)
    #expect(try nearMiss("text~peru") == nil)
    #expect(try nearMiss("text=peru", "id=1") == nil)
    #expect(try nearMiss("not text=peru") == nil)
  }
}
