import AggregatorKit

/// Writes records as the lines of a table that fits the width.
///
/// The first page with records decides about columns and widths; what is wider on later pages is cut.
/// The column of the ids is never cut and never left out: it is what a person copies. Numbers are never
/// cut either. A cell that is wider than such a column all the same moves the rest of its line.
///
/// A surface narrower than 40 cells, or one that has room for a single column, gets a ``Block`` for
/// each record instead.
struct TableWriter<Item: Record>: RecordWriter {
  private let fields: [Field<Item>]
  private let terminalLayout: TerminalLayout
  private var form = Form.open

  private static var leastWidth: Int { 40 }

  private enum Form {
    case open
    case table(Columns, id: Int?)
    case blocks(id: Int?)
  }

  init(fields: [Field<Item>], terminalLayout: TerminalLayout) {
    self.fields = fields
    self.terminalLayout = terminalLayout
  }

  mutating func append(_ records: [Item]) -> String {
    guard !records.isEmpty, !fields.isEmpty else { return "" }
    let rows = records.map { record in fields.map { $0[record].cell.safeLine } }
    var text = ""
    if case .open = form {
      form = chooseForm(for: records, rows)
      text = header
    }
    for row in rows { text += self.text(of: row) }
    return text
  }

  private func chooseForm(for records: [Item], _ rows: [[String]]) -> Form {
    let id = fields.firstIndex { field in
      records.allSatisfy { field[$0].cell == $0.id.description }
    }
    let wishes = fields.indices.map { index in
      Columns.Wish(
        natural: rows.reduce(label(index).displayWidth) { max($0, $1[index].displayWidth) },
        isRigid: index == id || fields[index].kind.isNumeric, isKept: index == id)
    }
    let columns = Columns(wishes, in: terminalLayout.width)
    let isCramped = terminalLayout.width < Self.leastWidth || columns.shown.count == 1
    return isCramped && fields.count > 1 ? .blocks(id: id) : .table(columns, id: id)
  }

  private var header: String {
    guard case .table(let columns, _) = form else { return "" }
    return line(fields.indices.map(label), columns, as: .heading) { _ in false }
  }

  private func text(of row: [String]) -> String {
    switch form {
    case .open: ""
    case .table(let columns, let id):
      line(row, columns) { $0 == id || fields[$0].kind.isNumeric }
    case .blocks(let id): block(of: row, id: id).text(on: terminalLayout)
    }
  }

  private func line(
    _ cells: [String], _ columns: Columns, as role: Style.Role? = nil, isRigid: (Int) -> Bool
  ) -> String {
    var line = Line(on: terminalLayout)
    var start = 0
    for (index, width) in zip(columns.shown, columns.widths) {
      let cell = isRigid(index) ? cells[index] : cells[index].fitted(to: width)
      let slack = fields[index].kind.isNumeric ? max(0, width - cell.displayWidth) : 0
      if !cell.isEmpty {
        line.move(to: start + slack)
        line.add(cell, as: role)
      }
      start += width + Columns.gap
    }
    return line.text + "\n"
  }

  private func block(of row: [String], id: Int?) -> Block {
    let others = row.indices.filter { $0 != id && !row[$0].isEmpty }.map { row[$0] }
    return Block(
      heading: others.first ?? "", badge: id.map { row[$0] } ?? "",
      details: [others.dropFirst().joined(separator: " · ")])
  }

  private func label(_ index: Int) -> String { fields[index].label.safeLine }
}

/// How wide the columns of a table are.
struct Columns {
  /// What a column would like.
  struct Wish {
    /// The cells of its widest text.
    var natural: Int
    /// Whether it is never cut: ids and numbers.
    var isRigid: Bool
    /// Whether it is never left out.
    var isKept: Bool

    fileprivate var least: Int { isRigid ? natural : min(natural, Columns.leastWidth) }
  }

  /// The columns that have room, by their index, from left to right.
  let shown: [Int]

  /// Their widths.
  let widths: [Int]

  /// The cells between two columns.
  static let gap = 2

  /// A column that could show less than this is left out.
  private static let leastWidth = 8

  /// Shares a width out: first trailing columns that have no room are left out, then the widest are
  /// cut, all to the same width.
  ///
  /// - Parameters:
  ///   - wishes: What each column would like.
  ///   - width: The cells there are. The sum of the columns is wider only if the kept ones alone are.
  init(_ wishes: [Wish], in width: Int) {
    var shown = Array(wishes.indices)
    func taken() -> Int { shown.reduce(Self.gap * (shown.count - 1)) { $0 + wishes[$1].least } }
    while shown.count > 1, taken() > width,
      let last = shown.lastIndex(where: { !wishes[$0].isKept })
    {
      shown.remove(at: last)
    }
    self.shown = shown

    var widths = shown.map { wishes[$0].natural }
    let soft = shown.indices.filter { !wishes[shown[$0]].isRigid }
    let rigid = shown.reduce(0) { $0 + (wishes[$1].isRigid ? wishes[$1].natural : 0) }
    var room = width - Self.gap * (shown.count - 1) - rigid
    // The narrow ones first: what they do not need is shared by the others.
    let ascending = soft.sorted { (widths[$0], $0) < (widths[$1], $1) }
    for (done, column) in ascending.enumerated() {
      widths[column] = min(widths[column], max(1, room / (soft.count - done)))
      room -= widths[column]
    }
    self.widths = widths
  }
}
