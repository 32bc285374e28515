import AggregatorFilters
import AggregatorFoundation
package import AggregatorKit
import AggregatorTerminal

/// How the records of a selection are spread over the values of a field, or over ranges of them.
package struct Facet: Hashable, Sendable {
  package struct Value: Hashable, Sendable {
    /// The value, or what its range is called: `Kitchen`, `10 to 19`, `1990s`.
    package let text: String
    /// The number of records.
    package let count: Int
    /// The condition of these records, as for `--where`.
    package let condition: String
  }

  /// The name of the field.
  package let field: String
  package let label: String
  /// True for ranges of numbers or dates in ascending order; values begin with the most frequent one.
  package let isRange: Bool
  /// All ranges, or the most frequent values.
  package private(set) var values: [Value]
  /// The number of records without a value.
  package let missing: Int
  /// The least and the largest of numbers in ranges; none of other values.
  package var ends: [String] = []
  /// The number of values that are rarer than all of ``values``.
  package var omitted = 0
  /// The number of different values in all records, also in those that are not selected; 0 if unknown.
  package var different = 0
  /// True if nearly every record has a value of its own, so that a value selects few.
  package var isNearlyUnique = false

  /// True if ``values`` are finer ranges, of what conditions on the field alone have left.
  package var isDivided = false

  /// True for values of lists, of which a record can have several.
  package var isOfLists = false

  /// True if the counts are of the records that conditions on the field have left.
  package var isWithinOwnConditions: Bool { isDivided || isOfLists }

  /// True if all records have the same value, or none has one, so that a value selects nothing.
  package var isUniform: Bool { values.isEmpty || values.count == 1 && missing == 0 }

  /// All ranges, or the ten most frequent values.
  package var frequent: ArraySlice<Value> { isRange ? values[...] : values.prefix(10) }
  /// The number of the other values.
  package var others: Int { values.count - frequent.count + omitted }

  /// Up to three values that begin like a text, in any case, or else the nearest one.
  package func values(near text: String) -> [String] {
    let texts = isRange ? [] : values.map(\.text)
    let typed = FoldedText(text).text
    let alike = texts.filter { FoldedText($0).text.hasPrefix(typed) }
    return alike.isEmpty
      ? [nearest(to: text, in: texts)].compactMap(\.self) : Array(alike.prefix(3))
  }

  fileprivate mutating func add(_ value: Value) {
    values.append(value)
    if value.count > 0 { omitted -= 1 }
  }

  /// The records without a value.
  package var empty: Value {
    Value(text: "", count: missing, condition: TypedCondition(field, .equal, "").quoted)
  }
}

extension RecordIndex {
  /// The facets of those fields whose values repeat, or can be put in ranges; none if the store cannot tell whether its
  /// records change.
  ///
  /// Conditions on a field alone do not narrow its own facet, so that it has the values that can be chosen instead; those on
  /// lists do, so that it has the values that records have besides.
  ///
  /// - Parameters:
  ///   - keepsUniform: True for also those facets that are ``Facet/isUniform``.
  ///   - dividesRanges: True for finer ranges of what conditions on the field alone leave: months of a year, and days of a month.
  package nonisolated func facets(
    of fields: [Field<Item>], selectedBy selection: Selection<Item>, matching query: SearchQuery?,
    keepsUniform: Bool = false, dividesRanges: Bool = false
  ) async throws(SourceError) -> [Facet] {
    guard let table = try await table(of: selection.fields + fields) else { return [] }
    return try table.facets(
      of: fields, selectedBy: selection, among: try await found(in: table, matching: query),
      keepsUniform, dividesRanges)
  }
}

extension RecordIndex {
  /// Of each field that has a text as a value, whatever its case and accents, a facet of this value alone.
  package nonisolated func facets(
    of fields: [Field<Item>], equalTo text: String
  ) async throws(SourceError) -> [Facet] {
    try await table(of: fields)?.facets(of: fields, equalTo: text) ?? []
  }
}

extension Facet {
  /// The same of records that no store has.
  package static func matching<Item: SourceRecord>(
    _ text: String, of fields: [Field<Item>], in items: [Item]
  ) throws(SourceError) -> [Facet] {
    try RecordTable(items, fields).facets(of: fields, equalTo: text)
  }
}

extension Selection {
  /// The facets of records that no store has, such as bundled ones.
  package func facets(
    of fields: [Field<Item>], in items: [Item], keepsUniform: Bool = false,
    dividesRanges: Bool = false
  ) throws(SourceError) -> [Facet] {
    try RecordTable(items, self.fields + fields)
      .facets(
        of: fields, selectedBy: self, among: Array(items.indices), keepsUniform, dividesRanges)
  }
}

extension RecordTable {
  fileprivate func facets<Item: SourceRecord>(
    of fields: [Field<Item>], equalTo text: String
  ) throws(SourceError) -> [Facet] {
    let text = FoldedText(text)
    guard !text.text.isEmpty else { return [] }
    let initial = text.text.asciiInitial
    let all = Array(positions.indices)
    var facets: [Facet] = []
    for field in fields {
      guard let column = columns[field.name] else { continue }
      var sums: [String: Int] = [:]
      for (value, count) in zip(column.values, column.counts(in: all)) where count > 0 {
        // A long text is not what people filter by.
        for value in value.present.lazy.map(\.cell) where value.utf8.count <= FacetShape.maxLength {
          // Folding each value would take longer than the search.
          if let initial, let other = value.asciiInitial, other != initial { continue }
          if FoldedText(value) == text { sums[value, default: 0] += count }
        }
      }
      let most = sums.max { ($0.value, $1.key) < ($1.value, $0.key) }
      guard let condition = most.map({ TypedCondition(field.name, .equal, $0.key).quoted }),
        let selection = try? Selection(
          SelectionText(conditions: [condition]), fields, at: Date(timeIntervalSince1970: 0))
      else { continue }
      // Of the list that the condition selects.
      let count = try rows(selectedBy: selection, among: all).count
      facets.append(
        Facet(
          field: field.name, label: field.label, isRange: false,
          values: [Facet.Value(text: most?.key ?? "", count: count, condition: condition)],
          missing: 0))
    }
    return facets
  }

  fileprivate func facets<Item>(
    of fields: [Field<Item>], selectedBy selection: Selection<Item>, among found: [Int],
    _ keepsUniform: Bool, _ dividesRanges: Bool
  ) throws(SourceError) -> [Facet] {
    let rows = try rows(selectedBy: selection, among: found)
    var facets: [Facet] = []
    for field in fields {
      guard let column = columns[field.name] else { continue }
      let others = selection.withoutFilters(of: field.name)
      let isOfLists = column.values.contains { $0.present.count > 1 }
      let isChosen = others.filters.count < selection.filters.count
      let counted =
        isChosen && !isOfLists ? try self.rows(selectedBy: others, among: found) : rows
      guard var facet = column.facet(of: field, in: counted) else { continue }
      // What cannot be divided is shown beside what can be chosen instead.
      if dividesRanges, isChosen, facet.isRange, !isOfLists,
        var finer = column.facet(of: field, in: rows), finer.values.count > 1,
        finer.values != facet.values
      {
        finer.isDivided = true
        facet = finer
      }
      facet.isOfLists = isOfLists
      if keepsUniform {
        column.keep(selection.text.values(of: field.name), in: &facet, of: counted)
      }
      // What was chosen of lists can be left again.
      if keepsUniform || !facet.isUniform || isOfLists && isChosen { facets.append(facet) }
    }
    return facets
  }
}

/// The countable shape of the values of a column; each has its index.
enum FacetShape: Sendable {
  /// Neither values that repeat nor what can be put in ranges.
  case none
  /// The texts of each value: several of a list, none of one that is missing.
  case values([[String]])
  case numbers([Double?])
  case dates([Date?])

  /// The most different values of which each is shown.
  static var maxDifferent: Int { 60 }
  /// The most different numbers that are not put in ranges.
  private static var maxNumbers: Int { 12 }
  /// In bytes of UTF-8.
  static var maxLength: Int { 100 }

  /// - Parameters:
  ///   - count: The number of rows.
  ///   - areCodes: True for numbers that identify something, of which ranges say nothing.
  init(of values: [JSON], in count: Int, areCodes: Bool) {
    let present = values.map(\.present)
    func all<Part>(_ part: (JSON) -> Part?) -> [Part?]? {
      var parts: [Part?] = []
      for values in present {
        let found = values.count == 1 ? part(values[0]) : nil
        guard found != nil || values.isEmpty else { return nil }
        parts.append(found)
      }
      return parts
    }
    var different: Set<JSON> = []
    let isRepeated = present.allSatisfy { values in
      for value in values {
        // Neither a text to read nor a structure is what people filter by.
        switch value {
        case .object: return false
        case .string(let text) where text.utf8.count > Self.maxLength: return false
        default: different.insert(value)
        }
      }
      return different.count * 2 <= count
    }
    let numbers = areCodes ? nil : all(\.asDouble)
    let isFew = different.count <= (numbers == nil ? Self.maxDifferent : Self.maxNumbers)
    if isRepeated, isFew {
      self = .values(Self.texts(of: present))
    } else if let numbers {
      self = .numbers(numbers)
    } else if let dates = all(\.asDate) {
      self = .dates(dates)
    } else {
      self = isRepeated ? .values(Self.texts(of: present)) : .none
    }
  }

  /// The different texts of each of these values; those of one number have the shortest of them, as a condition selects them
  /// together.
  private static func texts(of values: [PresentValues]) -> [[String]] {
    var shortest: [Numeral: String] = [:]
    for value in values.joined() {
      guard let number = Numeral(recorded: value) else { continue }
      let (text, other) = (value.cell, shortest[number])
      if other.map({ text.utf8.count < $0.utf8.count }) ?? true { shortest[number] = text }
    }
    return values.map { values in
      Array(Set(values.map { Numeral(recorded: $0).flatMap { shortest[$0] } ?? $0.cell }))
    }
  }
}

extension [JSON] {
  /// True for the values of a field that are few and repeat, as the facet of these records has them; missing ones do not count.
  package var isFacet: Bool {
    let values = filter { !$0.present.isEmpty }
    guard !values.isEmpty, case .values = FacetShape(of: values, in: values.count, areCodes: false)
    else { return false }
    return true
  }

  /// The texts of the different values of a field, if they are few and repeat, else those that begin as typed; in order.
  package func texts(from beginning: String, atMost count: Int) -> [String] {
    if case .values(let texts) = FacetShape(of: self, in: self.count, areCodes: true) {
      let different = Set(texts.joined())
      if different.count <= FacetShape.maxDifferent { return different.sortedAsValues }
    }
    guard !beginning.isEmpty else { return [] }
    let texts = Set(flatMap { $0.present.map(\.cell) })
    let near = texts.filter { $0.utf8.starts(with: beginning.utf8) }
    return near.sortedAsValues.prefix(count).map(\.self)
  }
}

extension Set<String> {
  /// These texts in the order in which records are sorted by them: numbers first.
  fileprivate var sortedAsValues: [String] {
    map { (order: SortValue(.string($0)), text: $0) }
      .sorted { ($0.order, $0.text) < ($1.order, $1.text) }.map(\.text)
  }
}

extension Column {
  /// About how many ranges a field has.
  private static var rangeCount: Int { 12 }

  /// `nil` if nearly every record has a value of its own.
  fileprivate func facet<Item>(of field: Field<Item>, in rows: [Int]) -> Facet? {
    let counts = counts(in: rows)
    var texts: [[String]]?
    var ranges: [Facet.Value] = []
    var ends: [String] = []
    switch facetShape(of: field.name) {
    case .none: return nil
    case .values(let found): texts = found
    case .numbers(let numbers):
      let shown = Self.entries(of: numbers, counts)
      ranges = NumberRanges(of: shown, about: Self.rangeCount).values(of: field.name)
      let all = shown.map(\.number)
      ends = [all.min(), all.max()].compactMap(\.self).map { number in
        Int(exactly: number).map(String.init) ?? "\(number)"
      }
    case .dates(let dates): ranges = Self.periods(of: dates, counts, field.name)
    }
    let missing = zip(values, counts).reduce(0) { $0 + ($1.0.present.isEmpty ? $1.1 : 0) }
    let (shown, omitted) =
      texts.map { Self.mostFrequent(of: $0, counts, field.name) } ?? (ranges, 0)
    var facet = Facet(
      field: field.name, label: field.label, isRange: texts == nil, values: shown,
      missing: missing, ends: ends, omitted: omitted)
    facet.different = texts.map { Set($0.joined()).count } ?? values.count
    facet.isNearlyUnique = texts != nil && facet.different > 10 && facet.different * 4 > codes.count
    return facet
  }

  /// Adds values that are chosen, of those that the column has: they are rarer than others, or no record in `rows` has them.
  fileprivate func keep(_ chosen: [String], in facet: inout Facet, of rows: [Int]) {
    let chosen = chosen.filter { text in !facet.values.contains { $0.text == text } }
    guard !chosen.isEmpty, case .values(let texts) = facetShape(of: facet.field) else { return }
    let counts = counts(in: rows)
    for text in Set(chosen).sorted() where texts.contains(where: { $0.contains(text) }) {
      let count = zip(texts, counts).reduce(0) { $0 + ($1.0.contains(text) ? $1.1 : 0) }
      let condition = TypedCondition(facet.field, .equal, text).quoted
      facet.add(Facet.Value(text: text, count: count, condition: condition))
    }
  }

  /// The most frequent texts, and the number of the others.
  private static func mostFrequent(
    of texts: [[String]], _ counts: [Int], _ field: String
  ) -> ([Facet.Value], omitted: Int) {
    var sums: [String: Int] = [:]
    for (texts, count) in zip(texts, counts) where count > 0 {
      for text in texts { sums[text, default: 0] += count }
    }
    // Sorting numbers takes less time than sorting texts.
    let least = sums.values.sorted(by: >).prefix(FacetShape.maxDifferent).last ?? 0
    // As records are sorted by them.
    let shown = sums.filter { $0.value >= least }
      .map { (text: $0.key, count: $0.value, order: SortValue(.string($0.key))) }
      .sorted { ($1.count, $0.order, $0.text) < ($0.count, $1.order, $1.text) }
    let values = shown.prefix(FacetShape.maxDifferent).map { value in
      Facet.Value(
        text: value.text, count: value.count,
        condition: TypedCondition(field, .equal, value.text).quoted)
    }
    return (values, sums.count - values.count)
  }

  private static func entries(of numbers: [Double?], _ counts: [Int]) -> [NumberRanges.Entry] {
    zip(numbers, counts).compactMap { number, count in
      number.flatMap { count > 0 ? NumberRanges.Entry(number: $0, count: count) : nil }
    }
  }

  private static func periods(
    of dates: [Date?], _ counts: [Int], _ field: String
  ) -> [Facet.Value] {
    let shown = zip(dates, counts).filter { $1 > 0 }.compactMap(\.0)
    guard let first = shown.min()?.iso8601, let last = shown.max()?.iso8601,
      let from = Int(first.prefix(4)), let to = Int(last.prefix(4))
    else { return [] }
    if to - from < 2 {
      let isOneMonth = first.prefix(7) == last.prefix(7)
      let length = isOneMonth ? 10 : 7
      var sums: [Substring: Int] = [:]
      for (date, count) in zip(dates, counts) where count > 0 {
        if let date { sums[date.iso8601.prefix(length), default: 0] += count }
      }
      let all =
        isOneMonth
        ? (1...31).map { "\(first.prefix(7))-\($0.padded(to: 2))" }
        : (from...to).flatMap { year in
          (1...12).map { "\(year.padded(to: 4))-\($0.padded(to: 2))" }
        }
      let periods = all.filter { first.prefix(length) <= $0 && $0 <= last.prefix(length) }
      return periods.map {
        Facet.Value(text: $0, count: sums[$0[...]] ?? 0, condition: "\(field.asField)=\($0)")
      }
    }
    let years = zip(dates, counts).compactMap { date, count in
      date.flatMap { count > 0 ? Double($0.iso8601.prefix(4)) : nil }.map {
        NumberRanges.Entry(number: $0, count: count)
      }
    }
    return NumberRanges(of: years, about: rangeCount, areYears: true)
      .values(of: field, areYears: true)
  }
}

extension NumberRanges {
  /// The ranges as values of a field.
  fileprivate func values(of field: String, areYears: Bool = false) -> [Facet.Value] {
    func text(_ bound: Bound) -> String { areYears ? Int(bound.number).padded(to: 4) : bound.text }
    // A hyphen would be read as a dash.
    func words(_ bound: Bound) -> String { text(bound).replacing("-", with: "−") }
    return ranges.map { range -> Facet.Value in
      var condition = [
        range.from.map { "\(field.asField)>=\(text($0))" },
        range.to.map { "\(field.asField)\(range.isClosed ? "<=" : "<")\(text($0))" },
      ].compactMap(\.self).joined(separator: " and ")
      let name: String
      switch (range.from, range.to) {
      case (let from?, let to?):
        let width = to.number - from.number
        if isWhole, width == 1 {
          name = words(from)
          condition = "\(field.asField)=\(text(from))"
        } else if areYears, width == 10, Int(from.number) % 10 == 0 {
          name = "\(words(from))s"
        } else {
          let end = isWhole ? words(to.previous) : "under \(words(to))"
          name = "\(words(from)) to \(range.isClosed ? words(to) : end)"
        }
      case (let from?, nil): name = words(from) + (areYears ? " or later" : " or more")
      case (nil, let to?): name = (areYears ? "before " : "under ") + words(to)
      case (nil, nil): name = "all"
      }
      return Facet.Value(text: name, count: range.count, condition: condition)
    }
  }
}

extension String {
  /// The first letter or digit, in lower case; `nil` if it is not ASCII.
  fileprivate var asciiInitial: UInt8? {
    let byte = utf8.first { $0 >= 0x80 || $0.isASCIIAlphanumeric }
    guard let byte, byte < 0x80 else { return nil }
    return byte | 0x20
  }
}

extension JSON {
  fileprivate var asDate: Date? {
    guard case .string(let text) = self, let period = Period(recorded: text), period.isDate else {
      return nil
    }
    return Date(timeIntervalSince1970: period.start)
  }
}

extension Int {
  /// With zeros before it: `0007`.
  fileprivate func padded(to digits: Int) -> String {
    let text = "\(self)"
    return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
  }
}
