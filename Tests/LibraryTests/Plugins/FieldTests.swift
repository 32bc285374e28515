import AggregatorCore
import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite
struct FieldTests {
  private struct Thing: SourceRecord {
    var id = 7
    var name = "Ünö"
    var alias: String?
    var weight = 1.5
    var isGood = true
    var tags = ["Änte", "b"]
    var rank: Int?
  }

  private let fields: [Field<Thing>] = [
    Field("id", "Id", \.id, about: "A number.", isSearchable: true),
    Field("name", "Name", \.name, about: "A text.", isSearchable: true),
    Field("alias", "Alias", \.alias, about: "Perhaps a text.", isSearchable: true),
    Field("weight", "Weight", \.weight, about: "A number.", isShown: false),
    Field("isGood", "Good", \.isGood, about: "A truth.", isSearchable: true),
    Field("tags", "Tags", \.tags, about: "Texts.", isSearchable: true),
    Field("rank", "Rank", \.rank, about: "Perhaps a number."),
    Field("initial", "Initial", .text, about: "The first letter.") {
      .string(String($0.name.prefix(1)))
    },
  ]

  private struct Place: SourceRecord {
    struct Position: Codable, Hashable, Sendable { var latitude = 1.5 }
    var id = 7
    var imageURL = "i"
    var web_address = "w"
    var createdAt: String?
    var position: Position?
    var shortName: String { "\(id)" }
  }

  @Test func `name, label and path follow from a key path`() {
    let fields: [Field<Place>] = [
      Field(\.id), Field(\.imageURL), Field(\.web_address), Field(\.createdAt, "Created"),
      Field(\.position?.latitude, about: "Degrees."), Field(\.shortName, "Short name"),
    ]
    #expect(
      fields.map(\.name) == [
        "id", "imageURL", "web_address", "createdAt", "latitude", "shortName",
      ])
    #expect(
      fields.map(\.label) == [
        "ID", "Image URL", "Web address", "Created", "Latitude", "Short name",
      ])
    #expect(
      fields.map(\.path) == [
        "id", "imageURL", "web_address", "createdAt", "position.latitude", nil,
      ])
    #expect(fields.map(\.about).last == "Short name.")
    #expect(fields[4].about == "Degrees.")
    #expect(fields.map { $0[Place(position: .init())] }.last == "7")
    #expect(fields[4][Place(position: .init())] == .number(1.5))
  }

  @Test func `derives its kind from its type`() {
    #expect(
      fields.map(\.kind) == [.integer, .text, .text, .number, .bool, .list, .integer, .text])
  }

  @Test func `reads a record`() {
    let values = fields.map { $0[Thing()] }
    #expect(values == [7, "Ünö", nil, .number(1.5), true, ["Änte", "b"], nil, "Ü"])
    #expect(fields[2][Thing(alias: "x")] == "x")
    #expect(fields[6][Thing(rank: 3)] == 3)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `is null for a number that is not finite`(number: Double) {
    #expect(fields[3][Thing(weight: number)] == .null)
  }

  @Test func `is shown and not searchable by default`() {
    #expect(fields.map(\.isShown) == [true, true, true, false, true, true, true, true])
    #expect(fields.map(\.isSearchable) == [true, true, true, false, true, true, false, false])
  }

  @Test func `searchable text has a line for each text and number`() {
    #expect(fields.searchableText(of: Thing()) == FoldedText("7\nÜnö\nÄnte\nb\n"))
    #expect(fields.searchableText(of: Thing(alias: "x")).contains(FoldedText("uno\nx")))
  }

  @Test func `fields are chosen once for the searchable text of many records`() {
    struct CountedFields: Sequence {
      let fields: [Field<Thing>]
      let readings = Counter()

      func makeIterator() -> [Field<Thing>].Iterator {
        readings.add()
        return fields.makeIterator()
      }
    }
    let counted = CountedFields(fields: fields)
    let text = counted.searchableText() as @Sendable (Thing) -> FoldedText
    let readings = counted.readings.value
    #expect(text(Thing()) == FoldedText("7\nÜnö\nÄnte\nb\n"))
    #expect(text(Thing(alias: "x")).contains(FoldedText("uno\nx")))
    #expect(counted.readings.value == readings)
  }

  @Test func `no word matches across two fields`() {
    #expect(!fields.searchableText(of: Thing()).contains(FoldedText("7Ünö")))
  }

  @Test func `a record without a merge rule is unchanged`() {
    #expect(
      Thing(name: "new").merged(over: Thing(name: "old", alias: "known")) == Thing(name: "new"))
  }
}
