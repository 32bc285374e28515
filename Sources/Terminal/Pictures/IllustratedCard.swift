/// The arrangement of pictures and the cards of their records: side by side, or one above the other on a
/// narrow terminal.
package struct IllustratedCard {
  /// The most cells of a picture.
  package let size: Picture.Size

  package let textLayout: TerminalLayout

  private let isBeside: Bool
  private let movesCursor: Bool

  private static let minWidth = 70
  private static let gap = 2
  private static let columns = 20...36

  /// - Parameter height: The rows of the terminal, if known.
  package init(on layout: TerminalLayout, height: Int?, _ format: Picture.Format) {
    // Pixels take no part in a line: the cursor must move past them.
    isBeside = layout.width >= Self.minWidth && (format == .symbols || layout.isTerminal)
    movesCursor = layout.isTerminal
    let columns = min(max(layout.width / 3, Self.columns.lowerBound), Self.columns.upperBound)
    // All rows are on the screen, with the prompt.
    let rows = min(columns * 2 / 3, max(3, (height ?? 24) - 3))
    size = Picture.Size(columns: min(columns, layout.width), rows: rows)
    var text = layout
    if isBeside {
      text.width = layout.width - size.columns - Self.gap
      // Columns are counted from the beginning of the card.
      text.isTerminal = false
    }
    textLayout = text
  }

  /// The card with its picture, or alone at the left edge.
  package func text(_ picture: Picture?, _ card: String) -> String {
    // The blank line after the card before.
    let separator = card.prefix { $0 == "\n" }
    let card = card.dropFirst(separator.count)
    guard let picture else { return String(separator + card) }
    guard isBeside else { return separator + picture.text + card }
    if picture.format == .symbols {
      return separator + beside(picture.lines, width: picture.size.columns, card)
    }
    // Makes room first: scrolling would move the picture, but not the saved position of the cursor.
    let rows = picture.size.rows
    let pixels =
      String(repeating: "\n", count: rows) + "\u{1B}[\(rows)A\u{1B}7"
      + picture.lines.joined() + "\u{1B}8"
    let lines = card.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    return separator + pixels + beside([], width: 0, card)
      + String(repeating: "\n", count: max(0, rows - lines))
  }

  private func beside(_ lines: [String], width: Int, _ card: Substring) -> String {
    var texts = card.split(separator: "\n", omittingEmptySubsequences: false)
    if texts.last?.isEmpty == true { texts.removeLast() }
    let column = size.columns + Self.gap
    var result = ""
    for row in 0..<max(lines.count, texts.count) {
      let line = row < lines.count ? lines[row] : ""
      let text = row < texts.count ? texts[row] : ""
      let gap =
        movesCursor
        ? "\u{1B}[\(column + 1)G"
        : String(repeating: " ", count: column - (row < lines.count ? width : 0))
      result += line + (text.isEmpty ? "" : gap + text) + "\n"
    }
    return result
  }
}

extension Picture {
  /// The picture on lines of its own.
  package var text: String {
    format == .symbols ? lines.map { $0 + "\n" }.joined() : lines.joined() + "\n"
  }
}
