import AggregatorKit

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
struct ParagraphWriter<Item: Record>: RecordWriter {
  private let terminalLayout: TerminalLayout
  private let paragraph: (Item, _ id: String) -> Paragraph
  private var shortIDs = ShortIDs()

  init(
    on terminalLayout: TerminalLayout, _ paragraph: @escaping (Item, _ id: String) -> Paragraph
  ) {
    self.terminalLayout = terminalLayout
    self.paragraph = paragraph
  }

  mutating func append(_ records: [Item]) -> String {
    guard terminalLayout.shortensIDs else {
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
