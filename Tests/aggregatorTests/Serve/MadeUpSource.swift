import AggregatorKit
import Foundation

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection
@testable import AggregatorTerminal

/// A served source without a service.
struct MadeUpSource: ServedSource {
  let name: String
  var scope: String?
  var summary = "made-up records for tests"
  var hasImages = true
  var isEndless = false
  var hasStore = true
  var hasParquet = false
  var largestPage = 100
  var fields: [FieldEntry] = []
  var records: [ServedRecord] = []
  var provenance = Provenance(.live, fetchedAt: now, endpoint: "https://example.com/api/records")

  /// What a sync does; nothing by default.
  var syncing: @Sendable (_ progress: @Sendable (SyncResult) -> Void) async -> SyncResult = { _ in
    SyncResult()
  }

  static let now = Date(timeIntervalSince1970: 1_800_000_000)
  static let pageSize = 20

  var noun: RecordNoun { RecordNoun(name) }
  var example: PluginExample {
    PluginExample(query: records.first?.name ?? "word", id: records.first?.id ?? "1")
  }

  func page(_ query: ServedQuery) -> ServedListing {
    let matches = records.filter { query.query.map($0.name.lowercased().contains) ?? true }
    let start = query.cursor.flatMap { Int($0.dropFirst()) } ?? 0
    let page = Array(matches.dropFirst(start).prefix(Self.pageSize))
    let end = start + page.count
    return answer(
      page, total: matches.count, next: end < matches.count ? PageCursor("c\(end)") : nil)
  }

  func record(_ id: String, _ query: ServedQuery) -> ServedListing {
    answer(records.filter { $0.id == id })
  }

  private func answer(
    _ records: [ServedRecord], total: Int? = nil, next: PageCursor? = nil
  ) -> ServedListing {
    ServedListing(
      records: records,
      summary: ListingSummary(
        count: records.count, total: total, next: next,
        provenance: CombinedProvenance(provenance)))
  }

  func image(
    _ id: String, number: Int?, _ size: ImageSize, _ cache: ServedQuery.Cache
  ) throws -> LookupResult<LoadedImage> { throw SourceError.notFound(id, in: name) }

  func facets(_ query: ServedQuery) -> [Facet] { [] }
  func summary(_ summary: FieldSummary, _ query: ServedQuery) -> ServedListing { answer([]) }
  func state() -> SourceState { SourceState() }
  func changes(since start: String, atMost limit: Int) -> ServedChanges? { nil }
  func history(of id: String) -> ServedHistory? { nil }
  func delete(_ id: String) -> Bool { true }
  func restore(_ id: String) -> Bool { true }
  func schemaChanges() -> [SchemaEntry] { [] }
  func sync(
    pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void
  ) async -> SyncResult { await syncing(progress) }
}

extension ServedRecord {
  init(
    _ id: String, _ name: String, _ summary: [Line] = [], card: [Line] = [], link: String? = nil,
    hasImage: Bool = false
  ) {
    self.init(
      id: id, name: name, object: .object([]), summary: summary, card: card, link: link,
      hasImage: hasImage)
  }
}

extension MadeUpSource {
  static let heroes: MadeUpSource = {
    let names = [
      "Spider-Man", "Captain America", "Thor", "Black Widow", "Storm", "Doctor Strange",
      "Jean Grey", "Moon Knight", "She-Hulk", "The Amazing Bag-Man of the Baxter Building", "Loki",
    ]
    let publishers = ["Marvel", "DC Comics", "Image", "Dark Horse Comics"]
    return MadeUpSource(
      name: "heroes", summary: "superheroes and villains from Comic Vine",
      records: (0..<55).map { index in
        let name = names[index % names.count] + (index < names.count ? "" : " \(index + 1)")
        let publisher = ServedRecord.Line(label: "Publisher", value: publishers[index % 4])
        return ServedRecord(
          "\(1443 + index)", name,
          [.init(label: "Real name", value: "Peter Benjamin Parker"), publisher],
          card: [
            .init(label: "Name", value: name, isHeading: true),
            .init(label: "Real name", value: "Peter Benjamin Parker"), publisher,
            .init(label: "Powers", value: "Agility, Danger Sense, Stamina, Super Strength"),
            .init(
              label: "Website", value: "https://comicvine.gamespot.com/spider-man/4005-1443/",
              isLink: true),
            .init(
              label: "Biography",
              value: String(repeating: "Bitten by a spider, he learnt to climb. ", count: 12)
                + "\n\nHe lives in Queens."),
          ],
          link: "https://comicvine.gamespot.com/spider-man/4005-1443/", hasImage: index % 7 != 6)
      })
  }()

  static let countries = MadeUpSource(
    name: "countries", summary: "countries of the world", hasImages: false,
    records: [
      ("AF", "Afghanistan", "Asia", "Kabul"), ("CH", "Switzerland", "Europe", "Bern"),
      ("GS", "South Georgia and the South Sandwich Islands", "Antarctica", "King Edward Point"),
      ("BV", "Bouvet Island", "Antarctica", nil), ("JP", "日本", "Asia", "東京"),
      ("EG", "مصر", "Africa", "القاهرة"), ("FR", "France", "Europe", "Paris"),
    ].map { code, name, region, capital in
      let facts =
        [ServedRecord.Line(label: "Region", value: region)]
        + (capital.map { [.init(label: "Capital", value: $0)] } ?? [])
        + [.init(label: "Code", value: code, isHeading: true)]
      return ServedRecord(code, name, facts, card: facts)
    },
    provenance: Provenance(
      .bundled, reason: SourceError(.unreachable, "cannot reach countries.trevorblades.com")))

  static let products = MadeUpSource(
    name: "products", summary: "products of DummyJSON",
    provenance: Provenance(
      .cached, fetchedAt: now.addingTimeInterval(-185), endpoint: "https://dummyjson.com/products"))

  /// Records that attack the page.
  static let hostile = MadeUpSource(
    name: "hostile", summary: "</p><script>alert(1)</script>",
    records: [
      ServedRecord(
        "<script>alert(2)</script>", "<img src=x onerror=alert(3)>",
        [.init(label: "\"><script>alert(4)</script>", value: "' onclick='alert(5)")],
        card: [
          .init(label: "Link", value: "javascript:alert(6)", isLink: true),
          .init(label: "Link", value: "https://user@evil.example/\"onclick=", isLink: true),
          .init(label: "Text", value: "</dd></dl></section><form action=//evil.example>"),
        ], link: "javascript:alert(7)", hasImage: true),
      ServedRecord(
        "a/b%2F?c#d&\"e'", "abc\u{202E}txt.exe\u{2066} \u{1B}[31m",
        [.init(label: "Bidi", value: "\u{202E}evil\u{202C}")],
        card: [.init(label: "Bidi", value: "\u{202E}evil\u{2028}line")],
        link: "data:text/html,<script>alert(8)</script>"),
      ServedRecord("mail", "שלום <b>עולם</b>", link: "mailto:a@example.com"),
    ],
    provenance: Provenance(
      .live, fetchedAt: now, endpoint: "https://example.com/api/records",
      reason: SourceError(.unreachable, "<script>alert(9)</script>\u{202E}")))
}
