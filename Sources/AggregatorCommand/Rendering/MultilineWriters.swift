import AggregatorKit

/// A record on several lines: a heading on the left that wraps, a badge at the right edge that is
/// never cut, and indented details below.
///
/// ```
/// Afghanistan, AS                                       AF
///   Kabul
/// ```
/// If fewer than six cells would be left for the heading, the badge gets a line of its own.
struct Block {
  private let heading: String
  private let badge: String
  private let details: [String]

  /// The width at which headings and details are cut: some three lines of text.
  private static let maxCells = 200
  private static let minHeading = 6
  private static let gap = 2
  private static let indentation = 2

  /// Sanitizes its arguments.
  init(heading: String, badge: String, details: [String]) {
    self.heading = heading.safeLine.fitted(to: Self.maxCells)
    self.badge = badge.safeLine
    self.details = details.map { $0.safeLine.fitted(to: Self.maxCells) }
  }

  func text(on terminalLayout: TerminalLayout) -> String {
    let badgeColumn = terminalLayout.width - badge.displayWidth
    let room = badge.isEmpty ? terminalLayout.width : badgeColumn - Self.gap
    let sharesLine = room >= min(Self.minHeading, heading.displayWidth)
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

struct BlockWriter<Item>: RecordWriter {
  let terminalLayout: TerminalLayout
  let block: (Item) -> Block

  mutating func append(_ records: [Item]) -> String {
    records.map { block($0).text(on: terminalLayout) }.joined()
  }
}

/// Writes each record in full: one label and value per line, values wrapped beside their labels,
/// empty values left out, a blank line between records.
///
/// Text keeps its paragraphs. Lines have at most 100 cells for readability. If the layout is
/// narrower than 40 cells, labels get lines of their own.
struct CardWriter<Item>: RecordWriter {
  private let fields: [Field<Item>]
  private let labels: [String]
  private let terminalLayout: TerminalLayout
  private var hasWritten = false

  private static var maxCells: Int { 100 }
  private static var minWidthForColumns: Int { 40 }

  init(fields: [Field<Item>], terminalLayout: TerminalLayout) {
    self.fields = fields
    self.labels = fields.map { $0.label.safeLine }
    self.terminalLayout = terminalLayout
  }

  mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records {
      if hasWritten { text += "\n" }
      hasWritten = true
      for (field, label) in zip(fields, labels) { text += lines(label, field[record]) }
    }
    return text
  }

  private func lines(_ label: String, _ value: JSON) -> String {
    let width = min(terminalLayout.width, Self.maxCells)
    let longest = labels.map(\.displayWidth).max() ?? 0
    let isBeside = width >= Self.minWidthForColumns && longest <= width / 3
    let margin = isBeside ? longest + 2 : 2
    var values = Wrap(width - margin).lines(of: value.cell.safeParagraphs)
    guard !values.isEmpty else { return "" }

    if terminalLayout.hasLinks { values = LinkedLines(values, of: value).text }
    var text = ""
    if !isBeside {
      for part in Wrap(width).lines(of: label) { text += terminalLayout.style(.label, part) + "\n" }
    }
    for (index, value) in values.enumerated() {
      var line = Line(on: terminalLayout)
      if isBeside, index == 0 { line.add(label, as: .label) }
      if !value.isEmpty {
        line.move(to: margin)
        line.add(value)
      }
      text += line.text + "\n"
    }
    return text
  }
}
