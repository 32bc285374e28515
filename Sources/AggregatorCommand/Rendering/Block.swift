import AggregatorKit

/// A record over several lines: a heading on the left that wraps when it is long, a badge at the right
/// edge that is never cut, and details below, indented.
///
/// ```
/// Afghanistan, AS                                       AF
///   Kabul
/// ```
/// Where less than six cells would be left for the heading, the badge has a line of its own.
struct Block {
  private let heading: String
  private let badge: String
  private let details: [String]

  /// Heading and details may be of any length; what is over some three lines of text is cut.
  private static let mostCells = 200
  private static let leastHeading = 6
  private static let gap = 2
  private static let indentation = 2

  /// A block of text that need not be safe.
  init(heading: String, badge: String, details: [String]) {
    self.heading = heading.safeLine.fitted(to: Self.mostCells)
    self.badge = badge.safeLine
    self.details = details.map { $0.safeLine.fitted(to: Self.mostCells) }
  }

  /// The block's lines, each with its line break.
  func text(on terminalLayout: TerminalLayout) -> String {
    let badgeColumn = terminalLayout.width - badge.displayWidth
    let room = badge.isEmpty ? terminalLayout.width : badgeColumn - Self.gap
    let sharesLine = room >= min(Self.leastHeading, heading.displayWidth)
    var lines = Wrap(sharesLine ? room : terminalLayout.width).lines(of: heading)
    if !badge.isEmpty {
      var line = Line(on: terminalLayout)
      if sharesLine, let first = lines.first { line.add(first) }
      line.move(to: badgeColumn)
      line.add(badge)
      if sharesLine { lines = [line.text] + lines.dropFirst() } else { lines.append(line.text) }
    }
    let margin = String(repeating: " ", count: Self.indentation)
    for detail in details {
      let inner = Wrap(terminalLayout.width - Self.indentation).lines(of: detail)
      lines += inner.map { margin + $0 }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
