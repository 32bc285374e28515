import AggregatorKit

/// The rows of a query in SQL that were read, which can be filtered and sorted on the screen.
struct QueryAnswer: Sendable {
  let statement: String
  let window: BrowsedWindow
  /// The words that a row must have, in any of its columns.
  var filter = "" {
    didSet { if texts.isEmpty, !filter.isEmpty { texts = window.rows.map { Self.text(of: $0) } } }
  }
  /// The texts of the rows in which words are searched, once there is a filter.
  private var texts: [String] = []
  /// The number of the column by which the rows are sorted; `nil` for the order of the query.
  private(set) var column: Int?
  private(set) var isDescending = false

  init(_ window: BrowsedWindow, to statement: String) {
    self.statement = statement
    self.window = window
  }

  /// The same rows as those of another answer to the statement are shown.
  mutating func showAs(_ other: QueryAnswer?) {
    guard let other, other.statement == statement, other.window.columns == window.columns else {
      return
    }
    (filter, column, isDescending) = (other.filter, other.column, other.isDescending)
  }

  /// By a column, or as the query has them for `nil`; the same one again turns it round.
  mutating func sort(by column: Int?) {
    isDescending = column != nil && column == self.column && !isDescending
    self.column = column
  }

  var list: ListState {
    var shown = window
    let words = filter.split(separator: " ").map { FoldedText(String($0)).text }
      .filter { !$0.isEmpty }
    if !words.isEmpty {
      shown.rows = zip(shown.rows, texts).filter { _, text in
        words.allSatisfy { text.contains($0) }
      }.map(\.0)
    }
    var request = ListRequest("")
    request.query = statement
    if let column {
      request.order = (isDescending ? "-" : "") + window.columns[column].name
      shown.rows = sorted(shown.rows, by: column)
    }
    return ListState(shown, of: request)
  }

  private static func text(of row: BrowsedRow) -> String {
    row.cells.map { FoldedText($0).text }.joined(separator: "\n")
  }

  private func sorted(_ rows: [BrowsedRow], by column: Int) -> [BrowsedRow] {
    let isNumeric = window.columns[column].isNumeric
    let keys = rows.enumerated().map { place, row in
      let text = row.cells[column]
      return (place: place, number: isNumeric ? Double(text) ?? -.infinity : 0, text: text)
    }
    let ordered = keys.sorted { left, right in
      let (lower, upper) = isDescending ? (right, left) : (left, right)
      if lower.number != upper.number { return lower.number < upper.number }
      if lower.text != upper.text { return lower.text < upper.text }
      // Equal ones stay in the order of the query.
      return left.place < right.place
    }
    return ordered.map { rows[$0.place] }
  }
}
