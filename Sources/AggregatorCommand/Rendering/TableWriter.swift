import AggregatorKit

/// Writes records as a table that fits the width.
///
/// The first page with records determines columns and widths; wider cells on later pages are cut,
/// except for IDs, which people copy, and numbers: those move the rest of their line. The column of
/// IDs is never left out.
///
/// If the layout is narrower than 40 cells or has room for a single column, each record is written
/// as a ``Block`` instead.
struct TableWriter<Item: Record>: RecordWriter {
  private let fields: [Field<Item>]
  private let terminalLayout: TerminalLayout
  private var form = Form.open

  private static var minWidth: Int { 40 }

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
    let requirements = fields.indices.map { index in
      Columns.Requirement(
        natural: rows.reduce(label(index).displayWidth) { max($0, $1[index].displayWidth) },
        isRigid: index == id || fields[index].kind.isNumeric, isRequired: index == id)
    }
    let columns = Columns(requirements, in: terminalLayout.width)
    let isCramped = terminalLayout.width < Self.minWidth || columns.shown.count == 1
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

struct Columns {
  struct Requirement {
    /// In cells.
    var natural: Int
    /// `true` if it is never cut: IDs and numbers.
    var isRigid: Bool
    var isRequired: Bool

    fileprivate var minimum: Int { isRigid ? natural : min(natural, Columns.minWidth) }
  }

  let shown: [Int]
  let widths: [Int]

  static let gap = 2

  /// Columns that would be narrower are left out.
  fileprivate static let minWidth = 8

  /// First leaves out trailing columns, then cuts the widest ones, all to the same width; the sum
  /// exceeds `width` only if the required columns alone do.
  init(_ requirements: [Requirement], in width: Int) {
    var shown = Array(requirements.indices)
    func minimumTotal() -> Int {
      shown.reduce(Self.gap * (shown.count - 1)) { $0 + requirements[$1].minimum }
    }
    while shown.count > 1, minimumTotal() > width,
      let last = shown.lastIndex(where: { !requirements[$0].isRequired })
    {
      shown.remove(at: last)
    }
    self.shown = shown

    var widths = shown.map { requirements[$0].natural }
    let soft = shown.indices.filter { !requirements[shown[$0]].isRigid }
    let rigid = shown.reduce(0) { $0 + (requirements[$1].isRigid ? requirements[$1].natural : 0) }
    var room = width - Self.gap * (shown.count - 1) - rigid
    // Narrow columns first: the others share the room that they do not need.
    let ascending = soft.sorted { (widths[$0], $0) < (widths[$1], $1) }
    for (done, column) in ascending.enumerated() {
      widths[column] = min(widths[column], max(1, room / (soft.count - done)))
      room -= widths[column]
    }
    self.widths = widths
  }
}
