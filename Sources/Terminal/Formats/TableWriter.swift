import AggregatorKit

/// Writes records as a table that fits the width.
///
/// The records that come first decide the columns of a list of records on a terminal: what is one cell wider later takes it from
/// the space before the next column, and an ID or a number that is still wider its room from the text after it, but not from a
/// time, whose form stays. Elsewhere each page is measured together with those before it, and if that changes the
/// widths, the header is written again. Cells that are too wide are cut, after the labels of numbers, and first the
/// few texts that are far wider than the others of their column. IDs, which people copy, and numbers, which have as many decimals
/// for a person as others of their column, and elsewhere their points in one cell, are never cut. A person sees no seconds in a
/// column of times where all are 0, and where anything would be cut or left out. Below
/// 100 cells, or among chosen fields, they are a day and an ellipsis rather than that a column is left out, or a text cut to a word.
/// The column of IDs is
/// never left out, and names of records have room before other columns; see ``keepingName(_:in:)``.
///
/// Fields that were chosen are never left out: without room for them, each record is a card, and what no person reads on a
/// terminal is not cut. Else, if the layout is narrower than 40 cells or has room for one or two of more columns, each record is written
/// as a ``Block`` instead; below 48 cells also if a table would cut it, unless it is named by its ID, and one of a source that has
/// blocks of its own, if not all columns fit. Listings that prefer cards have these in the place of blocks, and those that keep
/// the table have neither.
///
/// From 100 cells on a person also sees the other fields of a source that the first page has room for; see ``addFields(for:)``.
struct TableWriter<Item: Identifiable & Sendable>: RecordWriter
where Item.ID: CustomStringConvertible {
  private let listing: Listing<Item>
  private var fields: [Field<Item>]
  private let terminalLayout: TerminalLayout
  private var form = Form.open
  /// The widths of the widest cells up to now, of those without outliers, and of the longest words.
  private var extents: [(cell: Int, usual: Int, word: Int)] = []
  /// The columns of numbers; those of any kind are judged by the first page.
  private var numeric: Set<Int> = []
  /// The most decimals of each of these up to now.
  private var decimals: [Int: Int] = [:]
  /// The columns of dates with a time of day, as the first page has them.
  private var times: Set<Int> = []
  /// Those that have no seconds, which a person is not shown.
  private var minutes: Set<Int> = []
  private var id: Int?
  /// The column that names the records.
  private var name: Int?
  /// The widths of texts that were added for the room that is left, and cut to it; by their names.
  private var caps: [String: Int] = [:]
  /// The other fields with the ID beside it, which nobody reads twice.
  private var copies: [String] = []
  private var shortIDs = ShortIDs()
  /// The least space between the columns: less below records that have decided the columns.
  private var leastGap = Columns.gap

  private static var minWidth: Int { 40 }

  /// Narrower tables cut what the blocks of a source show.
  private static var minWidthBesideBlocks: Int { 56 }

  /// In narrower tables, texts that are cut have a word or two left.
  private static var minWidthOfCutTable: Int { 48 }

  /// Narrower tables have the fields that their source chose for lists.
  private static var minWidthOfAllFields: Int { 100 }

  /// Wider columns of text are hard to read.
  private static var maxText: Int { 120 }

  /// Longer keys are cut before other columns are left out.
  private static var maxKey: Int { 24 }

  /// In fewer cells, nobody reads a text of several words.
  private static var minProse: Int { 12 }

  /// No text is added to be cut to fewer cells.
  private static var minAddedText: Int { 24 }

  /// Stands for columns that are left out of a table that is kept.
  private static var mark: String { "…" }

  private enum Form {
    case open
    case table(Columns)
    case blocks
    case cards(CardWriter<Item>)
  }

  init(_ listing: Listing<Item>, terminalLayout: TerminalLayout, inBlocks: Bool = false) {
    self.listing = listing
    fields = listing.fieldsForPeople
    self.terminalLayout = terminalLayout
    if inBlocks { form = .blocks }
  }

  var omittedColumns: Int {
    if case .table(let columns) = form { omittedColumns(in: columns) } else { 0 }
  }

  private func omittedColumns(in columns: Columns) -> Int {
    listing.keepsTable ? fields.count - columns.shown.count : 0
  }

  var head: String? { if case .table(let columns) = form { header(columns) } else { nil } }

  var hiddenFields: [String] {
    guard listing.chosen == nil, !extents.isEmpty else { return [] }
    var shown = fields
    if case .table(let columns) = form { shown = columns.shown.map { fields[$0] } }
    return listing.fields.map(\.name).filter { name in
      !copies.contains(name) && !shown.contains { $0.name == name }
    }
  }

  mutating func append(_ records: [Item]) -> String {
    guard !records.isEmpty, !fields.isEmpty else { return "" }
    if case .table = form, terminalLayout.isRead, !listing.isNamedByID { leastGap = 1 }
    if extents.isEmpty {
      if fields.contains(where: { $0.name == "id" }) {
        copies = listing.fields.filter { field in
          !fields.contains { $0.name == field.name }
            && field.isID(of: records)
        }.map(\.name)
      }
      addFields(for: records)
      numeric = Set(fields.indices.filter { fields[$0].hasNumbers(in: records) })
      times = Set(fields.indices.filter { fields[$0].hasTimes(in: records) })
      id = fields.firstIndex { $0.isID(of: records) }
      if terminalLayout.isRead {
        minutes = times.filter { index in
          records.map { fields[index][$0].cell }.allSatisfy { $0.isEmpty || $0.wholeMinute != nil }
        }
      }
      name =
        fields.firstIndex(where: \.isName)
        ?? fields.indices.first { $0 != id && fields[$0].kind == .text && !times.contains($0) }
      extents = fields.indices.map { index in
        let label = label(index)
        let width = label.displayWidth
        let word = numeric.contains(index) ? longestWord(label) : width
        return (cell: width, usual: width, word: word)
      }
    }
    for index in numeric where index != id {
      decimals[index] = records.reduce(decimals[index] ?? 0) { most, record in
        let value = fields[index][record]
        return max(
          most, terminalLayout.isRead ? value.decimals() : value.shownCell().decimalPlaces)
      }
    }
    var rows = records.map { record in
      fields.enumerated().map { index, field in
        let value = field[record]
        let cell = value.shownCell(null: listing.nullText).safeLine
        if minutes.contains(index), let minute = cell.wholeMinute { return minute }
        guard let most = decimals[index] else { return cell }
        // Programs get the digits that there are.
        guard terminalLayout.isRead else { return cell.padded(toDecimals: most) }
        return (most > 0 ? value.aligned(to: most) : nil) ?? value.shortened ?? cell
      }
    }
    if let id, terminalLayout.isRead, listing.chosen == nil {
      shortIDs.add(rows.map { $0[id] })
      for index in rows.indices { rows[index][id] = shortIDs.short(rows[index][id]) }
    }
    var text = measure(rows)
    switch form {
    case .open: break
    case .table(let columns):
      for (row, record) in zip(rows, records) { text += line(row, of: record, columns) }
    case .blocks:
      for (row, record) in zip(rows, records) {
        text += block(of: record, row).text(on: terminalLayout)
      }
    case .cards(var writer):
      text += writer.append(records)
      form = .cards(writer)
    }
    return text
  }

  /// Adds the fields with values that have room beside the others.
  ///
  /// Whole ones take at most a quarter of the line: only outliers of the others are cut. The room that is left then is for
  /// longer texts, which are cut to it.
  private mutating func addFields(for records: [Item]) {
    guard case .open = form, terminalLayout.isRead, listing.source != nil,
      listing.chosen == nil, !listing.prefersCards, terminalLayout.width >= Self.minWidthOfAllFields
    else { return }
    func width(of field: Field<Item>, isWhole: Bool = true) -> Int {
      let cells = records.map { field[$0].shownCell().safeLine.displayWidth }
      let width = isWhole ? cells.max() ?? 0 : cells.usualWidth
      return max(field.label.safeLine.displayWidth, width) + Columns.gap
    }
    // The last column has no gap.
    var room = fields.reduce(terminalLayout.width + Columns.gap) { room, field in
      room - width(of: field, isWhole: field.hasNumbers(in: records) || field.isID(of: records))
    }
    var names = Set(fields.map(\.name))
    // Without room, the widths of long texts are not measured.
    var texts: [Field<Item>] = []
    for field in listing.fields
    where room > Columns.minWidth && !names.contains(field.name) && !copies.contains(field.name) {
      let needed = width(of: field)
      guard records.contains(where: { !field[$0].cell.isEmpty }) else { continue }
      if needed <= min(room, terminalLayout.width / 4) {
        room -= needed
        names.insert(field.name)
      } else if field.hasProse(in: records) {
        texts.append(field)
      }
    }
    for field in texts where room >= Self.minAddedText + Columns.gap {
      let needed = min(width(of: field), room)
      caps[field.name] = min(needed - Columns.gap, Self.maxText)
      room -= needed
      names.insert(field.name)
    }
    fields = listing.fields.filter { names.contains($0.name) }
  }

  /// Chooses the form and the columns; returns the header if they are new.
  private mutating func measure(_ rows: [[String]]) -> String {
    for index in extents.indices {
      let widths = rows.map { $0[index].displayWidth }
      extents[index].cell = max(extents[index].cell, widths.max() ?? 0)
      extents[index].usual = max(extents[index].usual, widths.usualWidth)
      for (row, width) in zip(rows, widths) where width > extents[index].word {
        extents[index].word = max(extents[index].word, longestWord(row[index]))
      }
    }
    switch form {
    case .blocks, .cards: return ""
    case .table where terminalLayout.isRead && !listing.isNamedByID: return ""
    case .open, .table: break
    }
    // No person sees that a program's input was cut to a width.
    let isWhole = (listing.chosen != nil || listing.keepsTable) && !terminalLayout.isRead
    let width = isWhole ? .max : terminalLayout.width
    var requirements = fields.indices.map { index in
      Columns.Requirement(
        natural: isRigid(index) || isWhole
          ? extents[index].cell
          : min(extents[index].cell, caps[fields[index].name] ?? Self.maxText),
        word: extents[index].word, isRigid: isRigid(index), isRequired: index == id)
    }
    // The labels of numbers are cut before a text is, then outliers.
    if requirements.natural > width {
      for index in numeric where index != id { requirements[index].natural = extents[index].word }
    }
    var outliers: [Int] = []
    if requirements.natural > width {
      outliers = fields.indices.filter {
        !isRigid($0) && extents[$0].usual < requirements[$0].natural
      }
      for index in outliers { requirements[index].natural = extents[index].usual }
    }
    var columns = Columns(requirements, in: width)
    // Without their times of day, records of one day look alike: other columns give way first.
    let keepsMinutes = listing.chosen == nil && width >= Self.minWidthOfAllFields
    for length in times.isEmpty ? [] : String.timeLengths.dropLast(keepsMinutes ? 1 : 0) {
      let lacksRoom =
        columns.shown.count < fields.count
        || zip(columns.shown, columns.widths).contains { index, width in
          let needed = requirements[index].natural
          return width < (length == String.timeLengths.first ? needed : min(needed, Self.minProse))
        }
      guard lacksRoom else { break }
      let shorter = fields.indices.map { index in
        times.contains(index) && index != id
          ? Columns.Requirement(
            natural: min(extents[index].cell, max(length, label(index).displayWidth)),
            isRigid: true, isRequired: false) : requirements[index]
      }
      let dated = Columns(shorter, in: width)
      guard keepsMinutes || dated.shown.count >= columns.shown.count else { continue }
      (requirements, columns) = (shorter, dated)
    }
    for index in outliers where columns.shown.contains(index) {
      // The room that is left.
      let used = columns.widths.reduce(Columns.gap * (columns.shown.count - 1), +)
      requirements[index].natural = min(
        extents[index].cell, requirements[index].natural + max(0, width - used))
      columns = Columns(requirements, in: width)
    }
    if listing.chosen == nil, columns.shown.count == fields.count, let last = requirements.last,
      columns.widths.last ?? 0 < min(last.natural, listing.minLastWidth)
    {
      requirements.removeLast()
      columns = Columns(requirements, in: width)
    }
    columns = keepingName(requirements, in: width)
    if listing.keepsTable, columns.shown.count < fields.count {
      columns = keepingName(requirements, in: width - Columns.gap - Self.mark.count)
    }
    let isCut = columns.shown.count < fields.count
    let isNarrowed =
      !outliers.isEmpty
      || zip(columns.shown, columns.widths).contains { $1 < requirements[$0].natural }
    let isCramped = (isCut || isNarrowed) && terminalLayout.width < Self.minWidthOfCutTable
    let isNarrow = terminalLayout.width < Self.minWidth
    let cut = zip(columns.shown, columns.widths).filter { index, width in
      !requirements[index].isRigid && width < min(extents[index].cell, Self.maxText)
    }
    let isMangled =
      listing.cutsOnlyProse
      && (cut.count > 2 || cut.contains { $1 < Self.minProse || $1 < extents[$0].word })
    if case .table(let current) = form {
      // A column does not vanish in the middle.
      guard columns != current, columns.shown == current.shown else { return "" }
    } else if listing.keepsTable {
      // Nothing else was asked for.
    } else if isCut, listing.chosen != nil {
      // Chosen fields are all shown.
      form = .cards(cards)
      return ""
    } else if listing.prefersCards, isCut || isCramped || isNarrow || isMangled,
      fields.count > 1
    {
      form = .cards(cards)
      return ""
    } else if isNarrow || columns.shown.count < min(3, fields.count)
      || ownBlock != nil && (isCut || terminalLayout.width < Self.minWidthBesideBlocks)
      || isCramped && listing.chosen == nil && !listing.isNamedByID,
      fields.count > 1
    {
      form = .blocks
      return ""
    }
    form = .table(columns)
    return header(columns)
  }

  /// The columns with room for the names of records, by which these are told apart: others are cut before them.
  ///
  /// Others are left out for names in a table that is kept, which says so, and elsewhere the last one if four stay.
  private func keepingName(_ requirements: [Columns.Requirement], in width: Int) -> Columns {
    let columns = Columns(requirements, in: width)
    // The first text stands for a name where none is declared, but is worth no other column.
    guard listing.source != nil, listing.keyCount == 0, let name, name != id,
      fields[name].isName || fields[name].name == "name", requirements.indices.contains(name)
    else { return columns }
    let current = columns.shown.firstIndex(of: name).map { columns.widths[$0] } ?? 0
    let room = width - (id.map { requirements[$0].natural + Columns.gap } ?? 0)
    let most = min(requirements[name].natural, Columns.minName, room)
    let leavesOut = listing.chosen == nil && !listing.prefersCards && ownBlock == nil
    let leastCount = listing.keepsTable ? 0 : leavesOut ? max(4, columns.shown.count - 1) : .max
    var requirements = requirements
    // Half of a date tells nothing.
    for index in times where requirements.indices.contains(index) {
      requirements[index].isRigid = true
    }
    // For a letter or two more, it is not worth to cut others.
    for least in stride(from: most, to: current + 3, by: -1) {
      requirements[name].least = least
      let kept = Columns(requirements, in: width)
      let isWorthIt = least == most && kept.shown.count >= leastCount && kept.shown.contains(name)
      if isWorthIt || kept.shown == columns.shown { return kept }
    }
    return columns
  }

  private var cards: CardWriter<Item> {
    CardWriter(
      fields: listing.fieldsOfCards(on: terminalLayout), terminalLayout: terminalLayout,
      nullText: listing.nullText)
  }

  private func header(_ columns: Columns) -> String {
    line(columns) { index, width in
      (label(index).fitted(to: width), .heading, nil)
    }
  }

  private func line(_ row: [String], of record: Item, _ columns: Columns) -> String {
    line(columns) { index, width in
      let text = row[index]
      let hasGap = index != columns.shown.last && !times.contains(index)
      let width = width + (hasGap && text.displayWidth == width + 1 ? Columns.gap - leastGap : 0)
      let cell =
        isRigid(index)
        ? text
        : listing.isNamedByID && text.isPath
          ? text.fittedInMiddle(width) : text.fittedToTimeOrWords(width)
      return (cell, index == id ? .id : nil, index == name ? link(of: record) : nil)
    }
  }

  private func line(
    _ columns: Columns, cell: (Int, Int) -> (text: String, role: Style.Role?, link: String?)
  ) -> String {
    var line = Line(on: terminalLayout)
    var start = 0
    let spare =
      terminalLayout.width - columns.widths.reduce(Columns.gap * (columns.shown.count - 1), +)
    for (index, width) in zip(columns.shown, columns.widths) {
      // Of a value before it that is wider than its column.
      let taken = start == 0 ? 0 : max(0, line.width + leastGap - start)
      let isWhole = times.contains(index) && (index != columns.shown.last || taken <= spare)
      let room = isWhole ? width : max(min(width, Columns.minWidth), width - taken)
      let (text, role, link) = cell(index, room)
      let slack = numeric.contains(index) ? max(0, width - taken - text.displayWidth) : 0
      if !text.isEmpty {
        line.move(to: start + taken + slack)
        line.add(
          numeric.contains(index) ? text.withoutPadding : text, as: role, link: link,
          matching: role == .heading ? nil : listing.matched)
      }
      start += width + Columns.gap
    }
    if omittedColumns(in: columns) > 0 {
      line.move(to: start)
      line.add(Self.mark, as: .label)
    }
    return line.text + "\n"
  }

  /// The block of the source itself, for records whose fields were not chosen.
  private var ownBlock: ((Item) -> (heading: String, badge: String, detail: String?))? {
    guard case .block(let heading, let badge, let detail) = listing.layout.row,
      listing.chosen == nil
    else { return nil }
    return { (heading($0), badge($0), detail($0)) }
  }

  private func block(of record: Item, _ row: [String]) -> Block {
    if let own = ownBlock?(record) {
      return Block(
        heading: own.heading, badge: own.badge, details: [own.detail].compactMap(\.self),
        link: link(of: record), query: listing.matched)
    }
    let others = row.indices.filter { $0 != id && !row[$0].isEmpty }
    let isNamedByID = listing.isNamedByID && id != nil
    let heading = isNamedByID ? id : others.first { $0 == name } ?? others.first
    // Beside others, nobody guesses of which field a value is.
    let details = others.filter { $0 != heading }.map {
      "\(label($0)): \(row[$0].withoutPadding)"
    }
    return Block(
      heading: heading.map { row[$0].withoutPadding } ?? "",
      badge: isNamedByID ? "" : id.map { row[$0] } ?? "",
      details: details, link: isNamedByID ? nil : link(of: record),
      query: isNamedByID ? nil : listing.matched)
  }

  private func link(of record: Item) -> String? {
    terminalLayout.hasLinks ? listing.layout.link?(record) : nil
  }

  private func longestWord(_ text: String) -> Int {
    text.split(separator: " ").reduce(0) { max($0, $1.displayWidth) }
  }

  private func isRigid(_ index: Int) -> Bool {
    index == id || numeric.contains(index)
      || index < listing.keyCount && extents[index].cell <= Self.maxKey
  }

  private func label(_ index: Int) -> String { fields[index].label.safeLine }
}

extension String {
  /// The number of digits after the point of a number; 0 with an exponent.
  fileprivate var decimalPlaces: Int {
    contains("e") ? 0 : firstIndex(of: ".").map { self[$0...].count - 1 } ?? 0
  }

  /// With spaces in the places of the decimals, and of the point, that others of its column have.
  fileprivate func padded(toDecimals most: Int) -> String {
    guard most > 0, last?.isNumber == true, !contains("e") else { return self }
    let missing = most - decimalPlaces + (decimalPlaces == 0 ? 1 : 0)
    return self + String(repeating: " ", count: missing)
  }

  fileprivate var withoutPadding: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }

  /// The lengths of a date with hours and minutes, and of one with an ellipsis.
  package static let timeLengths = [16, 11]

  /// True for a date with a time of day, as in ISO 8601.
  package var isTime: Bool {
    let form = "0000-00-00T00:00".utf8
    let start = utf8.prefix(form.count)
    return start.count == form.count
      && zip(start, form).allSatisfy { byte, expected in
        switch expected {
        case UInt8(ascii: "0"): UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        case UInt8(ascii: "T"): byte == expected || byte == UInt8(ascii: " ")
        default: byte == expected
        }
      }
  }

  /// A time in UTC whose seconds are 0 without them, as `2026-02-02 01:15Z`; `nil` for any other text.
  package var wholeMinute: String? {
    guard isTime, [":00Z", ":00.000Z"].contains(dropFirst(16)) else { return nil }
    return prefix(16).replacing("T", with: " ") + "Z"
  }

  /// Cut as by ``fittedToWords(_:)``; of a time the date is left, with hours and minutes if they fit, or else an ellipsis.
  package func fittedToTimeOrWords(_ width: Int) -> String {
    guard displayWidth > width, isTime,
      let length = Self.timeLengths.first(where: { $0 <= width })
    else { return fittedToWords(width) }
    guard length == Self.timeLengths.first else { return prefix(length - 1) + "…" }
    return String(prefix(length)).replacing("T", with: " ")
  }
}

extension [Int] {
  /// The widest of these widths, without one in ten of them if they are more than twice as wide as the others.
  package var usualWidth: Int {
    let sorted = sorted()
    guard let most = sorted.last else { return 0 }
    // Few values leave room for a word.
    let usual = Swift.max(sorted[(count * 9 - 1) / 10], Columns.maxWord)
    return most > usual * 2 ? usual : most
  }
}

extension [Columns.Requirement] {
  /// The width of a line on which nothing is cut.
  fileprivate var natural: Int { reduce(Columns.gap * (count - 1)) { $0 + $1.natural } }
}

extension Field {
  /// True if this field is the ID of each record.
  fileprivate func isID(of records: [Item]) -> Bool
  where Item: Identifiable, Item.ID: CustomStringConvertible {
    records.allSatisfy { self[$0].cell == $0.id.description }
  }

  /// True if most values of `records` are of several words: those of an address, cut, lead nowhere.
  fileprivate func hasProse(in records: [Item]) -> Bool {
    records.count { self[$0].cell.contains(" ") } * 2 > records.count
  }

  /// True if all values of `records` are times, or empty, and not all are empty.
  fileprivate func hasTimes(in records: [Item]) -> Bool {
    let cells = records.lazy.map { self[$0].cell }.filter { !$0.isEmpty }
    return cells.allSatisfy(\.isTime) && !cells.isEmpty
  }

  /// True for a kind of numbers, or any kind if all values of `records` are numbers.
  package func hasNumbers(in records: [Item]) -> Bool {
    guard kind == .any else { return kind.isNumeric }
    let values = records.map { self[$0] }.filter { $0 != .null }
    return !values.isEmpty
      && values.allSatisfy { value in
        switch value {
        case .integer, .number: true
        default: false
        }
      }
  }
}

/// The shortest beginnings of UUIDs that tell those of a listing apart, as for commits in `git log`.
package struct ShortIDs: Sendable {
  private static let minLength = 8

  private var all: Set<String> = []
  /// The length of the beginnings.
  package private(set) var length = minLength
  private var areUUIDs = true

  package init() {}

  package mutating func add(_ ids: [String]) {
    guard areUUIDs else { return }
    areUUIDs = ids.allSatisfy { $0.utf8.count == 36 && UUID(uuidString: $0) != nil }
    all.formUnion(ids)
    while length < 36, Set(all.map { $0.prefix(length) }).count < all.count { length += 1 }
  }

  package func short(_ id: String) -> String { areUUIDs ? String(id.prefix(length)) : id }
}

package struct Columns: Hashable {
  package struct Requirement {
    /// In cells.
    package var natural: Int
    /// The longest word, in cells.
    package var word = 0
    /// The cells to which it is cut at most, however short its words are.
    var least = 0
    /// `true` if it is never cut: IDs and numbers.
    package var isRigid: Bool
    package var isRequired: Bool

    package init(natural: Int, word: Int = 0, isRigid: Bool, isRequired: Bool) {
      self.natural = natural
      self.word = word
      self.isRigid = isRigid
      self.isRequired = isRequired
    }

    fileprivate var minimum: Int {
      isRigid ? natural : min(natural, max(least, Columns.minWidth, min(word, Columns.maxWord) + 1))
    }

    fileprivate var leastMinimum: Int {
      isRigid ? natural : min(natural, max(least, Columns.minWidth))
    }
  }

  package let shown: [Int]
  package let widths: [Int]

  package static let gap = 2

  /// Columns that would be narrower are left out.
  package static let minWidth = 8

  /// Other columns are cut before names are to fewer cells.
  package static let minName = 24

  /// Longer words are cut rather than that their columns are left out.
  fileprivate static let maxWord = 12

  /// First leaves out trailing columns, then cuts the widest ones, all to the same width but not
  /// below the longest word; the sum exceeds `width` only if the required columns alone do.
  ///
  /// No column is left out while others have more than eight cells and all that they need.
  package init(_ requirements: [Requirement], in width: Int) {
    self.init(requirements, in: width, minimum: \.minimum)
    let isNarrowed = zip(shown, widths).contains { $1 < requirements[$0].natural }
    if shown.count < requirements.count, !isNarrowed {
      self.init(requirements, in: width, minimum: \.leastMinimum)
    }
  }

  private init(
    _ requirements: [Requirement], in width: Int, minimum: KeyPath<Requirement, Int>
  ) {
    var shown = Array(requirements.indices)
    func sum(_ columns: [Int]) -> Int {
      columns.reduce(Self.gap * (columns.count - 1)) { $0 + requirements[$1][keyPath: minimum] }
    }
    while shown.count > 1, sum(shown) > width,
      let last = shown.lastIndex(where: { !requirements[$0].isRequired })
    {
      shown.remove(at: last)
    }
    self.shown = shown

    var widths = shown.map { requirements[$0].natural }
    let rigid = shown.reduce(0) { $0 + (requirements[$1].isRigid ? requirements[$1].natural : 0) }
    var room = width - Self.gap * (shown.count - 1) - rigid
    var soft = shown.indices.filter { !requirements[shown[$0]].isRigid }
    // Columns that need more than an equal share to show their words get it first.
    while let column = soft.first(where: {
      soft.count > 1 && requirements[shown[$0]][keyPath: minimum] > room / soft.count
    }) {
      widths[column] = min(widths[column], requirements[shown[column]][keyPath: minimum])
      room -= widths[column]
      soft.removeAll { $0 == column }
    }
    // Narrow columns first: the others share the room that they do not need.
    let ascending = soft.sorted { (widths[$0], $0) < (widths[$1], $1) }
    for (done, column) in ascending.enumerated() {
      widths[column] = min(widths[column], max(1, room / (soft.count - done)))
      room -= widths[column]
    }
    // Room that these do not need either is for those that have only enough for their words.
    for (place, column) in shown.enumerated() where room > 0 {
      let more = min(room, requirements[column].natural - widths[place])
      widths[place] += more
      room -= more
    }
    self.widths = widths
  }
}
