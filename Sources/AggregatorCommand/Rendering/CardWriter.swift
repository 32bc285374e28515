import AggregatorKit

/// Writes each record in full: a label and a value a line, values wrapped beside their labels, what is
/// unknown or empty left out, a blank line between records.
///
/// Text with several paragraphs keeps them. Lines have at most 100 cells, which is as much as reads
/// well. On a surface narrower than 40 cells labels stand on lines of their own.
struct CardWriter<Item>: RecordWriter {
  private let fields: [Field<Item>]
  private let labels: [String]
  private let terminalLayout: TerminalLayout
  private var hasWritten = false

  private static var mostCells: Int { 100 }
  private static var leastBeside: Int { 40 }

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
    let width = min(terminalLayout.width, Self.mostCells)
    let longest = labels.map(\.displayWidth).max() ?? 0
    let isBeside = width >= Self.leastBeside && longest <= width / 3
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
