import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The look of the browser on a terminal, with or without colors and signs beyond ASCII.
///
/// Its colors are those of the terminal's own palette, over its own background: they suit light and dark ones.
package struct Theme: Equatable, Sendable {
  let hasColor: Bool
  let hasUTF8: Bool

  package init(hasColor: Bool, hasUTF8: Bool) {
    self.hasColor = hasColor
    self.hasUTF8 = hasUTF8
  }

  // Weights are no colors.
  let heading = CellStyle(codes: Style.Role.heading.rawValue)
  let label = CellStyle(codes: Style.Role.label.rawValue)
  let selected = CellStyle(codes: "7")
  /// The style of characters that match a filter.
  let match = CellStyle(codes: "1;4")
  var id: CellStyle { color(.id) }
  var error: CellStyle { color(.error) }
  var warning: CellStyle { color(.warning) }
  var hint: CellStyle { color(.hint) }

  private func color(_ role: Style.Role) -> CellStyle {
    hasColor ? CellStyle(codes: role.rawValue) : .plain
  }

  var vertical: String { hasUTF8 ? "│" : "|" }
  var horizontal: String { hasUTF8 ? "─" : "-" }
  var marker: String { hasUTF8 ? "▌" : ">" }
  var dot: String { hasUTF8 ? "●" : "*" }
  var ascending: String { hasUTF8 ? "▲" : "^" }
  var descending: String { hasUTF8 ? "▼" : "v" }
  var before: String { hasUTF8 ? "‹" : "<" }
  var after: String { hasUTF8 ? "›" : ">" }
  var separator: String { hasUTF8 ? " · " : " - " }
}

/// A text of which some characters match a filter.
private struct MarkedText {
  let text: String
  /// The numbers of the characters.
  var marks: Set<Int> = []
}

/// Draws a state; the same state always gives the same screen.
package struct BrowseView {
  /// A reference, so that a view is copied without all of it.
  private final class Drawn: Sendable {
    let state: BrowseState

    init(_ state: BrowseState) { self.state = state }
  }

  private let drawn: Drawn
  private let theme: Theme
  private let layout: BrowseLayout
  private var screen: Screen

  /// Where the cursor is while a line is typed.
  package private(set) var cursor: (column: Int, row: Int)?

  package init(_ state: BrowseState, _ theme: Theme) {
    drawn = Drawn(state)
    self.theme = theme
    layout = state.layout
    screen = Screen(width: state.width, height: state.height)
  }

  package mutating func draw() -> Screen {
    for divider in layout.dividers { draw(divider: divider) }
    if let area = layout.sources, area.height > 0 { drawSources(area) }
    if let area = layout.list { drawList(area) }
    if let area = layout.card, area.height > 0 { drawCard(area) }
    drawNotice()
    drawKeys()
    switch drawn.state.overlay {
    case .help(let top)?: drawHelp(top)
    case .order(let index)?, .columns(let index)?: drawChooser(index)
    case nil: break
    }
    return screen
  }

  private mutating func draw(divider area: Area) {
    let isVertical = area.width == 1
    for row in area.row..<area.endRow {
      let text = String(
        repeating: isVertical ? theme.vertical : theme.horizontal, count: area.width)
      screen.put(text, at: area.column, row, width: area.width, theme.label)
    }
  }

  // MARK: - Sources

  private mutating func drawSources(_ area: Area) {
    screen.put(" Sources", at: area.column, area.row, width: area.width, theme.heading)
    let first = layout.firstSource(drawn.state)
    let shown = drawn.state.shownSources
    if shown.isEmpty, area.height > 1 {
      screen.put("No match", at: area.column + 1, area.row + 1, width: area.width - 1, theme.label)
    }
    for (offset, index) in shown.dropFirst(first).prefix(max(0, area.height - 1)).enumerated() {
      let source = drawn.state.sources[index]
      let row = area.row + 1 + offset
      let isOpened = index == drawn.state.opened
      // None, too, if the service has sent none.
      let isCached = source.status.count ?? 0 > 0 || source.status.fetchedAt != nil
      // The age that is in the title of the list, unless others of its records are older.
      let date = source.status.fetchedAt.map { min($0, source.badge?.fetchedAt ?? $0) }
      let age = isCached ? date.map { shortAge($0) } ?? "" : ""
      let cached =
        isCached ? source.status.count.map { "\($0.grouped)\(source.hasGap ? "+" : "")" } : nil
      let count = source.sync != nil ? "sync" : cached ?? (theme.hasUTF8 ? "–" : "-")
      let dated = age.isEmpty ? count : "\(count) \(age.padded(to: 3))"
      let fits = source.name.displayWidth + dated.displayWidth + 3 <= area.width
      let numbers = fits ? dated : count
      let width = numbers.displayWidth
      if isOpened {
        screen.put(theme.marker, at: area.column, row, width: 1, theme.hint)
      }
      screen.put(
        source.name, at: area.column + 1, row, width: area.width - width - 3,
        isOpened ? theme.heading : .plain)
      screen.put(
        numbers, at: area.endColumn - width - 1, row, width: width,
        source.sync != nil ? theme.hint : theme.label)
      // The one that Enter opens while names are typed.
      let isSelected = shown.contains(drawn.state.opened) ? isOpened : offset == 0
      if isSelected, drawn.state.pane == .sources {
        screen.add(theme.selected, to: Area(area.column, row, area.width, 1))
      }
    }
  }

  private func shortAge(_ date: Date) -> String {
    // As the title of the list has it: `just now`, `75 s ago`, `3 days ago`.
    let words = date.age(at: drawn.state.now).split(separator: " ")
    return words.count > 2 ? "\(words[0])\(words[1].prefix(1))" : "now"
  }

  // MARK: - The list

  private mutating func drawList(_ area: Area) {
    let list = drawn.state.list
    let room = area.width - 2
    let shown = ShownColumns(of: list, in: room)
    let columns = shown.columns
    if layout.head > 0 { drawTitle(area, columns) }
    let first = area.row + layout.head
    guard list.count > 0 else {
      let words = emptyWords
      for (index, line) in Wrap(area.width - 2).lines(of: words).prefix(layout.rows).enumerated() {
        screen.put(line, at: area.column + 1, first + index, width: area.width - 2, theme.label)
      }
      return
    }
    if layout.head > 1 { drawLabels(shown, list, area) }
    for offset in 0..<min(layout.rows, list.count - list.top) {
      let index = list.top + offset
      let row = first + offset
      if let record = list[index] {
        draw(record, columns, list, in: Area(area.column + 1, row, room, 1))
      } else {
        screen.put("…", at: area.column + 1, row, width: room, theme.label)
      }
      let isMarked = list[index].map { drawn.state.isMarked($0.id) } ?? false
      if isMarked || index == list.selection {
        let sign = isMarked ? theme.dot : theme.marker
        screen.put(sign, at: area.column, row, width: 1, theme.hint)
      }
      guard index == list.selection, drawn.state.pane == .list else { continue }
      screen.add(theme.selected, to: Area(area.column, row, area.width, 1))
    }
    drawScrollBar(area, first, list)
  }

  private mutating func drawScrollBar(_ area: Area, _ first: Int, _ list: ListState) {
    guard layout.rows > 0, list.count > layout.rows else { return }
    let size = max(1, layout.rows * layout.rows / list.count)
    let range = max(1, list.count - layout.rows)
    let start = list.top * (layout.rows - size) / range
    for offset in start..<min(layout.rows, start + size) {
      screen.put(
        theme.hasUTF8 ? "▐" : "#", at: area.endColumn - 1, first + offset, width: 1, theme.label)
    }
  }

  private var emptyWords: String {
    let list = drawn.state.list
    if let failure = list.failure { return failure }
    if !list.hasRows || drawn.state.isAnswering || drawn.state.source.isIndexing {
      return "Reading…"
    }
    if drawn.state.answer != nil {
      return drawn.state.answerFilter.isEmpty ? "No rows" : "No rows match. Esc clears the filter."
    }
    if drawn.state.source.isRefreshing { return "Fetching \(drawn.state.source.name)…" }
    guard drawn.state.picking == nil else { return noMatch }
    if !list.request.query.isEmpty || !list.request.condition.isEmpty {
      // Records that a search did not reach may match.
      let source = drawn.state.source
      let badge = source.badge.flatMap { $0.kind == .live ? $0 : nil }
      let part = source.isPart ? source.status.gap : nil
      let doubt =
        (list.request.query.isEmpty ? nil : badge?.cause).map { ": \($0)" }
        ?? part.map { ": only a part was searched (\($0))" }
      return "\(noRecords) match\(doubt ?? ""). Esc clears the filter."
    }
    return "\(noRecords) are cached. r asks the service, S syncs."
  }

  private var noRecords: String { "No \(RecordNoun(drawn.state.source.name).word(for: 0))" }

  /// The words of a picker without a match, with what may find one.
  private var noMatch: String {
    let words = "\(noRecords) match"
    let part = drawn.state.searchedPart.map { ": only a part was searched (\($0))" } ?? ""
    guard !drawn.state.isOffline else { return "\(words)\(part)." }
    guard let searched = drawn.state.searched else {
      return "\(words)\(part). Ctrl-R asks the service."
    }
    guard let cause = searched.badge.cause else {
      // A service without a search may have sent any number of others.
      let sent = searched.count > 0 ? searched.count.of("matching record") : "none either"
      return "\(words). The service sent \(sent)."
    }
    let remedy = drawn.state.source.status.syncCommand.map { " To fetch all: \($0)" }
    return "\(words): \(cause).\(remedy ?? "")"
  }

  private static let conditionStart = " where "
  /// The width to which a condition is shortened for the badge.
  private static let minConditionWidth = 24

  private mutating func drawTitle(_ area: Area, _ columns: [ShownColumns.Column]) {
    var pieces = titlePieces(columns)
    let needed = pieces.reduce(1) { $0 + $1.text.displayWidth }
    // A long condition is shortened before the badge.
    let condition = pieces.firstIndex { $0.text.hasPrefix(Self.conditionStart) }
    let length = condition.map { pieces[$0].text.displayWidth } ?? 0
    let slack = max(0, length - Self.minConditionWidth)
    let isOfSource = drawn.state.answer == nil || drawn.state.showsValues
    let end = isOfSource ? drawBadge(area, beside: needed - slack) : area.endColumn
    var column = area.column + 1
    if let condition, slack > 0 {
      let excess = max(0, needed - (end - 1 - area.column))
      pieces[condition].text = pieces[condition].text.fitted(to: length - min(slack, excess))
    }
    for (text, style) in pieces where column < end - 1 {
      column += screen.put(text, at: column, area.row, width: end - 1 - column, style)
    }
  }

  private var answerName: String {
    drawn.state.showsValues ? "values of \(drawn.state.list.columns.first?.label ?? "")" : "SQL"
  }

  private func titlePieces(
    _ columns: [ShownColumns.Column]
  ) -> [(text: String, style: CellStyle)] {
    let list = drawn.state.list
    let request = list.request
    let name =
      "\(drawn.state.picking?.areDeleted == true ? "deleted " : "")\(drawn.state.source.name)"
    var pieces = [(text: drawn.state.answer == nil ? name : answerName, style: theme.heading)]
    let isFilter = !request.query.isEmpty || !request.condition.isEmpty
    let total = isFilter ? nil : drawn.state.source.total.flatMap { $0 > list.count ? $0 : nil }
    if list.count > 0 {
      let mayLack = drawn.state.answer == nil ? total == nil : drawn.state.showsValues
      let isPart = mayLack && drawn.state.source.isPart
      let isMore = list.total == nil || list.isCut || isPart
      // The rows of an earlier filter or order stay until others are there.
      let number = "\(list.count.grouped)\(isMore ? "+" : "")\(list.isCurrent ? "" : "…")"
      pieces.append((" \((list.selection + 1).grouped)/\(number)", theme.label))
    }
    guard drawn.state.answer == nil else {
      if !drawn.state.answerFilter.isEmpty {
        pieces.append((" /\(drawn.state.answerFilter.safeLine)", theme.hint))
      }
      return pieces + [("\(theme.separator)Esc goes back", theme.label)]
    }
    let count = drawn.state.picking?.marked.count ?? drawn.state.marked.count
    if count > 0 { pieces.append((" (\(count) marked)", theme.hint)) }
    if drawn.state.picking == nil, !request.query.isEmpty {
      pieces.append((" /\(request.query.safeLine)", theme.hint))
    }
    if !request.condition.isEmpty {
      pieces.append(("\(Self.conditionStart)\(request.condition.safeLine)", theme.hint))
    }
    if list.count > 0, let total, drawn.state.picking?.areDeleted != true {
      pieces.append((" of \(total.grouped)", theme.label))
    }
    guard drawn.state.picking == nil else { return pieces }
    // Where no label has its sign.
    if let order = request.order, list.hasRows,
      !columns.contains(where: { list.columns[$0.index].name == request.orderField })
    {
      let field = drawn.state.source.fields.first { $0.name == request.orderField }
      let text = field.map { $0.label + orderSign(of: $0.name) } ?? order.safeLine
      pieces.append((" by \(text)", theme.label))
    }
    return pieces
  }

  /// Draws the longest form of the badge that leaves room for the title, and returns the column where it begins.
  private mutating func drawBadge(_ area: Area, beside title: Int) -> Int {
    let badge = drawn.state.source.badge
    let (text, style): (String, CellStyle) =
      if drawn.state.source.isRefreshing {
        ("Fetching…", theme.hint)
      } else if let badge {
        switch badge.kind {
        case .live: (badge.label(at: drawn.state.now), theme.id)
        case .cached: (cachedLabel(badge), theme.hint)
        case .bundled, .offline: (badge.label(at: drawn.state.now), theme.warning)
        }
      } else {
        ("", .plain)
      }
    guard !text.isEmpty else { return area.endColumn }
    let word = badge.map { " \($0.word)" } ?? ""
    let age = badge?.fetchedAt.map { " \(shortAge($0))" } ?? ""
    let short = theme.dot + word
    let forms = ["\(theme.dot) \(text)", short + age, short, theme.dot].map(\.safeLine)
    let shown =
      forms.first { $0.displayWidth + 2 <= area.width - title } ?? forms.last ?? ""
    let column = max(area.column, area.endColumn - shown.displayWidth - 1)
    screen.put(shown, at: column, area.row, width: area.endColumn - column, style)
    return column
  }

  /// The label of cached records, of which a refresh may have fetched a part again.
  private func cachedLabel(_ badge: OriginBadge) -> String {
    guard drawn.state.source.refreshed?.badge.kind == .live, let date = badge.fetchedAt else {
      return badge.label(at: drawn.state.now)
    }
    return "Cached, oldest page \(date.age(at: drawn.state.now))"
  }

  /// The sign of the order of the list by a field; empty for another one.
  private func orderSign(of field: String) -> String {
    let order = drawn.state.list.request.order
    return order == field ? theme.ascending : order == "-\(field)" ? theme.descending : ""
  }

  private mutating func drawLabels(
    _ shown: ShownColumns, _ list: ListState, _ area: Area
  ) {
    let row = area.row + 1
    if list.left > 0 { screen.put(theme.before, at: area.column, row, width: 1, theme.hint) }
    if shown.hasMore || drawn.state.hasOtherColumns {
      screen.put(theme.after, at: area.endColumn - 1, row, width: 1, theme.hint)
    }
    for column in shown.columns {
      let field = list.columns[column.index]
      let sign = orderSign(of: field.name)
      let text = field.label.fitted(to: column.width - sign.displayWidth) + sign
      let slack = field.isNumeric ? max(0, column.width - text.displayWidth) : 0
      screen.put(
        text, at: area.column + 1 + column.start + slack, row,
        width: min(column.width, area.width - 2 - column.start), theme.label)
    }
  }

  private mutating func draw(
    _ record: BrowsedRow, _ columns: [ShownColumns.Column], _ list: ListState, in line: Area
  ) {
    guard !columns.isEmpty else {
      put(marked(record.name), at: line.column, line.row, width: line.width)
      return
    }
    let marks = fuzzyMarks(record)
    for column in columns {
      let cell = list.cell(column.index, of: record)
      let isDate = list.areTimes[column.index] == true && cell.displayWidth > column.width
      let isShortID =
        column.index == list.idColumn && list.hasUUIDs && cell.displayWidth > column.width
      let short = isShortID ? list.shortIDs.short(cell) : cell
      let text =
        isDate ? cell.fittedToTimeOrWords(column.width) : short.fitted(to: column.width)
      let isNumeric = list.columns[column.index].isNumeric
      let slack = isNumeric ? max(0, column.width - text.displayWidth) : 0
      put(
        marks.map { MarkedText(text: text, marks: $0[column.index]) } ?? marked(text),
        at: line.column + column.start + slack, line.row,
        width: min(column.width - slack, line.width - column.start - slack),
        column.index == list.idColumn ? theme.id : .plain)
    }
  }

  // MARK: - Matches

  private var query: String {
    drawn.state.answer == nil ? drawn.state.list.request.query : drawn.state.answerFilter
  }

  /// A text with the words of the filter.
  private func marked(_ text: String) -> MarkedText {
    guard !query.isEmpty else { return MarkedText(text: text) }
    return MarkedText(text: text, marks: Set(SearchedWords(query).ranges(in: text).joined()))
  }

  /// The characters of each cell of a record that match the query of a picker; `nil` in the browser.
  private func fuzzyMarks(_ record: BrowsedRow) -> [Set<Int>]? {
    guard drawn.state.picking != nil, !query.isEmpty else { return nil }
    let fields = record.fuzzyFields
    let text = FuzzyText(fields.joined(separator: "\t"))
    let matched = FuzzyPattern(query).match(in: text)?.characters ?? []
    var start = 0
    var marks: [String: Set<Int>] = [:]
    for field in fields {
      let count = field.count
      marks[field, default: []].formUnion((0..<count).filter { matched.contains(start + $0) })
      // After a field is a tab.
      start += count + 1
    }
    return record.cells.map { marks[$0] ?? [] }
  }

  private mutating func put(
    _ marked: MarkedText, at column: Int, _ row: Int, width: Int, _ style: CellStyle = .plain
  ) {
    let taken = screen.put(marked.text, at: column, row, width: width, style)
    guard !marked.marks.isEmpty else { return }
    var place = column
    for (number, character) in marked.text.enumerated() {
      let count = character.displayWidth
      guard place + count <= column + taken else { return }
      if marked.marks.contains(number) {
        screen.add(theme.match, to: Area(place, row, count, 1))
      }
      place += count
    }
  }

  // MARK: - The record

  private mutating func drawCard(_ area: Area) {
    guard let record = drawn.state.list.selected else { return }
    let lines = layout.cardLines(drawn.state)
    let room = max(0, area.height - 1)
    let top = max(0, min(drawn.state.cardTop, lines.count - max(1, room)))
    // Text that is wider than the room beside it is not scrolled under it.
    let place = top == 0 ? layout.picture : nil
    if let place, let request = drawn.state.picture,
      let picture = drawn.state.pictures[request] ?? nil
    {
      // Some terminals draw pixels over text.
      if picture.format == .symbols || drawn.state.overlay == nil {
        screen.draw(picture, in: place)
      }
    }
    let right = place?.column ?? area.endColumn
    put(
      marked(record.name), at: area.column + 1, area.row, width: right - area.column - 2,
      drawn.state.pane == .card ? theme.heading.adding(theme.hint) : theme.heading)
    let beside = place.map { _ in layout.linesBesidePicture(drawn.state) } ?? 0
    for (offset, line) in lines.dropFirst(top).prefix(room).enumerated() {
      let row = area.row + 1 + offset
      let end = offset < beside ? right - 1 : area.endColumn
      let start = area.column + 1
      screen.put(line.label, at: start, row, width: end - start, theme.label)
      put(marked(line.text), at: start + line.margin, row, width: end - start - line.margin)
    }
    if lines.count - top > room {
      screen.put(
        theme.hasUTF8 ? "↓" : "v", at: area.endColumn - 1, area.endRow - 1, width: 1, theme.label)
    }
  }

  // MARK: - The bottom

  private var message: Notice? {
    if let notice = drawn.state.notice ?? drawn.state.conditionPreview { return notice }
    if let (progress, stop) = drawn.state.progress {
      // The progress names the source.
      let pause = drawn.state.pauseText.map {
        String($0.trimmingPrefix("\(drawn.state.source.name): "))
      }
      let parts = [progress, stop, pause]
      return Notice(.note, parts.compactMap(\.self).joined(separator: theme.separator))
    }
    if let pauseText = drawn.state.pauseText { return Notice(.warning, pauseText) }
    return drawn.state.remark(theme.separator)
  }

  private func style(of notice: Notice) -> CellStyle {
    switch notice.kind {
    case .note: theme.hint
    case .warning: theme.warning
    case .error: theme.error
    }
  }

  private mutating func drawNotice() {
    guard let area = layout.notice, let message else { return }
    let text = message.text.safeLine
    let lines = area.height == 1 ? [text] : Wrap(area.width - 2).lines(of: text)
    for (offset, line) in lines.prefix(area.height).enumerated() {
      screen.put(
        line, at: area.column + 1, area.row + offset, width: area.width - 2, style(of: message))
    }
  }

  private mutating func drawKeys() {
    let area = layout.keys
    if let (kind, line) = drawn.state.prompt { return drawPrompt(kind, line, area) }
    // On a low terminal it has no line of its own.
    if layout.notice == nil, let message {
      screen.put(
        message.text, at: area.column, area.row, width: area.width, style(of: message))
      return
    }
    var column = area.column + 1
    for hint in shownKeys.split(separator: "  ") {
      guard let line = hint.lastIndex(of: "_") else { break }
      let (key, words) = (String(hint[..<line]), String(hint[line...].dropFirst()))
      guard column + key.displayWidth + 1 + words.displayWidth < area.endColumn else { break }
      column += screen.put(key, at: column, area.row, width: 8, theme.heading) + 1
      column += screen.put(words, at: column, area.row, width: 12, theme.label) + 2
    }
  }

  /// Keys and their meanings, joined by a line, the most important first; what does not fit is in the help.
  private var shownKeys: String {
    let isTyped = !drawn.state.typedField.characters.isEmpty
    let others = "  Esc_\(isTyped ? "clear" : "back")  letters_narrow"
    switch drawn.state.overlay {
    case .order?: return "Enter_\(drawn.state.isCounting ? "count" : "sort")\(others)"
    case .columns?:
      return "\(isTyped ? "Tab" : "Space")_show or hide  Enter_done\(others)  Ctrl-R_as before"
    case .help?, nil: break
    }
    if drawn.state.showsValues { return "Esc_back  Enter_filter  q_quit  /_filter these  s_sort" }
    if drawn.state.answer != nil {
      let open = "  ?_keys  Enter_open  :_SQL  H L_columns  /_filter  s_sort  w_write"
      return "Esc_back  q_quit  y_copy  r_run again\(drawn.state.isCardOpen ? "" : open)"
    }
    if drawn.state.isCardOpen {
      return "Esc_back  o_web  y_copy  d_delete  q_quit  J_next  K_previous"
    }
    return "?_keys  q_quit  /_filter  Enter_open  s_sort  f_where  o_web  y_copy  d_delete  "
      + (drawn.state.canUndo ? "u_undo" : "r_refresh") + "  n_more  "
      + (drawn.state.source.sync == nil ? "S_sync" : "S_stop")
      + "  :_SQL  c_columns  F_count  w_write"
  }

  private mutating func drawPrompt(_ kind: BrowseState.Prompt, _ line: LineInput, _ area: Area) {
    let label =
      switch kind {
      case .filter, .source: "/"
      case .condition: "where "
      case .query: ":"
      case .pick: "> "
      case .file: "write to "
      }
    var column = area.column
    column += screen.put(label, at: column, area.row, width: area.width, theme.heading)
    let room = max(1, area.endColumn - column - 1)
    // The end of a long line, up to the cursor, after a sign that it has a beginning.
    var before = line.characters[..<line.cursor]
    if String(before).displayWidth >= room {
      let sign = theme.hasUTF8 ? "…" : theme.before
      while before.count > 0, String(before).displayWidth + 1 >= room { before.removeFirst() }
      before.insert(contentsOf: sign, at: before.startIndex)
    }
    let text = String(before) + String(line.characters[line.cursor...])
    // A space at an end is part of what is typed.
    for character in text.prefix(room) {
      let width = max(
        1,
        screen.put(
          String(character), at: column, area.row, width: 2,
          line.isProposal ? theme.selected : .plain))
      if column - area.column >= area.width - 1 { break }
      column += width
    }
    cursor = (
      min(area.column + label.count + String(before).displayWidth, area.endColumn - 1), area.row
    )
    var hints = promptHints(kind)
    let separator = theme.separator
    var hint: String { hints.joined(separator: separator) }
    func fits(_ hints: [String]) -> Bool {
      text.displayWidth + hints.joined(separator: separator).displayWidth + 4 < room
    }
    if kind == .pick, let form = pickHints.first(where: fits) { hints = form }
    // The last one stays longest, in the picker the first one.
    while !hints.isEmpty, !fits(hints) {
      hints.remove(at: max(0, hints.count - (kind == .pick ? 1 : 2)))
    }
    screen.put(
      hint, at: area.endColumn - hint.displayWidth - 1, area.row, width: hint.displayWidth,
      theme.label)
  }

  /// A field of texts for an example, rather than that of the IDs.
  private var conditionField: [BrowsedColumn] {
    let list = drawn.state.source.list
    let texts = list.columns.indices.filter { $0 != list.idColumn && !list.columns[$0].isNumeric }
    return Array((texts.map { list.columns[$0] } + drawn.state.source.fields).prefix(1))
  }

  /// The hint whether Enter sends a filter to the service, as a search.
  private var searchHint: [String] {
    let (state, list) = (drawn.state, drawn.state.list)
    guard state.answer == nil, !state.isOffline else { return [] }
    guard !state.searchesService else { return ["Enter also asks the service"] }
    let isEmpty = list.isCurrent && list.count == 0
    return ["All records are cached\(isEmpty ? ": nothing matches" : "")"]
  }

  private func promptHints(_ kind: BrowseState.Prompt) -> [String] {
    // On the line above.
    let shown = layout.notice.flatMap { _ in message?.text }
    return switch kind {
    case .filter:
      searchHint + ["Esc clears"]
    case .source:
      ["Enter opens", "Esc shows all"]
    case .condition:
      ["Tab completes", "= != ~ < <= > >="]
        + (drawn.state.conditionPreview.map { $0.text == shown ? [] : [$0.text.safeLine] }
          ?? conditionField.map { "such as \($0.name.asField)~text" })
    case .file:
      [".csv .tsv .json .ndjson .yaml .md .db .gz"]
        + [drawn.state.marked.isEmpty ? "Enter writes the list" : "Enter writes those marked"]
    case .query:
      ["Tab completes"]
        + (drawn.state.canRecall
          ? ["Up for earlier statements"] : ["such as SELECT * FROM \(drawn.state.source.name)"])
    case .pick: pickHints[0]
    }
  }

  /// The keys of the picker, in words that become fewer.
  private var pickHints: [[String]] {
    let forms = [
      ["Enter picks", "Tab marks", "Esc leaves", "Ctrl-R asks the service"],
      ["Enter picks", "Tab marks", "Esc leaves", "Ctrl-R asks"],
      ["Enter", "Tab marks", "Esc", "Ctrl-R asks"], ["Enter", "Tab", "Esc", "Ctrl-R"],
    ]
    let marks = drawn.state.picking?.takesSeveral == true
    return forms.map { form in
      form.filter {
        $0.hasPrefix("Tab") ? marks : !$0.hasPrefix("Ctrl") || !drawn.state.isOffline
      }
    }
  }

  // MARK: - Over the list

  /// A box in the middle, or all of a small screen, as large as its content and the screen allow; returns its inner area.
  private mutating func box(_ title: String, width: Int, height: Int) -> Area {
    guard layout.hasFrame else {
      screen.clear(screen.area)
      return layout.box
    }
    let width = min(width + 4, screen.width)
    let height = min(height + 2, screen.height)
    let area = Area(
      (screen.width - width) / 2, (screen.height - height) / 2, width, height)
    screen.clear(area)
    let (line, side) = (theme.horizontal, theme.vertical)
    let corners = theme.hasUTF8 ? ["┌", "┐", "└", "┘"] : ["+", "+", "+", "+"]
    let edge = String(repeating: line, count: max(0, width - 2))
    screen.put(corners[0] + edge + corners[1], at: area.column, area.row, width: width, theme.label)
    screen.put(
      corners[2] + edge + corners[3], at: area.column, area.endRow - 1, width: width, theme.label)
    for row in area.row + 1..<max(area.row + 1, area.endRow - 1) {
      screen.put(side, at: area.column, row, width: 1, theme.label)
      screen.put(side, at: area.endColumn - 1, row, width: 1, theme.label)
    }
    screen.put(" \(title) ", at: area.column + 2, area.row, width: width - 4, theme.heading)
    return Area(area.column + 2, area.row + 1, width - 4, height - 2)
  }

  /// Says that a box has more than `area` shows.
  private mutating func drawMore(below area: Area) {
    let sign = theme.hasUTF8 ? "↓" : "v"
    if layout.hasFrame {
      screen.put(" \(sign) more ", at: area.column, area.endRow, width: area.width, theme.label)
    } else {
      screen.put(sign, at: area.endColumn, area.endRow - 1, width: 1, theme.label)
    }
  }

  private mutating func drawHelp(_ top: Int) {
    let lines = layout.helpLines
    let width = lines.reduce(0) {
      max($0, $1.label.displayWidth, $1.text.isEmpty ? 0 : $1.margin + $1.text.displayWidth)
    }
    let area = box("Keys", width: width, height: lines.count)
    let top = max(0, min(top, lines.count - area.height))
    for (offset, line) in lines.dropFirst(top).prefix(area.height).enumerated() {
      let row = area.row + offset
      screen.put(line.label, at: area.column, row, width: area.width, theme.heading)
      screen.put(line.text, at: area.column + line.margin, row, width: area.width - line.margin)
    }
    if lines.count - top > area.height { drawMore(below: area) }
  }

  /// Draws a box of fields, each with a sign, and the typed text in its title.
  private mutating func drawChooser(_ selection: Int) {
    let state = drawn.state
    let title =
      state.isChoosingColumns ? "Columns" : state.isSorting ? "Sort by" : "Count values of"
    let (fields, choices, typed) = (state.offeredFields, state.choices, state.typedField.text)
    let width = fields.reduce(24) { max($0, $1.label.displayWidth) } + 2
    // It stays as large as it is without a text.
    let area = box(
      typed.isEmpty ? title : "\(title): \(typed)", width: width,
      height: fields.count + (state.isSorting ? 1 : 0))
    let shown = Set(state.list.columns.map(\.name))
    let first = max(0, selection - area.height + 1)
    if choices.isEmpty {
      screen.put("No match", at: area.column, area.row, width: area.width, theme.label)
    }
    for (offset, number) in choices.dropFirst(first).prefix(area.height).enumerated() {
      let field = number > 0 ? fields[number - 1] : nil
      let sign =
        state.isChoosingColumns
        ? field.map { shown.contains($0.name) ? theme.dot : "" }
        : field.map { orderSign(of: $0.name) }
      let row = area.row + offset
      screen.put(
        field?.label ?? BrowseState.unsorted, at: area.column, row, width: area.width - 2)
      screen.put(sign ?? "", at: area.endColumn - 1, row, width: 1, theme.hint)
      if first + offset == selection {
        screen.add(theme.selected, to: Area(area.column, row, area.width, 1))
      }
    }
    if choices.count - first > area.height { drawMore(below: area) }
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - displayWidth)) + self
  }
}
