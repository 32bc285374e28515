import AggregatorKit

/// What text for people is laid out on.
struct TerminalLayout: Hashable, Sendable {
  /// How many cells a line has, 1 or more.
  var width: Int

  /// Whether the cursor can be moved; elsewhere spaces do it.
  ///
  /// A terminal that calls itself `dumb` cannot.
  var isTerminal: Bool

  /// Colours and weights.
  var style: Style

  /// Whether addresses are made links.
  var hasLinks: Bool

  /// A surface.
  ///
  /// - Parameters:
  ///   - width: How many cells a line has; less than 1 counts as 1.
  ///   - isTerminal: Whether the cursor can be moved.
  ///   - hasColor: Whether text is coloured.
  ///   - hasLinks: Whether addresses are made links; not by default.
  init(width: Int, isTerminal: Bool, hasColor: Bool, hasLinks: Bool = false) {
    self.width = max(1, width)
    self.isTerminal = isTerminal
    self.style = Style(isOn: hasColor)
    self.hasLinks = hasLinks
  }
}

/// Colour and weight, or their absence: the one place that knows the codes (ECMA-48, SGR).
struct Style: Hashable, Sendable {
  /// What a piece of text is, which decides how it looks.
  enum Role: String {
    /// A heading: bold.
    case heading = "1"
    /// What only helps to find the rest, such as a label: dim.
    case label = "2"
    /// The word `error`: red.
    case error = "31"
    /// The word `warning`: yellow.
    case warning = "33"
    /// The word `hint`: cyan.
    case hint = "36"
  }

  /// Whether anything is styled at all.
  let isOn: Bool

  /// Text in the style of its role; the text as it is where styles are off or it is empty.
  func callAsFunction(_ role: Role, _ text: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
  }
}

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
