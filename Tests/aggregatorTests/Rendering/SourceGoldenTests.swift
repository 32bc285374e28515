import AggregatorKit
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import Testing
import UsersSource

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// The output of every source in every format, on a terminal and in a pipe.
///
/// A terminal's golden file is its screen, without escape sequences.
@Suite struct SourceGoldenTests {
  static let plugins: [any Plugin] = [
    CountriesPlugin(), HeroesPlugin(), ProductsPlugin(),
    // Ages depend on the date, which is fixed here.
    UsersPlugin(now: { Date(timeIntervalSince1970: 1_790_000_000) }),
  ]

  static let widths = [200, 120, 100, 80, 56, 40, 30]

  @Test(arguments: plugins.map(\.name), widths)
  func `tables and cards fit a terminal`(source: String, width: Int) async throws {
    let plugin = try #require(Self.plugins.first { $0.name == source })
    for (shape, name) in [(Shape.rows, "list"), (.cards, "show")] {
      let text = try await Self.text(of: plugin, shape, as: .table, on: .terminal(width))
      let grid = TerminalGrid(text)
      #expect(grid.refused.isEmpty)
      // The UUID on the card of a product is never cut.
      #expect(grid.width <= max(width, source == "products" && name == "show" ? 36 : 0))
      let screen = grid.lines.map { "\($0)\n" }.joined()
      try expectGolden("Sources/\(source)-\(name)-table-\(width)", screen)
    }
  }

  @Test(arguments: plugins.map(\.name), Format.allCases)
  func `every format matches its golden file`(source: String, format: Format) async throws {
    let plugin = try #require(Self.plugins.first { $0.name == source })
    for (shape, name) in [(Shape.rows, "list"), (.cards, "show")] {
      let text = try await Self.text(of: plugin, shape, as: format, on: .plain(100))
      try expectGolden("Sources/\(source)-\(name)-\(format.rawValue)-pipe", text)
      // Only tables and cards depend on the width, and no terminal gets the control characters of a value.
      guard !format.isForPeople else { continue }
      let onTerminal = try await Self.text(of: plugin, shape, as: format, on: .terminal(56))
        .replacing(/\u{1B}\[[0-9;]+m/, with: "")
      let isRaw = [.csv, .markdown, .tsv].contains(format)
      #expect(isRaw ? !onTerminal.contains("\u{1B}") : onTerminal == text)
    }
  }

  private enum Shape { case rows, cards }

  private static func text<P: Plugin>(
    of plugin: P, _ shape: Shape, as format: Format, on terminalLayout: TerminalLayout
  ) async throws -> String {
    let page = try await plugin.bundled.page(PageRequest(limit: 4))
    let records = page.records + [try hostile(page.records[0])]
    let listing = Listing(
      shape == .rows ? "list" : "show", of: plugin.name, fields: plugin.fields,
      layout: plugin.layout, shape: shape == .rows ? .rows : .cards)
    let summary = ListingSummary(
      count: records.count, total: page.total, next: page.next,
      provenance: CombinedProvenance(
        page.provenance.because(SourceError(.unreachable, "nobody is there"))),
      warnings: [SourceWarning(plugin.name, Warning(.bundled, "bundled data"))])
    return rendered([records], as: format, listing, on: terminalLayout, summary)
  }

  /// The record with hostile text in every text except its ID.
  private static func hostile<Item: SourceRecord>(_ record: Item) throws -> Item {
    let data = try JSONEncoder().encode(record)
    var members = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    let keep = ["id", "code", "email"]
    for (index, key) in members.keys.sorted().enumerated() where !keep.contains(key) {
      let text = texts[index % texts.count]
      if members[key] is String { members[key] = text }
      if members[key] is [String] { members[key] = [text, text] }
    }
    let changed = try JSONSerialization.data(withJSONObject: members)
    return try JSONDecoder().decode(Item.self, from: changed)
  }

  private static let texts = [
    "\u{1B}]8;;https://evil.example\u{7}click\u{1B}]8;;\u{7} \u{1B}]52;c;ZXZpbA==\u{7}",
    "=cmd|'/C calc'!A0 \u{202E}desrever\u{202C} \u{9B}31m",
    "日本語の名前 👩🏽‍🚀 e\u{301}clair \u{200B}zero\u{FEFF}",
    "tab\there\r\nline\\break, \"quoted\"", "Z\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}algo שלום",
    String(repeating: "very long ", count: 40),
  ]
}
