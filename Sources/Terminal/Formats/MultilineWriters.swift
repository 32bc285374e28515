import AggregatorKit

/// A record on several lines: a heading on the left that wraps, a badge at the right edge that is
/// never cut, and indented details below, as many on a line as fit.
///
/// ```
/// Afghanistan, AS                                       AF
///   Kabul
/// ```
/// If a heading that is longer would have less than half of the width, the badge gets a line of its own.
struct Block {
  private let heading: String
  private let badge: String
  private let details: [String]
  private let link: String?
  private let query: String?

  /// The badge stays near the heading.
  private static let maxWidth = 100

  /// The width at which the heading, and the details together, are cut: some three lines of text.
  private static let maxCells = 200
  private static let gap = 2
  private static let indentation = 2
  private static let separator = " · "

  /// Sanitizes its arguments.
  ///
  /// - Parameters:
  ///   - link: The URL of the heading, on a terminal with links.
  ///   - query: The search whose matches are highlighted.
  init(
    heading: String, badge: String, details: [String], link: String? = nil, query: String? = nil
  ) {
    self.link = link
    self.query = query
    self.heading = heading.safeLine.fitted(to: Self.maxCells)
    self.badge = badge.safeLine
    var room = Self.maxCells
    self.details = details.compactMap { detail in
      guard room > 0, !detail.isEmpty else { return nil }
      let text = detail.safeLine.fitted(to: room)
      room -= text.displayWidth + Self.separator.count
      return text
    }
  }

  func text(on terminalLayout: TerminalLayout) -> String {
    let width = min(terminalLayout.width, Self.maxWidth)
    let badgeColumn = width - badge.displayWidth
    let room = badge.isEmpty ? width : badgeColumn - Self.gap
    func text(_ piece: String, indentedBy margin: Int = 0, link: String? = nil) -> String {
      var line = Line(on: terminalLayout)
      line.add(String(repeating: " ", count: margin))
      line.add(piece, link: link, matching: query)
      return line.text
    }
    let sharesLine = room >= min(width / 2, heading.displayWidth)
    var lines = Wrap(sharesLine ? room : width).lines(of: heading)
    if !badge.isEmpty {
      var line = Line(on: terminalLayout)
      if sharesLine, let first = lines.first {
        line.add(first, link: link, matching: query)
      }
      line.move(to: badgeColumn)
      line.add(badge, as: .id)
      let rest = lines.dropFirst(sharesLine ? 1 : 0).map { text($0, link: link) }
      lines = sharesLine ? [line.text] + rest : rest + [line.text]
    } else {
      lines = lines.map { text($0, link: link) }
    }
    let inner = width - Self.indentation
    var joined: [String] = []
    for detail in details {
      // The label of a detail stays with its value.
      let line = (joined.last.map { $0 + Self.separator } ?? "") + detail
      if !joined.isEmpty, line.displayWidth <= inner { joined.removeLast() }
      joined.append(line.displayWidth <= inner ? line : detail)
    }
    lines += joined.flatMap { Wrap(inner).lines(of: $0) }.map {
      text($0, indentedBy: Self.indentation)
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

/// Writes each record in full: one label and value per line, values wrapped beside their labels,
/// empty values left out unless null has a text, a blank line between records.
///
/// Text keeps its paragraphs; a person sees no seconds of times that are 0. Lines have at most 100 cells for readability. If the layout is
/// narrower than 40 cells, or long labels leave too little room, labels get lines of their own.
/// Values longer than `maxLines` are cut, and end with the number of lines left out.
struct CardWriter<Item>: RecordWriter {
  private let fields: [Field<Item>]
  private let labels: [String]
  private let terminalLayout: TerminalLayout
  private let maxLines: Int?
  private let nullText: String?
  private var hasWritten = false

  private static var maxCells: Int { 100 }
  private static var minWidthForColumns: Int { 40 }

  init(
    fields: [Field<Item>], terminalLayout: TerminalLayout, maxLines: Int? = nil,
    nullText: String? = nil
  ) {
    self.fields = fields
    self.maxLines = maxLines
    self.nullText = nullText
    self.labels = fields.map { $0.label.safeLine }
    self.terminalLayout = terminalLayout
  }

  mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records {
      if hasWritten { text += "\n" }
      hasWritten = true
      let values = fields.map { $0[record] }
      let longest = labels.map(\.displayWidth).max() ?? 0
      let room = width - longest - 2
      let isBeside =
        width >= Self.minWidthForColumns
        && (longest <= width / 3 || values.allSatisfy { $0.shownCell().displayWidth <= room })
      let margin = isBeside ? longest + 2 : 2
      for (label, value) in zip(labels, values) { text += lines(label, value, margin, isBeside) }
    }
    return text
  }

  private var width: Int { min(terminalLayout.width, Self.maxCells) }

  private func lines(
    _ label: String, _ value: JSON, _ margin: Int, _ isBeside: Bool
  ) -> String {
    let shown = value.shownCell(null: nullText)
    let minute = terminalLayout.isRead ? shown.wholeMinute : nil
    var values = Wrap(width - margin).lines(of: (minute ?? shown).safeParagraphs)
    if values.isEmpty {
      guard nullText != nil else { return "" }
      values = isBeside ? [""] : []
    }
    if terminalLayout.hasLinks { values = Hyperlink.lines(values, of: value) }
    // At least two lines are left out: one takes no more room than the words about it.
    if let maxLines, values.count > maxLines + 1 {
      let rest = values.count - maxLines
      values = values.prefix(maxLines) + ["… \(rest) more lines: --full"]
    }
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

/// A record as a sentence, with a sign before it.
package struct Paragraph {
  package let sign: String
  package let role: Style.Role
  /// Not sanitized.
  package let text: String

  package init(sign: String, role: Style.Role, text: String) {
    self.sign = sign
    self.role = role
    self.text = text
  }
}

/// Writes each record as a paragraph whose lines begin behind its sign.
struct ParagraphWriter<Item: Identifiable>: RecordWriter
where Item.ID: CustomStringConvertible {
  let terminalLayout: TerminalLayout
  let paragraph: (Item, _ id: String) -> Paragraph
  var shortIDs = ShortIDs()

  mutating func append(_ records: [Item]) -> String {
    guard terminalLayout.isRead else {
      return records.map { text(of: paragraph($0, $0.id.description)) }.joined()
    }
    shortIDs.add(records.map(\.id.description))
    return records.map { text(of: paragraph($0, shortIDs.short($0.id.description))) }.joined()
  }

  private func text(of paragraph: Paragraph) -> String {
    let margin = paragraph.sign.displayWidth + 1
    let lines = Wrap(terminalLayout.width - margin).lines(of: paragraph.text.safeLine)
    let sign = terminalLayout.style(paragraph.role, paragraph.sign)
    let pad = String(repeating: " ", count: margin)
    return "\(sign) \(lines.joined(separator: "\n\(pad)"))\n"
  }
}
