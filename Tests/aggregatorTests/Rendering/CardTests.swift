import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct CardTests {
  @Test(arguments: [200, 100, 56, 30])
  func `a hero's card looks right at every width`(width: Int) throws {
    let text = rendered([[Hero.spider]], as: .table, .heroCards, on: .plain(width))
    try expectGolden("hero-card-\(width)", text)
    #expect(TerminalGrid(text).width <= width)
    let terminal = rendered([[Hero.spider]], as: .table, .heroCards, on: .terminal(width))
    #expect(TerminalGrid(terminal).lines == TerminalGrid(text).lines)
  }

  @Test func `leaves out unknown and empty values`() {
    let hero = Hero(id: 1, name: "X", realName: "", publisher: " \n", powers: [])
    #expect(rendered([[hero]], as: .table, .heroCards, on: .plain(80)) == "Name       X\n")
  }

  @Test(arguments: [(12, nil), (13, nil), (14, 2), (1834, 1822)] as [(Int, Int?)])
  func `cuts a long value, and says how much is missing`(count: Int, rest: Int?) {
    let biography = (1...count).map { "line \($0)" }.joined(separator: "\n")
    var listing = Listing.heroCards
    listing.maxLines = 12
    let hero = Hero(id: 1, name: "X", biography: biography)
    let lines = rendered([[hero]], as: .table, listing, on: .plain(80)).split(separator: "\n")
    #expect(lines.count == 1 + (rest == nil ? count : 13))
    #expect(lines[1].hasSuffix("line 1"))
    #expect(
      lines.last?.hasSuffix(rest.map { "… \($0) more lines: --full" } ?? "line \(count)") == true)
    listing.maxLines = nil
    let all = rendered([[hero]], as: .table, listing, on: .plain(80))
    #expect(all.split(separator: "\n").count == 1 + count)
  }

  @Test func `separates records by a blank line, also across pages`() {
    let pages = [[Hero(id: 1, name: "X"), Hero(id: 2, name: "Y")], [Hero(id: 3, name: "Z")]]
    #expect(
      rendered(pages, as: .table, .heroCards, on: .plain(80))
        == "Name       X\n\nName       Y\n\nName       Z\n")
  }

  @Test(arguments: [1, 2, 5, 10, 39, 40, 56])
  func `hostile cards keep to the width`(width: Int) {
    let heroes = hostileTexts.map {
      Hero(id: 1, name: $0, powers: [$0, $0], biography: $0 + "\n\n" + $0)
    }
    let grid = TerminalGrid(rendered([heroes], as: .table, .heroCards, on: .terminal(width)))
    #expect(grid.width <= max(width, 4))
    #expect(grid.refused.isEmpty)
  }
}
