import AggregatorKit

/// One line under construction, which knows how many cells it has taken.
struct Line {
  /// The line so far, without a line break.
  private(set) var text = ""

  /// The cells that it takes.
  private(set) var width = 0

  private let terminalLayout: TerminalLayout

  /// An empty line.
  init(on terminalLayout: TerminalLayout) { self.terminalLayout = terminalLayout }

  /// Adds text.
  mutating func add(_ piece: String, as role: Style.Role? = nil) {
    text += role.map { terminalLayout.style($0, piece) } ?? piece
    width += piece.displayWidth
  }

  /// Goes on at a column, counted from 0; if the line is already past it, two cells further.
  ///
  /// On a terminal the column is named (`CSI n G`, CHA of ECMA-48), because terminals disagree about
  /// the width of emoji; padding would carry their disagreement into every later column.
  mutating func move(to column: Int) {
    let gap = column > width ? column - width : width == 0 ? 0 : 2
    if terminalLayout.isTerminal, column > width, width > 0 {
      text += "\u{1B}[\(column + 1)G"
    } else {
      text += String(repeating: " ", count: gap)
    }
    width += gap
  }
}
