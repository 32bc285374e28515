import AggregatorKit

/// What is going to be written: whose records, for which call, and which of their fields.
struct Listing<Item: Record>: Sendable {
  /// Whether records are shown as rows among others, or in full.
  enum Shape { case rows, cards }

  /// The source's name; `nil` for several sources.
  var source: String?

  /// The word that was typed: `list`, `next`, `search`, `show`.
  var verb: String

  /// What was looked for, or asked in SQL.
  var query: String?

  /// Everything that can be read of a record.
  var fields: [Field<Item>]

  /// How a person sees a record.
  var layout: Layout<Item>

  /// Rows, or each record in full.
  var shape: Shape

  /// The fields asked for by name, in that order; `nil` leaves the choice to the format.
  var chosen: [Field<Item>]?

  /// A record for JSON where no fields were asked for; `nil` for all of ``fields``.
  var object: (@Sendable (Item) -> JSON)?

  /// Whether CSV cells that a spreadsheet takes for formulas stay as they are.
  var isRaw: Bool

  /// What is going to be written.
  ///
  /// - Parameters:
  ///   - verb: The word that was typed.
  ///   - source: The source's name.
  ///   - query: What was looked for, or asked in SQL.
  ///   - fields: Everything that can be read of a record.
  ///   - layout: How a person sees a record.
  ///   - shape: Rows, or each record in full.
  ///   - chosen: The fields asked for by name, in that order.
  ///   - isRaw: Whether CSV cells that a spreadsheet takes for formulas stay as they are.
  init(
    _ verb: String, of source: String?, query: String? = nil, fields: [Field<Item>],
    layout: Layout<Item>, shape: Shape = .rows, chosen: [Field<Item>]? = nil, isRaw: Bool = false
  ) {
    self.source = source
    self.verb = verb
    self.query = query
    self.fields = fields
    self.layout = layout
    self.shape = shape
    self.chosen = chosen
    self.isRaw = isRaw
  }

  /// A record for JSON: all fields, unless some were asked for.
  func object(of record: Item) -> JSON {
    if chosen == nil, let object { return object(record) }
    return (chosen ?? fields).object(of: record)
  }

  /// The fields of tables, TSV and CSV: those of a row or of a card, unless some were asked for.
  var fieldsForPeople: [Field<Item>] {
    if let chosen { return chosen }
    return switch shape {
    case .rows: fields.filter(\.isShown)
    case .cards: layout.card.compactMap { name in fields.first { $0.name == name } }
    }
  }

  /// Who writes for people.
  ///
  /// - Parameter surface: What the text is laid out on.
  /// - Returns: A writer of cards, of the source's own blocks, or of a table.
  func tableWriter(on terminalLayout: TerminalLayout) -> any RecordWriter<Item> {
    switch (shape, layout.row, chosen) {
    case (.cards, _, _): CardWriter(fields: fieldsForPeople, terminalLayout: terminalLayout)
    case (.rows, .block(let heading, let badge, let detail), nil):
      BlockWriter(terminalLayout: terminalLayout) {
        Block(heading: heading($0), badge: badge($0), details: [detail($0)].compactMap(\.self))
      }
    case (.rows, _, _): TableWriter(fields: fieldsForPeople, terminalLayout: terminalLayout)
    }
  }
}

/// How records are written to standard output.
enum Format: String, CaseIterable, Sendable {
  /// For people.
  case table
  /// One record a line, cells separated by tabs, no header.
  case tsv
  /// RFC 4180, with a header.
  case csv
  /// One document with the records and all about them.
  case json
  /// One JSON object a line.
  case ndjson

  /// Who writes records in this format.
  ///
  /// The one place where formats are told apart: a new one does not compile until it can write.
  ///
  /// - Parameters:
  ///   - listing: What is written.
  ///   - surface: What text for people is laid out on.
  /// - Returns: A writer that has written nothing yet.
  func writer<Item>(for listing: Listing<Item>, on terminalLayout: TerminalLayout)
    -> any RecordWriter<Item>
  {
    switch self {
    case .table: listing.tableWriter(on: terminalLayout)
    case .tsv: TSVWriter(fields: listing.fieldsForPeople)
    case .csv: CSVWriter(fields: listing.fieldsForPeople, isRaw: listing.isRaw)
    case .json: EnvelopeWriter(listing)
    case .ndjson: NDJSONWriter(listing: listing)
    }
  }
}

/// Turns records into text, page by page.
///
/// Call ``begin()`` only once the first page is there, so that a total failure leaves standard output
/// empty; then ``append(_:)`` for each page, and ``finish(_:)`` at the end, also after a failure in the
/// middle. Every call returns the text to write next, which may be empty. All of it is safe to show.
protocol RecordWriter<Item> {
  associatedtype Item

  /// What comes before the first record.
  mutating func begin() -> String

  /// Some records.
  mutating func append(_ records: [Item]) -> String

  /// What comes after the last record.
  mutating func finish(_ summary: ListingSummary) -> String
}

extension RecordWriter {
  /// Nothing.
  mutating func begin() -> String { "" }

  /// Nothing.
  mutating func finish(_ summary: ListingSummary) -> String { "" }
}
