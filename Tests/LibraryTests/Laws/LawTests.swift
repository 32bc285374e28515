import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Testing

@Suite struct LawTests {
  @Test func `a correct source obeys every law`() async {
    let report = await LawReport(on: Diary().subject())
    let service = await LawReport(on: Diary().subject().with { $0.search = .service })
    let long = LawSubject("long", source: notebook(25), fields: Note.fields)
    let compared = await LawReport(on: long.with { $0.sample = notebook(3) })
    // The laws of one kind of search do not apply to the other, and a few records cannot be compared.
    let others = ["search-pages", "fields-filled"]
    for entry in report.entries.filter({ !others.contains($0.law.name) })
      + zip([service, compared], others).flatMap({ report, name in
        report.entries.filter { $0.law.name == name }
      })
    {
      guard case .holds = entry.verdict else {
        Issue.record("\(entry.law.name): \(entry.verdict)")
        continue
      }
    }
    #expect(report.entries.map(\.law.name) == Law.all.map(\.name))
  }

  @Test(arguments: Breach.all)
  func `a source that violates one law violates no other`(breach: Breach) async {
    let report = await LawReport(on: breach.subject())
    #expect(Set(report.violations.map(\.law)) == [breach.law], "\(report)")
    #expect(report.inconclusive.isEmpty, "\(report)")
  }

  @Test func `every law is violated by some test`() {
    let others: Set = ["record-round-trip", "merge-keeps"]  // These have tests of their own below.
    #expect(Set(Breach.all.map(\.law)).union(others) == Set(Law.all.map(\.name)))
  }

  @Test func `names are unique and follow their premises`() {
    var names: [String] = []
    for law in Law.all {
      #expect(Set(names).isSuperset(of: law.premises), "\(law)")
      names.append(law.name)
    }
    #expect(Set(names).count == names.count)
  }

  @Test func `a record that loses data as JSON violates a law`() async {
    let leaky = (1...3).map { LeakyNote(id: $0, title: "note \($0)") }
    #expect(await Self.broken(leaky) == ["record-round-trip"])
    #expect(await Self.broken((1...3).map(CountingNote.init)) == ["record-round-trip"])
    #expect(await Self.broken((1...3).map(SilentNote.init)) == ["record-round-trip"])
  }

  @Test(arguments: [
    (Sketch.Merging.right, [] as [String]), (.forgets, ["merge-keeps"]), (.grows, ["merge-keeps"]),
    (.renames, ["merge-keeps"]),
  ])
  func `a short form that erases details violates a law`(
    merging: Sketch.Merging, broken: [String]
  ) async {
    let short = (1...3).map { Sketch(id: $0, merging: merging) }
    let bundle = BundledSource("sketches", items: short, fields: Sketch.fields)
    let source = ScriptedSource<Sketch>(
      page: bundle.page,
      item: { id throws(SourceError) in
        var found = try await bundle.item(id)
        found.item.text = "long"
        return found
      }, skip: bundle.cursor)
    let report = await LawReport(
      on: LawSubject("sketches", source: source, fields: Sketch.fields))
    #expect(Array(Set(report.violations.map(\.law))) == broken, "\(report)")
  }

  /// The names of the violated laws.
  private static func broken<Item: SourceRecord>(_ items: [Item]) async -> Set<String> {
    let source = BundledSource("odd", items: items, fields: [])
    let report = await LawReport(on: LawSubject("odd", source: source, fields: []))
    return Set(report.violations.map(\.law))
  }
}

/// A record that is not encoded completely.
struct LeakyNote: SourceRecord {
  let id: Int
  var title: String

  private enum CodingKeys: CodingKey { case id }

  init(id: Int, title: String) {
    self.id = id
    self.title = title
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(id: try container.decode(Int.self, forKey: .id), title: "")
  }
}

/// A record that encodes differently the second time: it counts its decodings.
struct CountingNote: SourceRecord {
  let id: Int
  private var readings = 0

  init(_ id: Int) { self.id = id }

  private enum CodingKeys: CodingKey { case id, readings }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    readings = try container.decode(Int.self, forKey: .readings) + 1
  }

  static func == (left: CountingNote, right: CountingNote) -> Bool { left.id == right.id }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A record that cannot be decoded.
struct SilentNote: SourceRecord {
  let id: Int

  init(_ id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "never"))
  }
}

/// A record that lists return without its text, with a choice of merges.
struct Sketch: SourceRecord {
  enum Merging: String, Codable, Sendable { case right, forgets, grows, renames }

  let id: Int
  var text: String?
  var merging = Merging.right

  func merged(over known: Sketch) -> Sketch {
    switch merging {
    case .right: Sketch(id: id, text: text ?? known.text, merging: merging)
    case .forgets: self
    case .grows: Sketch(id: id, text: (known.text ?? "") + "!", merging: merging)
    case .renames: Sketch(id: id + 1, text: text ?? known.text, merging: merging)
    }
  }

  static let fields: [Field<Sketch>] = [Field("text", "Text", \.text, about: "The words.")]
}
