import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct IllustratedCardTests {
  private func picture(_ text: String, _ format: Picture.Format) throws -> Picture {
    try #require(
      Picture(Array(text.utf8), as: format, within: Picture.Size(columns: 40, rows: 40)))
  }

  @Test(arguments: [(200, 36, 162), (100, 33, 65), (80, 26, 52), (70, 23, 45)])
  func `a wide terminal has room beside the picture`(width: Int, columns: Int, text: Int) {
    let card = IllustratedCard(on: .plain(width), height: 60, .symbols)
    #expect(card.size == Picture.Size(columns: columns, rows: columns * 2 / 3))
    #expect(card.textLayout.width == text)
  }

  @Test(arguments: [(69, 23), (40, 20), (12, 12)])
  func `a narrow terminal shows the card below`(width: Int, columns: Int) throws {
    let card = IllustratedCard(on: .plain(width), height: nil, .symbols)
    #expect(card.size.columns == columns)
    #expect(card.textLayout.width == width)
    #expect(card.text(try picture("▀▀\n", .symbols), "Name  X\n") == "▀▀\nName  X\n")
  }

  @Test func `a low terminal has small pictures`() {
    #expect(IllustratedCard(on: .plain(80), height: 12, .symbols).size.rows == 9)
    #expect(IllustratedCard(on: .plain(80), height: 2, .symbols).size.rows == 3)
  }

  @Test func `the longer of picture and card goes on alone`() throws {
    let card = IllustratedCard(on: .plain(70), height: 30, .symbols)
    let symbols = try picture("▀▀\n▄▄\n", .symbols)
    let gap = String(repeating: " ", count: 23)
    #expect(card.text(symbols, "A\n") == "▀▀\(gap)A\n▄▄\n")
    #expect(card.text(symbols, "\nA\nB\n\nC\n") == "\n▀▀\(gap)A\n▄▄\(gap)B\n\n  \(gap)C\n")
    #expect(card.text(nil, "\nA\n") == "\nA\n")
  }

  @Test func `pixels get room before they are drawn`() throws {
    let card = IllustratedCard(on: .terminal(70), height: 30, .kitty)
    let sequence = "\u{1B}_Ga=T,c=5,r=3;AA\u{1B}\\"
    let pixels = try picture(sequence, .kitty)
    let start = "\n\n\n\u{1B}[3A\u{1B}7\(sequence)\u{1B}8"
    #expect(card.text(pixels, "A\n") == "\(start)\u{1B}[26GA\n\n\n")
    #expect(
      card.text(pixels, "A\nB\nC\nD\n")
        == start + ["A", "B", "C", "D"].map { "\u{1B}[26G\($0)\n" }.joined())
    // Without cursor movements it is above.
    let plain = IllustratedCard(on: .plain(70), height: 30, .kitty)
    #expect(plain.text(pixels, "A\n") == "\(sequence)\nA\n")
  }
}
