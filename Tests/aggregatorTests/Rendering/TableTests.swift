import AggregatorKit
import Testing

@testable import AggregatorCommand

@Suite struct TableTests {
  @Test(arguments: [200, 100, 56, 30])
  func `a table looks right at every width`(width: Int) throws {
    let text = rendered([Hero.motley], as: .table, .heroes, on: .plain(width))
    try expectGolden("heroes-\(width)", text)
    let grid = TerminalGrid(text)
    #expect(grid.width <= width)
    #expect(grid.refused.isEmpty)
    let terminal = rendered([Hero.motley], as: .table, .heroes, on: .terminal(width))
    #expect(TerminalGrid(terminal).lines == grid.lines)
  }

  @Test(arguments: [200, 100, 56])
  func `columns begin in the same cell in every row`(width: Int) throws {
    let grid = TerminalGrid(rendered([Hero.motley], as: .table, .heroes, on: .terminal(width)))
    try #require(grid.rows.count == 1 + Hero.motley.count)
    let names = Hero.motley.map { String($0.name.safeLine.prefix(3)) }
    let start = try #require(grid.column(of: "Name", in: 0))
    for (row, name) in names.enumerated() {
      #expect(grid.column(of: name, in: row + 1) == start, "row \(row)")
    }
    let edge = try #require(grid.column(of: "Issues", in: 0)) + 6
    for (row, hero) in Hero.motley.enumerated() {
      guard let issues = hero.issues else { continue }
      let digits = String(issues)
      let cells = grid.rows[row + 1][(edge - digits.count)..<edge]
      #expect(String(cells.compactMap { $0 }) == digits, "row \(row)")
      #expect(grid.rows[row + 1].count == edge)
    }
  }

  @Test func `IDs are never cut`() {
    let heroes = [Hero(id: 1, name: "A"), Hero(id: .max, name: String(repeating: "B", count: 99))]
    for width in [30, 40, 56, 100] {
      let text = rendered([heroes], as: .table, .heroes, on: .plain(width))
      let grid = TerminalGrid(text)
      #expect(grid.lines.contains { $0.contains(String(Int.max)) }, "at \(width)")
      #expect(grid.width <= width)
    }
    let grid = TerminalGrid(rendered([heroes], as: .table, .heroes, on: .plain(56)))
    #expect(grid.column(of: "A", in: 1) == grid.column(of: "BBB", in: 2))
  }

  @Test func `the ID column stays if others do not fit`() throws {
    var listing = Listing.heroes
    listing.chosen = try ["name", "realName", "publisher", "id"].map { name in
      try #require(Hero.fields.first { $0.name == name })
    }
    let long = "at least eight cells"
    let hero = Hero(id: 1_234_567_890_123_456, name: long, realName: long, publisher: long)
    let lines = TerminalGrid(rendered([[hero]], as: .table, listing, on: .plain(40))).lines
    #expect(
      lines == [
        "Name        Real name                 ID", "at least…   at least…   1234567890123456",
      ])
  }

  @Test func `later pages keep the columns of the first`() {
    let pages = [
      [], [Hero(id: 10, name: "Short", publisher: "DC", issues: 5)],
      [Hero(id: 123_456, name: "Much longer", publisher: "Marvel", issues: 12)],
    ]
    let lines = TerminalGrid(rendered(pages, as: .table, .heroes, on: .plain(80))).lines
    #expect(
      lines == [
        "ID  Name   Real name  Publisher  Issues",
        "10  Short             DC              5",
        "123456  Much…         Marvel         12",
      ])
  }

  @Test func `the header is bold in colour`() {
    let text = rendered([[Hero.spider]], as: .table, .heroes, on: .terminal(80))
    #expect(text.hasPrefix("  \u{1B}[1mID\u{1B}[0m\u{1B}[7G\u{1B}[1mName\u{1B}[0m"))
    #expect(!rendered([[Hero.spider]], as: .table, .heroes, on: .plain(80)).contains("\u{1B}"))
  }

  @Test func `no records print nothing`() {
    #expect(rendered([[], []], as: .table, .heroes, on: .plain(80)) == "")
  }

  @Test func `shows the chosen fields in their order`() {
    var listing = Listing.countries
    listing.chosen = [Country.fields[3], Country.fields[0]]
    let text = rendered([[Country.afghanistan]], as: .table, listing, on: .plain(80))
    #expect(text == "Capital  Code\nKabul    AF\n")
  }
}
