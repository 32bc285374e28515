import AggregatorFilters
package import AggregatorKit
package import AggregatorTerminal

/// A summary of the values of fields, in the place of records.
package struct FieldSummary: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// The values, each with the number of its records.
    case groups
    /// The number, the extent and the mean of the values.
    case stats
    /// The different values.
    case distinct
  }

  package let kind: Kind
  /// The names of the fields, of which those with dates may have a ``DateUnit``: several only of groups.
  private var fields: [String]
  /// The name of the field whose statistics each group has; `nil` for groups that are only counted.
  private var measured: String?
  /// The fields by which groups are sorted, as ``RecordOrder`` reads them; empty for dates in their order, else the largest group first.
  private var order: [String] = []

  /// The most fields of groups.
  package static let maxFields = 3

  package init(
    _ kind: Kind, of fields: [String], measuring measured: String? = nil, order: [String] = []
  ) {
    self.kind = kind
    self.fields = fields
    self.measured = measured
    self.order = order
  }

  /// The same summary of the fields that its names mean, which people type in any case.
  package func naming<Item>(_ all: [Field<Item>]) -> FieldSummary {
    func name(_ typed: String) -> String {
      let unit = all.contains { $0.name == typed } ? nil : DateUnit(endOf: typed)
      let end = unit.map { ":\($0.rawValue)" } ?? ""
      return all.names(shownAs: [String(typed.dropLast(end.count))])[0] + end
    }
    var summary = self
    summary.fields = fields.map(name)
    summary.measured = measured.map(name)
    return summary
  }

  /// Returns a reader that collects the values of records for this summary.
  package func reader<Item>(
    of all: [Field<Item>]
  ) throws(CommandError) -> FieldSummaryReader<Item> {
    let parts = try parts(of: all)
    let measured = try measured.map { name throws(CommandError) in try Self.field(name, in: all) }
    return FieldSummaryReader(summary: self, parts: parts, measured: measured)
  }

  /// The fields, each once, with the names of those that are read and the units of their dates.
  private func parts<Item>(
    of all: [Field<Item>]
  ) throws(CommandError) -> [FieldSummaryReader<Item>.Part] {
    var parts: [FieldSummaryReader<Item>.Part] = []
    for name in fields where !parts.contains(where: { $0.field.name == name }) {
      let isField = all.contains { $0.name == name }
      guard !isField, let unit = DateUnit(endOf: name) else {
        try checkUnit(of: name, all)
        parts.append((try Self.field(name, in: all), name, nil))
        continue
      }
      let field = try Self.field(String(name.dropLast(unit.rawValue.count + 1)), in: all)
      let grouped = Field<Item>(name, "\(field.label) (\(unit.rawValue))", .text, about: "") {
        unit.value(of: field[$0])
      }
      parts.append((grouped, field.name, unit))
    }
    return parts
  }

  private static func field<Item>(
    _ name: String, in all: [Field<Item>]
  ) throws(CommandError) -> Field<Item> {
    do { return try all.field(named: name) } catch { throw CommandError(error) }
  }

  /// Refuses a field with a colon and a word that is no unit of dates.
  private func checkUnit<Item>(of name: String, _ all: [Field<Item>]) throws(CommandError) {
    guard let colon = name.lastIndex(of: ":"), !all.contains(where: { $0.name == name }),
      all.contains(where: { $0.name == name[..<colon] })
    else { return }
    let units = DateUnit.allCases.map(\.rawValue)
    let word = String(name[name.index(after: colon)...])
    throw CommandError(
      .usage, "unknown unit \"\(word)\" of dates",
      suggestion: nearest(to: word, in: units).map { "\(name[...colon])\($0)" },
      hint: .words("use one of \(units.joined(separator: ", "))"))
  }

  /// The rows in the order of `--sort`, or of their dates; fails if a field with a unit of dates has other values only.
  fileprivate func sorted(
    _ rows: SummaryRows, of units: [DateUnit?]
  ) throws(CommandError) -> SummaryRows {
    for (index, unit) in units.enumerated() where kind != .stats {
      let values = rows.rows.map { $0.values[index] }.filter { $0 != .null }
      guard let unit, !values.isEmpty, !values.contains(where: unit.isName) else { continue }
      throw CommandError(
        .usage, "no value of \"\(fields[index])\" is a date that lies in one \(unit.rawValue)")
    }
    let dates = zip(fields, units).compactMap { $1 == nil || kind != .groups ? nil : $0 }
    let order = order.isEmpty ? dates : order
    guard !order.isEmpty else { return rows }
    var columns = rows.fields
    if kind == .distinct {
      columns.append(Field("count", "Count", .integer, about: "") { $0.values[1] })
    }
    var sorted = rows
    do throws(FilterError) {
      sorted.rows = try RecordOrder(columns.names(sortedBy: order), columns).sorted(rows.rows)
    } catch {
      throw CommandError(error)
    }
    return sorted
  }

  fileprivate static var tooManyGroups: CommandError {
    CommandError(
      .usage, "too many groups: more than \(FieldGroups.maxSize) combinations of values",
      hint: .words("name fewer fields, or select records with --where"))
  }

  fileprivate func rows(of values: FieldValues, in field: Field<some Any>) -> SummaryRows {
    let value = (name: field.name, label: field.label, kind: field.kind)
    switch kind {
    case .stats:
      let statistics = values.statistics
      var rows = SummaryRows(
        [statistics.map(\.value)],
        statistics.map { name, value in
          let kind: FieldKind = if case .string = value { .text } else { .number }
          return (name, name.capitalizedFirst, kind)
        })
      rows.hasStatistics = true
      return rows
    case .groups:
      return SummaryRows(
        values.groups.map { [$0.value, .integer($0.count)] },
        [value, ("count", "Count", .integer)])
    case .distinct:
      // Their numbers are not shown, but may sort them.
      var rows = SummaryRows(
        values.distinct.map { [$0, .integer(values.count(of: $0))] }, [value])
      rows.noun = "values"
      return rows
    }
  }

  /// A row for each group: its values, and the number of its records or its statistics, null for those that it does not have.
  fileprivate func rows(
    of groups: [FieldGroups.Group], by fields: [Field<some Any>], measuring: Bool
  ) -> SummaryRows {
    var columns: [SummaryRows.Column] = fields.map { ($0.name, $0.label, $0.kind) }
    guard measuring else {
      columns.append(("count", "Count", .integer))
      return SummaryRows(groups.map { $0.values + [.integer($0.count)] }, columns)
    }
    let statistics = groups.map(\.measured.statistics)
    let found = Set(statistics.joined().map(\.name))
    let texts: Set = ["first", "last", "earliest", "latest"]
    let names = FieldValues.statisticNames.filter(found.contains)
    for name in names {
      columns.append((name, name.capitalizedFirst, texts.contains(name) ? .text : .number))
    }
    let values = zip(groups, statistics).map { group, statistics in
      group.values
        + names.map { name in statistics.first { $0.name == name }?.value ?? .null }
    }
    var rows = SummaryRows(values, columns)
    rows.keyCount = fields.count
    rows.hasStatistics = true
    rows.hasEmpty = groups.contains { $0.measured.empty > 0 }
    return rows
  }
}

/// Collects the values of records for a summary.
package struct FieldSummaryReader<Item>: Sendable {
  fileprivate typealias Part = (field: Field<Item>, read: String, unit: DateUnit?)

  private let summary: FieldSummary
  private let parts: [Part]
  private let measured: Field<Item>?
  /// Of a summary of one field.
  private var values: FieldValues?
  private var groups = FieldGroups()
  /// The parts of which a record has several values.
  private var lists: Set<Int> = []

  fileprivate init(summary: FieldSummary, parts: [Part], measured: Field<Item>?) {
    self.summary = summary
    self.parts = parts
    self.measured = measured
    values = parts.count == 1 && measured == nil ? FieldValues() : nil
  }

  /// The names of the fields that are read.
  package var names: [String] { parts.map(\.read) + [measured].compactMap(\.self).map(\.name) }

  /// Fails with code `usage` if there are too many groups.
  package mutating func add(_ records: [Item]) throws(CommandError) {
    for record in records {
      if values != nil {
        let value = parts[0].field[record]
        if value.hasSeveral { lists.insert(0) }
        values?.add(value)
        continue
      }
      let found = parts.map { $0.field[record] }
      for index in found.indices where found[index].hasSeveral { lists.insert(index) }
      guard groups.add(found, measuring: measured?[record]) else {
        throw FieldSummary.tooManyGroups
      }
    }
  }

  package var rows: SummaryRows {
    get throws(CommandError) {
      let fields = parts.map(\.field)
      let unsorted =
        if let values {
          summary.rows(of: values, in: fields[0])
        } else {
          summary.rows(of: groups.sorted, by: fields, measuring: measured != nil)
        }
      var rows = try summary.sorted(unsorted, of: parts.map(\.unit))
      if values == nil || summary.kind == .groups {
        rows.lists = lists.sorted().map { fields[$0].name }
      }
      return rows
    }
  }
}

/// A row of a summary.
package struct SummaryRow: Identifiable, Sendable {
  package let id: Int
  let values: [JSON]

  /// The fields of a listing depend on the kind of summary.
  package static let fields: [Field<SummaryRow>] = []
}

package struct SummaryRows: Sendable {
  fileprivate typealias Column = (name: String, label: String, kind: FieldKind)

  package var rows: [SummaryRow]
  package let fields: [Field<SummaryRow>]

  /// The number of the first fields, which tell measured groups apart: a table leaves out the last ones where they have no room.
  package fileprivate(set) var keyCount = 0

  /// The plural noun for the rows in messages.
  fileprivate var noun = "groups"

  /// True if the fields after the first ones are statistics.
  fileprivate var hasStatistics = false

  /// The names of the fields of groups of which a record has several values.
  fileprivate var lists: [String] = []

  /// True if records of measured groups have no value, which the count of the values leaves out.
  fileprivate var hasEmpty = false

  /// A field may have the name of a number.
  fileprivate init(_ rows: [[JSON]], _ columns: [Column]) {
    self.rows = rows.enumerated().map { SummaryRow(id: $0.offset, values: $0.element) }
    fields = zip(columns.map(\.name).madeUnique, columns).enumerated().map { index, column in
      Field<SummaryRow>(column.0, column.1.label, column.1.kind, about: "") { $0.values[index] }
    }
  }

  /// The fields with all statistics, those that only other values have, too: the same columns for values of any kind.
  package var columns: [Field<SummaryRow>] {
    guard hasStatistics else { return fields }
    let known = Dictionary(fields.dropFirst(keyCount).map { ($0.label, $0) }) { first, _ in first }
    let names = fields.prefix(keyCount).map(\.name) + FieldValues.statisticNames
    return fields.prefix(keyCount)
      + zip(names.madeUnique, names).dropFirst(keyCount).map { unique, name in
        let label = name.capitalizedFirst
        return known[label] ?? Field(unique, label, .text, about: "") { _ in .null }
      }
  }

  /// The fields of cards, each of which begins with the line of its group, also of one without a value.
  package var fieldsOfCards: [Field<SummaryRow>] {
    fields.prefix(keyCount).map { field in
      Field(field.name, field.label, field.kind, about: "") { row in
        field[row] == .null ? .string("–") : field[row]
      }
    } + fields.dropFirst(keyCount)
  }

  /// A listing of the rows in the place of the records of a source, or of several.
  package func listing(
    _ listing: Listing<SummaryRow>, of source: String?, matching query: String?
  ) -> Listing<SummaryRow> {
    var listing = listing
    listing.source = source
    listing.query = query
    listing.fields = fields
    listing.layout = RecordLayout(card: fields.map(\.name))
    return listing
  }

  /// Says that there are more rows, and that a record may be in several groups.
  package func report(to diagnostics: Diagnostics, of total: Int) {
    if rows.count < total {
      diagnostics.note("\(rows.count) of \(total) \(noun) · all: without --limit")
    }
    if hasEmpty {
      diagnostics.note("note: \"count\" is that of values; \"empty\" counts records without one")
    }
    guard !lists.isEmpty else { return }
    diagnostics.note(
      "note: a record counts once for each of its \(lists.joined(separator: " and "))")
  }

  /// The summary of the records that were read, with the number of the rows.
  package func summary(of records: ListingSummary) -> ListingSummary {
    var summary = records
    (summary.count, summary.total, summary.next) = (rows.count, rows.count, nil)
    return summary
  }
}

extension JSON {
  /// True for a list of several values.
  fileprivate var hasSeveral: Bool {
    if case .array(let elements) = self { elements.count > 1 } else { false }
  }
}
