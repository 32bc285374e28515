import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct BlockTests {
  static let countries = [Country.afghanistan, .southGeorgia, .bouvet]

  @Test(arguments: [200, 100, 56, 30, 10])
  func `a country looks right at every width`(width: Int) throws {
    let text = rendered([Self.countries], as: .table, .countries, on: .plain(width))
    try expectGolden("countries-\(width)", text)
    let terminal = rendered([Self.countries], as: .table, .countries, on: .terminal(width))
    #expect(TerminalGrid(terminal).lines == TerminalGrid(text).lines)
  }

  @Test func `all four columns fit a table, or each country is a card`() {
    let table = rendered([Self.countries], as: .table, .countries, on: .plain(56))
    #expect(table.hasPrefix("Code  Name  ") && table.contains("\nAF    Afghanistan  "), "\(table)")
    let cards = rendered([Self.countries], as: .table, .countries, on: .plain(55))
    #expect(cards == rendered([Self.countries], as: .cards, .countries, on: .plain(55)))
    #expect(cards.hasPrefix("Afghanistan, AS  ") && cards.contains(" AF\n  Kabul\n"), "\(cards)")
  }

  @Test func `a source without cards of its own has its ID at the edge, too`() {
    let text = rendered([[Hero.spider]], as: .cards, .heroes, on: .plain(56))
    #expect(TerminalGrid(text).lines[0].hasSuffix(" 1443"), "\(text)")
  }

  @Test func `a pipe gets TSV`() throws {
    try expectGolden(
      "countries-pipe", rendered([Self.countries], as: .tsv, .countries, on: .plain(80)))
  }

  @Test func `the badge is at the right edge`() {
    let text = rendered([[Country.afghanistan]], as: .cards, .countries, on: .plain(56))
    #expect(text == "Afghanistan, AS                                       AF\n  Kabul\n")
    let terminal = rendered([[Country.afghanistan]], as: .cards, .countries, on: .terminal(56))
    #expect(terminal == "Afghanistan, AS\u{1B}[55G\u{1B}[32mAF\u{1B}[0m\n  Kabul\n")
  }

  @Test(arguments: [1, 4], ["👩🏽‍🚀🇫🇷❤️ emoji", "日本 ❤️"])
  func `the badge is at the edge even if the terminal disagrees about the width of emoji`(
    cells: Int, name: String
  ) {
    let country = Country(id: "XX", name: name, region: "R")
    let text = rendered([[country]], as: .cards, .countries, on: .terminal(56))
    let grid = TerminalGrid(text) {
      $0.unicodeScalars.contains(where: \.properties.isEmojiPresentation) || $0 == "❤️"
        ? cells : $0.displayWidth
    }
    #expect(grid.column(of: "XX", in: 0) == 54)
  }

  @Test(arguments: [1, 2, 3, 5, 10, 30], ["AF", "日本", "WIDE-BADGE-OF-MANY-CELLS"])
  func `the badge is never cut`(width: Int, badge: String) {
    for name in ["Afghanistan", "日本国", String(repeating: "long ", count: 2000)] {
      let block = Block(heading: name, badge: badge, details: ["Kabul", ""])
      for terminalLayout in [TerminalLayout.plain(width), .terminal(width)] {
        let grid = TerminalGrid(block.text(on: terminalLayout))
        #expect(grid.lines.contains { $0.hasSuffix(badge) })
        #expect(grid.width <= max(width, 2 + 2, badge.displayWidth))
        #expect(grid.rows.count <= 102)
      }
    }
  }

  @Test func `a long badge is below a heading that it would leave less than half of the width`() {
    let badge = "aino.tormanen@example.com"
    func lines(_ heading: String) -> [String] {
      let block = Block(heading: heading, badge: badge, details: [])
      return TerminalGrid(block.text(on: .plain(40))).lines
    }
    let edge = String(repeating: " ", count: 15)
    #expect(lines("Miss Aino Törmänen") == ["Miss Aino Törmänen", edge + badge])
    #expect(lines("Bo Li") == ["Bo Li\(edge.dropFirst(5))\(badge)"])
  }

  @Test func `a heading of ten kilobytes is cut`() {
    let block = Block(heading: String(repeating: "x", count: 10_000), badge: "X", details: [])
    let lines = TerminalGrid(block.text(on: .plain(56))).lines
    #expect(lines.count == 4)
    #expect(lines.last?.hasSuffix("…") == true)
  }
}
