import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// Hostile text in every format, at every width.
@Suite struct HostileOutputTests {
  private let heroes = hostileTexts.enumerated().map { id, text in
    Hero(
      id: id, name: text, realName: text, publisher: text, powers: [text, text], issues: -id,
      biography: text + "\n\n" + text)
  }
  private let countries = hostileTexts.map { Country(id: $0, name: $0, region: $0, capital: $0) }

  @Test(arguments: Format.allCases, [1, 30, 56, 200])
  func `no raw control character reaches a terminal`(format: Format, width: Int) {
    for terminalLayout in [TerminalLayout.plain(width), .terminal(width)] {
      for text in [
        rendered([heroes], as: format, .heroes, on: terminalLayout),
        rendered([heroes], as: format, .heroCards, on: terminalLayout),
        rendered([countries], as: format, .countries, on: terminalLayout),
      ] {
        let bare =
          terminalLayout.isTerminal ? text.replacing(/\u{1B}\[[0-9;]+[Gm]/, with: "") : text
        // In a pipe CSV has all characters, Markdown those that reorder no text, and TSV those that a terminal only might hide or reorder.
        let isPlain = [.tsv, .markdown].contains(format) && !terminalLayout.isTerminal
        if format == .csv, !terminalLayout.isTerminal { continue }
        let raw = bare.unicodeScalars.filter {
          (isPlain ? $0.properties.generalCategory == .control : $0.isInvisible)
            && !format.mayWrite($0)
        }
        #expect(raw.isEmpty, "\(raw.map { String($0.value, radix: 16) })")
      }
    }
  }

  @Test func `labels are sanitized like values`() {
    let fields = [Field<Hero>("a", "L\u{1B}[2J\u{202E}", \.name, about: "")]
    for shape in [Listing<Hero>.Shape.rows, .cards] {
      var listing = Listing(
        "list", of: "x", fields: fields, layout: RecordLayout(card: ["a"]), shape: shape)
      listing.query = nil
      let text = rendered([[Hero.spider]], as: .table, listing, on: .plain(80))
      #expect(text.contains("L␛[2J"))
      #expect(!text.contains("\u{1B}"))
    }
  }
}

extension Format {
  /// Removes the line ends of the format, and those of cells inside quotes.
  fileprivate func mayWrite(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .table, .cards, .markdown, .json, .ndjson, .yaml: scalar == "\n"
    case .tsv: scalar == "\n" || scalar == "\t"
    case .csv: scalar == "\n" || scalar == "\r" || scalar == "\t"
    }
  }
}
