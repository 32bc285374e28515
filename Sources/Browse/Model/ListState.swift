import AggregatorKit
import AggregatorQueries
package import AggregatorTerminal

/// A list of any length, of which the rows around the visible ones are in memory.
package struct ListState: Sendable {
  /// The rows that are read at once.
  static let chunk = 128
  /// More are forgotten, the farthest first.
  private static let maxRows = 12 * chunk

  package private(set) var request: ListRequest
  package private(set) var columns: [BrowsedColumn] = []
  package private(set) var total: Int?
  package private(set) var warnings: [String] = []
  package private(set) var failure: String?
  package private(set) var badge: OriginBadge?
  package private(set) var hasRows = false
  package var selection = 0
  package private(set) var top = 0
  /// The columns that were scrolled past; the one with the IDs, or else the first, stays.
  package private(set) var left = 0

  /// The columns in the place of those of the source; `nil` for these.
  private var chosen: [BrowsedColumn]?
  /// True if the person has chosen them.
  private var isChosen = false
  /// The columns of the source.
  private var own: [BrowsedColumn] = []
  /// The room and the list for which fields were added to the columns.
  private var filled: (room: Int, version: Int) = (0, 0)
  /// The width of the columns at that time; `nil` before.
  private var filledWidth: Int?

  /// The widest cell of each column up to now, that without outliers, and its longest word.
  private(set) var extents: [(cell: Int, usual: Int, word: Int)] = []
  /// The widest whole part of the numbers of each column, and the most decimals, which all of them are shown with.
  private var numbers: [(whole: Int, decimals: Int)] = []
  /// True for a column of times, such as `2024-06-11T10:20:30Z`; `nil` before its first value.
  private(set) var areTimes: [Bool?] = []
  /// True for columns of times without seconds, which tables do not show either.
  private var areMinutes: [Bool] = []
  private(set) var idColumn: Int?
  /// The column with the names of the records, unless these are their IDs.
  private(set) var nameColumn: Int?
  /// True if the IDs are UUIDs, which nobody reads.
  private(set) var hasUUIDs = false
  /// The beginnings of the UUIDs, as tables have them.
  private(set) var shortIDs = ShortIDs()

  /// True if there are more rows, which were not read.
  package private(set) var isCut = false
  /// True if no row can be read again.
  private var isInMemory = false

  private var rows: [Int: BrowsedRow] = [:]
  /// The version of the request that the rows answer.
  private var version = -1
  private var answeredQuery: String?
  private var pending: Int?
  /// The parts that were read, also those with fewer rows than expected.
  private var answered: Set<Int> = []
  private var selectedID: String?
  /// Where earlier requests were left, unless at their start.
  private var places: [ListRequest: Place] = [:]
  /// Where the list goes once the rows of its request are there.
  private var returning: Place?

  private struct Place {
    let selection: Int
    let top: Int
  }

  package init(_ request: ListRequest) { self.request = request }

  /// A list that is complete.
  package init(_ window: BrowsedWindow, of request: ListRequest) {
    self.init(request)
    (isInMemory, isCut, filledWidth) = (true, window.isCut, 0)
    _ = take(window, at: 0)
    total = window.rows.count
  }

  package subscript(index: Int) -> BrowsedRow? { rows[index] }

  package var selected: BrowsedRow? { rows[selection] }

  /// The number of rows, as far as it is known.
  package var count: Int { total ?? extent }

  /// The number of rows that are known to be there.
  private var extent = 0

  /// The width in which no value is cut; `nil` until the columns are known.
  ///
  /// It stays while words are typed, so that what is beside the list does, too.
  var neededWidth: Int? { filledWidth.map { max($0, width) } }

  private var width: Int {
    zip(columns, extents).reduce(-Columns.gap) {
      // The sign of an order may follow the label.
      $0 + Columns.gap + max($1.1.cell, $1.0.label.displayWidth + 1)
    }
  }

  package var isLoading: Bool { pending != nil }

  /// False while the rows are those of an earlier query.
  package var answersQuery: Bool { answeredQuery == request.query }

  /// False while the rows are read anew.
  package var isCurrent: Bool { version == request.version }

  /// Another query, condition or order, from its start, or from where it was left before.
  @inline(never)
  package mutating func ask(_ change: (inout ListRequest) -> Void) {
    let old = request
    change(&request)
    guard request != old else { return }
    // The best match of a picker is the first one, every time.
    if !request.isFuzzy {
      let place = returning ?? Place(selection: selection, top: top)
      places[old.unversioned] = place.selection > 0 ? place : nil
      returning = places[request.unversioned]
    }
    request.version += 1
    (selection, top, pending, failure, selectedID) = (0, 0, nil, nil, nil)
  }

  /// Reads the list anew; the rows stay until others arrive.
  ///
  /// The best match of a picker stays at the top, whatever record it is.
  ///
  /// - Parameter id: The record to select; `nil` for the one that is selected.
  package mutating func reload(selecting id: String? = nil) {
    request.version += 1
    (pending, failure) = (nil, nil)
    let isOther = returning != nil || request.isFuzzy && selection == 0
    selectedID = id ?? (isOther ? nil : selected?.id)
  }

  package mutating func move(by count: Int) { select(selection + count) }

  package mutating func select(_ index: Int) {
    selection = max(0, min(index, count - 1))
    (selectedID, returning) = (nil, nil)
  }

  /// Scrolls by columns; one more than those that stay is always left.
  ///
  /// Meanwhile all fields are columns, unless the person has chosen some.
  package mutating func scroll(by step: Int, among fields: [BrowsedColumn] = []) {
    if step > 0, left == 0, hasOthers(of: fields) { show(fields, isChosen: false) }
    left = max(0, min(left + step, columns.count - 2))
    // At the start, those that suit the room are chosen again.
    if left == 0, chosen != nil { filled = (0, 0) }
  }

  /// True if some of these fields become columns once it is scrolled.
  func hasOthers(of fields: [BrowsedColumn]) -> Bool { !isChosen && fields.count > columns.count }

  /// Scrolls so that the selected row is visible, and returns the rows to read next, if any.
  package mutating func settle(height: Int) -> Range<Int>? {
    let height = max(1, height)
    if selection < top { top = selection }
    if selection >= top + height { top = selection - height + 1 }
    top = max(0, min(top, count - height))
    guard pending == nil, failure == nil else { return nil }
    if version != request.version {
      // The selected rows first, if there are any that stay.
      return ask(for: (returning?.selection ?? (hasRows ? selection : 0)) / Self.chunk)
    }
    // The visible rows, and then those near them; or the next ones, if it is not known whether there are any.
    let near = [top, top + height - 1, top + height + Self.chunk / 2, top - Self.chunk / 2]
    let end = total ?? (extent % Self.chunk == 0 ? extent + 1 : extent)
    for index in near.map({ total == nil ? min($0, end - 1) : $0 })
    where 0..<end ~= index && !answered.contains(index / Self.chunk) {
      return ask(for: index / Self.chunk)
    }
    return nil
  }

  private mutating func ask(for chunk: Int) -> Range<Int> {
    pending = chunk
    return chunk * Self.chunk..<(chunk + 1) * Self.chunk
  }

  /// Adds rows; returns false if they are not those of the request.
  package mutating func take(
    _ result: Result<BrowsedWindow, BrowseFailure>, of request: ListRequest, at start: Int
  ) -> Bool {
    guard request == self.request else { return false }
    pending = nil
    answeredQuery = request.query
    switch result {
    case .success(let window):
      failure = nil
      return take(window, at: start)
    case .failure(let error):
      failure = error.message
      if version != request.version { (rows, total, hasRows, answered) = ([:], 0, true, []) }
      version = request.version
      return true
    }
  }

  private mutating func take(_ window: BrowsedWindow, at start: Int) -> Bool {
    let isFirst = version != request.version
    if isFirst {
      (rows, answered, total, extent) = ([:], [], nil, 0)
      // The columns have the widths of the rows that are shown, not of those before them; where words or a condition are
      // typed, which shows others with every letter, they stay.
      if request.query.isEmpty, request.condition.isEmpty || request.isFuzzy { setWidths() }
      // Matches are those of the records that the badge is about, and only the first rows have another one.
      if !request.isFuzzy, start == 0 { badge = nil }
      version = request.version
      if let returning { (selection, top) = (returning.selection, returning.top) }
      returning = nil
    }
    hasRows = true
    own = window.columns
    if start == 0, !window.rows.isEmpty { chosen = chosen.map { typed($0, by: window.rows) } }
    let read = chosen.map { chosen in window.rows.map { $0.showing(chosen) } } ?? window.rows
    setColumns(chosen ?? window.columns)
    if start == 0 || !window.warnings.isEmpty { warnings = window.warnings }
    badge = window.badge ?? badge
    answered.insert(start / Self.chunk)
    measure(read, keepsTexts: !isFirst)
    for (offset, row) in read.enumerated() { rows[start + offset] = row }
    total = window.total ?? total
    extent = max(extent, start + window.rows.count)
    keepSelection()
    forget(around: start)
    return true
  }

  package mutating func take(count: Int, of request: ListRequest) {
    guard request == self.request, version == request.version, total == nil else { return }
    total = count
  }

  /// The names of the columns that the person has chosen; none for those of the source.
  package var chosenNames: [String] { isChosen ? columns.map(\.name) : [] }

  /// Shows these fields in the place of the columns of the source; these for `nil`.
  package mutating func show(_ fields: [BrowsedColumn]?, isChosen: Bool = true) {
    let shown = typed(fields ?? own, by: Array(rows.values))
    (chosen, self.isChosen) = (fields == nil ? nil : shown, fields != nil && isChosen)
    if fields == nil || isChosen { filled = (0, 0) }
    rows = rows.mapValues { $0.showing(shown) }
    setColumns(shown)
    measure(Array(rows.values))
  }

  /// Fields as columns, of numbers if all of their values are.
  private func typed(_ fields: [BrowsedColumn], by rows: [BrowsedRow]) -> [BrowsedColumn] {
    fields.map { field in
      if let column = own.first(where: { $0.name == field.name }) { return column }
      var column = field
      let values = rows.compactMap { $0.object[field.name] }.filter { $0 != .null }
      column.isNumeric = !values.isEmpty && values.allSatisfy(\.isNumber)
      return column
    }
  }

  /// Adds the fields that have room beside the columns of the source and take at most a quarter of it, as tables do: only
  /// outliers of these columns are cut.
  ///
  /// While words or a condition are typed, the columns stay.
  package mutating func fill(_ room: Int, from fields: [BrowsedColumn]) {
    let isFiltered = !request.query.isEmpty || !request.condition.isEmpty
    guard left == 0, isCurrent, filled.room != room || filled.version != version && !isFiltered
    else { return }
    let shown = (top..<top + Self.chunk).compactMap { rows[$0] }
    guard !shown.isEmpty else { return }
    filled = (room, version)
    defer { filledWidth = self.width }
    guard !isChosen else { return }
    func width(_ field: BrowsedColumn, isWhole: Bool = true) -> Int {
      let values = shown.map { $0.object[field.name] ?? .null }
      let decimals = values.reduce(0) { max($0, $1.decimals()) }
      let widths = values.map { BrowsedRow.shown($0, decimals: decimals).displayWidth }
      return Columns.gap
        + max(field.label.displayWidth + 1, isWhole ? widths.max() ?? 0 : widths.usualWidth)
    }
    let id = idColumn.map { columns[$0].name }
    var rest = own.reduce(room + Columns.gap) {
      $0 - width($1, isWhole: $1.isNumeric || $1.name == id)
    }
    var names = Set(own.map(\.name))
    for field in fields where rest > Columns.minWidth && !names.contains(field.name) {
      let needed = width(field)
      guard needed <= min(rest, room / 4),
        shown.contains(where: { !($0.object[field.name]?.cell ?? "").isEmpty })
      else { continue }
      rest -= needed
      names.insert(field.name)
    }
    let wide = names.count > own.count ? fields.filter { names.contains($0.name) } : own
    if wide.map(\.name) != columns.map(\.name) { show(wide, isChosen: false) }
  }

  /// Widens columns of texts for the rows that are shown, by room that no other column has: none becomes narrower while one
  /// scrolls.
  package mutating func widen(in room: Int, height: Int) {
    guard isCurrent, !isInMemory else { return }
    let shown = ShownColumns(of: self, in: room).columns
    var rest = shown.last.map { room - $0.start - $0.width } ?? 0
    for column in shown
    where rest > 0 && column.index != idColumn && areTimes[column.index] != true {
      let widest = (top..<top + height).reduce(column.width) {
        max($0, rows[$1]?.cells[column.index].displayWidth ?? 0)
      }
      let more = min(rest, widest - column.width)
      guard more > 0 else { continue }
      extents[column.index].cell = max(extents[column.index].cell, column.width + more)
      rest -= more
    }
  }

  private mutating func setColumns(_ new: [BrowsedColumn]) {
    guard columns != new else { return }
    // Columns stay where they are if only their values, such as no numbers, are others.
    if columns.map(\.name) != new.map(\.name) {
      (left, idColumn, nameColumn) = (0, nil, nil)
      shortIDs = ShortIDs()
    }
    columns = new
    setWidths()
  }

  /// The widths of columns without rows.
  private mutating func setWidths() {
    extents = columns.map { column in
      let width = column.label.displayWidth
      return (width, width, width)
    }
    areTimes = columns.map { _ in nil }
    areMinutes = columns.map { _ in true }
    numbers = columns.map { _ in (0, 0) }
  }

  /// The text of a record in a column: numbers have as many decimals as others of their column, and times have no seconds
  /// where all are 0, as in tables.
  func cell(_ index: Int, of row: BrowsedRow) -> String {
    if areMinutes[index], let minute = row.cells[index].wholeMinute { return minute }
    let decimals = numbers[index].decimals
    guard decimals > 0, let value = row.object[columns[index].name] else { return row.cells[index] }
    return BrowsedRow.shown(value, decimals: decimals)
  }

  /// - Parameter keepsTexts: True for rows that are read later: columns do not move while one scrolls, but an ID or a number
  ///   that is cut is another one.
  private mutating func measure(_ rows: [BrowsedRow], keepsTexts: Bool = false) {
    if idColumn == nil {
      idColumn = columns.indices.first { index in
        !rows.isEmpty && rows.allSatisfy { $0.cells[index] == $0.id }
      }
      hasUUIDs = rows.allSatisfy { UUID(uuidString: $0.id) != nil }
    }
    if nameColumn == nil {
      // Records without a name are named by something else.
      nameColumn = columns.indices.first { index in
        let named = rows.filter { !$0.cells[index].isEmpty }
        return index != idColumn && !named.isEmpty && named.count * 2 >= rows.count
          && named.allSatisfy { $0.cells[index] == BrowsedRow.cell($0.name) }
      }
    }
    if hasUUIDs { shortIDs.add(rows.map(\.id)) }
    let measured = columns.indices.filter { index in
      !keepsTexts || index == idColumn || columns[index].isNumeric || areTimes[index] == nil
    }
    for row in rows {
      for index in measured { measure(row.cells[index], index) }
    }
    for index in measured {
      let widths = rows.map { ($0.cells[index].wholeMinute ?? $0.cells[index]).displayWidth }
      extents[index].usual = max(extents[index].usual, widths.usualWidth)
    }
    // The rows of a query in SQL are aligned, and their columns may have the same name.
    guard !isInMemory else { return }
    for index in columns.indices where columns[index].isNumeric && index != idColumn {
      for row in rows {
        let value = row.object[columns[index].name] ?? .null
        numbers[index].whole = max(
          numbers[index].whole, row.cells[index].prefix { $0 != "." }.count)
        numbers[index].decimals = max(numbers[index].decimals, value.decimals())
      }
      guard numbers[index].decimals > 0 else { continue }
      extents[index].cell = max(
        extents[index].cell, numbers[index].whole + 1 + numbers[index].decimals)
    }
  }

  private mutating func measure(_ cell: String, _ index: Int) {
    if !cell.isEmpty, areTimes[index] != false { areTimes[index] = cell.isTime }
    let minute = cell.wholeMinute
    if !cell.isEmpty, minute == nil { areMinutes[index] = false }
    let width = (minute ?? cell).displayWidth
    extents[index].cell = max(extents[index].cell, width)
    guard width > extents[index].word else { return }
    let longest = cell.split(separator: " ").reduce(0) { max($0, $1.displayWidth) }
    extents[index].word = max(extents[index].word, longest)
  }

  /// The selected record stays selected where the rows before it have changed.
  private mutating func keepSelection() {
    if let selectedID, rows[selection]?.id != selectedID,
      let index = rows.first(where: { $0.value.id == selectedID })?.key
    {
      top += index - selection
      selection = index
    }
    selectedID = nil
    selection = max(0, min(selection, count - 1))
  }

  private mutating func forget(around start: Int) {
    guard rows.count > Self.maxRows, !isInMemory else { return }
    let kept = start - Self.maxRows / 2..<start + Self.maxRows / 2
    rows = rows.filter { kept.contains($0.key) }
    answered = Set(rows.keys.map { $0 / Self.chunk })
  }

  /// Replaces a record by the same one with its details.
  package mutating func replace(_ row: BrowsedRow) {
    let row = chosen.map { row.showing($0) } ?? row
    for (index, known) in rows where known.id == row.id { rows[index] = row }
  }
}

extension JSON {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .number: true
    default: false
    }
  }
}
