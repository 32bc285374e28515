package import AggregatorKit
import AggregatorQueries
package import AggregatorTerminal

/// A record of any source, or a row of a query, as lists and cards show it: its texts are sanitized.
package struct BrowsedRow: Equatable, Identifiable, Sendable {
  package struct Line: Equatable, Sendable {
    package var label: String
    /// With its paragraphs.
    package var text: String

    @inline(never)
    package init(_ label: String, _ text: String) {
      self.label = label.safeLine
      self.text = text.safeParagraphs
    }
  }

  package var id: String
  package var name: String
  /// The values of the columns.
  package var cells: [String]
  package var card: [Line]
  /// The web page, an `http` or `https` URL.
  package var link: String?
  package var hasImage = false
  package var object = JSON.null

  /// Wider values are cut in cells; the card shows them.
  private static let maxCell = 400

  /// This record with the values of these fields in its cells.
  func showing(_ fields: [BrowsedColumn]) -> BrowsedRow {
    var row = self
    row.cells = fields.map { Self.shown(object[$0.name] ?? .null) }
    return row
  }

  /// A value as cells have it: with signs in the place of control characters, which would else be dropped.
  static func cell(_ value: String) -> String { value.safeLine.trimmed.fitted(to: maxCell) }

  /// A value as tables have it: a number with so many decimals, if it has any.
  static func shown(_ value: JSON, decimals: Int = 0) -> String {
    cell((decimals > 0 ? value.aligned(to: decimals) : nil) ?? value.shownCell())
  }

  /// The texts in which the query of a picker is searched.
  var fuzzyFields: [String] { Self.fuzzyFields(id, name, cells) }

  /// The values as a line of TSV.
  var tabSeparated: String {
    guard case .object(let members) = object else { return "" }
    return members.map { $0.value.unambiguousCell.tsvCell(isShown: false) }.joined(separator: "\t")
  }

  /// The ID, the name and the other cells: a match in the first two is the better one.
  static func fuzzyFields(_ id: String, _ name: String, _ cells: [String]) -> [String] {
    let first = [cell(id), cell(name)]
    return first + cells.filter { !first.contains($0) }
  }

  // Small code: each caller would have a copy.
  @inline(never)
  package init(
    id: String, name: String, cells: [String], card: [Line], link: String? = nil
  ) {
    self.id = id
    self.name = name.safeLine
    self.cells = cells.map(\.safeLine)
    self.card = card
    self.link = link
  }
}

package struct BrowsedColumn: Equatable, Sendable {
  /// The name of the field.
  package var name: String
  package var label: String
  package var isNumeric = false

  @inline(never)
  package init(_ name: String, _ label: String, isNumeric: Bool = false) {
    self.name = name
    self.label = label.safeLine
    self.isNumeric = isNumeric
  }
}

/// A part of a list.
package struct BrowsedWindow: Sendable {
  package var columns: [BrowsedColumn]
  package var rows: [BrowsedRow]
  /// The number of rows of the whole list; `nil` if it is not known yet.
  package var total: Int?
  package var warnings: [String] = []
  /// True if a query has more rows, which were not read.
  package var isCut = false
  /// The origin of the rows; `nil` for those of a query.
  package var badge: OriginBadge?
  /// The origin and all warnings of the list, as an export has them; empty for its later parts.
  package var summary = ListingSummary(count: 0)

  package init(columns: [BrowsedColumn], rows: [BrowsedRow], total: Int?, warnings: [String] = []) {
    self.columns = columns
    self.rows = rows
    self.total = total
    self.warnings = warnings
  }
}

/// A list that is asked for: cached records of a source, or bundled ones.
package struct ListRequest: Hashable, Sendable {
  package var source: String
  package var query = ""
  /// As for `--where`; empty for all records.
  package var condition = ""
  /// As for `--sort`.
  package var order: String?
  /// True if the query is that of a picker: its letters match in their order, and the best match comes first.
  package var isFuzzy = false
  /// Counts the times at which it was read anew.
  package var version = 0

  package init(_ source: String) { self.source = source }

  /// The same request, however often it was read.
  var unversioned: ListRequest {
    var request = self
    request.version = 0
    return request
  }

  /// The name of the field in ``order``.
  var orderField: String? { order.map { String($0.drop { $0 == "-" }) } }
}

/// The counts and dates of a source, for which no record is read.
package struct SourceStatus: Equatable, Sendable {
  /// The number of records on this machine; `nil` without a store.
  package var count: Int?
  /// The number of records of the service, if it is known.
  package var total: Int?
  /// The time of the oldest record; `nil` if it is not known.
  package var fetchedAt: Date?
  /// The records of the service that are missing, or may be, in words: `120 issues are cached, possibly not all`; `nil` if
  /// none are, and for a service without an end.
  package var gap: String?
  /// True if every record of the service is cached, as far as is known.
  package var isComplete = false
  /// The number of rows of the largest cached page; `nil` if none is cached, or no search reads pages.
  package var pageRows: Int?
  /// The command that fetches missing records; `nil` if none does.
  package var syncCommand: String?
  /// True if no search asks the service, because all that it would find is cached.
  package var answersSearches = false

  package init(
    count: Int? = nil, total: Int? = nil, fetchedAt: Date? = nil, gap: String? = nil
  ) {
    self.count = count
    self.total = total
    self.fetchedAt = fetchedAt
    self.gap = gap
  }
}

package struct Notice: Equatable, Sendable {
  package enum Kind: Sendable { case note, warning, error }

  package var kind: Kind
  package var text: String

  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
