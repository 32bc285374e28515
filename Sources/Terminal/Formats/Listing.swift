package import AggregatorKit

package struct Listing<Item: Identifiable & Sendable>: Sendable
where Item.ID: CustomStringConvertible {
  package enum Shape { case rows, cards }

  /// The source's name; `nil` for several sources.
  package var source: String?

  /// The verb that was typed: `list`, `next`, `search`, `show`.
  package var verb: String

  package var query: String?
  /// The words to highlight on a terminal; `nil` for none.
  package var matched: String?
  package var fields: [Field<Item>]
  package var layout: RecordLayout<Item>
  package var shape: Shape

  /// The fields of `--fields`, in that order; `nil` leaves the choice to the format.
  package var chosen: [Field<Item>]?

  /// The JSON object of a record without `--fields`; `nil` for all ``fields``.
  package var object: (@Sendable (Item) -> JSON)?

  /// The paragraph of a record, whose ID is given as shown, in a table without `--fields`; `nil` for columns.
  package var paragraph: (@Sendable (Item, _ id: String) -> Paragraph)?

  /// The text of a record, which names the ``chosen`` fields; `nil` for that of a format.
  package var template: RecordTemplate?

  /// `true` to leave CSV cells that look like formulas as they are.
  package var isRaw: Bool

  /// True or false if CSV and TSV have a line with the names of the columns; `nil` for what is usual: only CSV has it.
  package var hasHeader: Bool?

  /// True for rows that follow others below the same names of columns.
  package var followsHead = false

  /// `true` to write cards instead of a table that leaves out columns.
  package var prefersCards = false

  /// `true` if such cards also replace a table that would cut more than one or two texts of several words.
  package var cutsOnlyProse = false

  /// `true` for a table in every width, whose last columns are left out, marked by `…`, where they have no room.
  package var keepsTable = false

  /// The text of null in tables and cards, which then have the fields without a value, too; `nil` to show nothing.
  package var nullText: String?

  /// The cells below which a table leaves out the last column rather than cut it, so that the others have room.
  package var minLastWidth = 0

  /// The number of the first fields, of groups, whose values a table shows whole before it has room for the last fields.
  package var keyCount = 0

  /// `true` if IDs are the names of the records, as those of settings are: they are things of the program's own.
  package var isNamedByID = false

  /// The most lines of a value in a card; `nil` for all.
  package var maxLines: Int?

  package init(
    _ verb: String, of source: String?, query: String? = nil, fields: [Field<Item>],
    layout: RecordLayout<Item>, shape: Shape = .rows, chosen: [Field<Item>]? = nil,
    isRaw: Bool = false
  ) {
    self.source = source
    self.verb = verb
    self.query = query
    matched = query
    self.fields = fields
    self.layout = layout
    self.shape = shape
    self.chosen = chosen
    self.isRaw = isRaw
  }

  package func object(of record: Item) -> JSON {
    if chosen == nil, let object { return object(record) }
    return (chosen ?? fields).object(of: record)
  }

  /// The fields of tables: those of a row or of a card, or those of `--fields`.
  var fieldsForPeople: [Field<Item>] {
    if let chosen { return chosen }
    return switch shape {
    case .rows: fields.filter(\.isShown)
    case .cards: layout.cardFields(among: fields)
    }
  }

  /// The fields of cards: of a computed table with the numbers that a person sees in it.
  func fieldsOfCards(on layout: TerminalLayout) -> [Field<Item>] {
    guard prefersCards, layout.isRead else { return fieldsForPeople }
    return fieldsForPeople.map(\.rounded)
  }

  /// The fields of TSV, CSV and Markdown: all of a record, as in JSON.
  ///
  /// Where the objects of JSON have others, and in lists of the program's own things, they are the columns of a table; the
  /// others follow in a card.
  package var columns: [Field<Item>] {
    if let chosen { return chosen }
    guard isNamedByID || object != nil else { return fields }
    return fields.filter(\.isShown) + (shape == .cards ? fields.filter { !$0.isShown } : [])
  }

  /// - Parameter isShown: True on a terminal.
  fileprivate func tsvLine(_ cells: [String], isShown: Bool) -> String {
    cells.map { $0.tsvCell(isShown: isShown, isInTable: hasHeader == true) }
      .joined(separator: "\t") + "\n"
  }

  /// - Parameter inCards: False for a table wherever its columns fit.
  func writerForPeople(
    on terminalLayout: TerminalLayout, inCards: Bool
  ) -> any RecordWriter<Item> {
    var listing = self
    if isNamedByID, terminalLayout.isRead {
      listing.fields = fields.map(\.withAge)
      listing.chosen = chosen?.map(\.withAge)
    }
    if let paragraph, chosen == nil {
      return ParagraphWriter(terminalLayout: terminalLayout, paragraph: paragraph)
    }
    guard shape == .rows, !(inCards && prefersCards) else {
      return CardWriter(
        fields: listing.fieldsOfCards(on: terminalLayout), terminalLayout: terminalLayout,
        maxLines: maxLines,
        nullText: nullText)
    }
    return TableWriter(listing, terminalLayout: terminalLayout, inBlocks: inCards)
  }
}

extension Field {
  /// The names of the times at which this program has found something out.
  private static var times: Set<String> {
    ["fetchedAt", "foundAt", "lastFull", "lastIncremental", "lastSync"]
  }

  /// This field with the age of a time of this program in its place: `2 h ago`.
  fileprivate var withAge: Field {
    guard Self.times.contains(name) else { return self }
    return Field(name, label, kind, about: about, isShown: isShown) { record in
      guard case .string(let text) = self[record], let time = Period(text) else {
        return self[record]
      }
      return .string(Date(timeIntervalSince1970: time.start).age(at: Now.current.date))
    }
  }
}

package enum Format: String, CaseIterable, Sendable {
  case table
  case cards
  case markdown
  case tsv
  case csv
  case json
  case ndjson
  case yaml

  /// - Parameter name: A raw value, or an ending of files such as `md`, `yml` or `jsonl`.
  package init?(named name: String) {
    self.init(
      rawValue: Self.allCases.first { $0.fileEndings.contains(name) }?.rawValue ?? name)
  }

  /// True for one document, which has an end.
  package var isDocument: Bool {
    switch self {
    case .table, .cards, .markdown, .tsv, .csv, .ndjson, .yaml: false
    case .json: true
    }
  }

  /// True for values that are separated by commas or tabs.
  package var isSeparated: Bool { self == .csv || self == .tsv }

  package var isForPeople: Bool { self == .table || self == .cards }

  /// The endings of the names of files in this format; none if it is for people.
  package var fileEndings: [String] {
    switch self {
    case .table, .cards: []
    case .tsv, .csv, .json: [rawValue]
    case .ndjson: [rawValue, "jsonl"]
    case .markdown: ["md", rawValue]
    case .yaml: [rawValue, "yml"]
    }
  }

  package func writer<Item>(
    for listing: Listing<Item>, on terminalLayout: TerminalLayout
  ) -> any RecordWriter<Item> {
    if let template = listing.template { return template.writer(for: listing, on: terminalLayout) }
    let columns = listing.columns
    return switch self {
    case .table, .cards: listing.writerForPeople(on: terminalLayout, inCards: self == .cards)
    // Usually without a header, as `gh` does in a pipe.
    case .tsv:
      LineWriter(
        head: listing.hasHeader == true && !listing.followsHead
          ? listing.tsvLine(columns.map(\.name), isShown: terminalLayout.isRead) : ""
      ) { record, text in
        text += listing.tsvLine(
          columns.map { $0[record].unambiguousCell }, isShown: terminalLayout.isRead)
      }
    case .csv:
      CSVWriter(
        columns, hasHeader: listing.hasHeader != false && !listing.followsHead,
        isRaw: listing.isRaw, isShown: terminalLayout.isRead)
    case .markdown: MarkdownWriter(listing, isShown: terminalLayout.isRead)
    case .yaml: YAMLWriter(listing)
    case .json: EnvelopeWriter(listing).colored(in: terminalLayout.style)
    case .ndjson:
      LineWriter { record, text in
        listing.object(of: record).write(to: &text)
        text += "\n"
      }.colored(in: terminalLayout.style)
    }
  }
}

/// Writes each record by itself, after a head.
struct LineWriter<Item>: RecordWriter {
  var head = ""
  let write: (Item, _ text: inout String) -> Void

  func begin() -> String { head }

  func append(_ records: [Item]) -> String { records.reduce(into: "") { write($1, &$0) } }
}

/// Turns records into text, page by page; every result may be empty.
///
/// Call ``begin()`` only once the first page is there, so that a total failure leaves standard
/// output empty; call ``finish(_:)`` also after a failure in the middle.
package protocol RecordWriter<Item> {
  associatedtype Item

  mutating func begin() -> String

  mutating func append(_ records: [Item]) -> String

  mutating func finish(_ summary: ListingSummary) -> String

  /// The line that names the columns of the last records; `nil` if there is none.
  var head: String? { get }

  /// The names of the fields of the records that have no column.
  var hiddenFields: [String] { get }

  /// The number of values so far that are not as they were, because a spreadsheet would run them.
  var defusedFormulas: Int { get }

  /// The number of columns for which a table has no room.
  var omittedColumns: Int { get }
}

extension RecordWriter {
  package mutating func begin() -> String { "" }

  package mutating func finish(_ summary: ListingSummary) -> String { "" }

  package var head: String? { nil }

  package var hiddenFields: [String] { [] }

  package var defusedFormulas: Int { 0 }

  package var omittedColumns: Int { 0 }
}

/// Writes the document of `--json`: an indented envelope with one record a line.
package struct EnvelopeWriter<Item: Identifiable & Sendable>: RecordWriter
where Item.ID: CustomStringConvertible {
  private let listing: Listing<Item>
  private var isFirst = true

  package init(_ listing: Listing<Item>) { self.listing = listing }

  package mutating func begin() -> String {
    """
    {
      "schema": "aggregator/1",
      "source": \(listing.source.json.text),
      "verb": \(JSON.string(listing.verb).text),
      "query": \(listing.query.json.text),
      "items": [
    """
  }

  package mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records {
      text += isFirst ? "\n    " : ",\n    "
      isFirst = false
      listing.object(of: record).write(to: &text)
    }
    return text
  }

  package mutating func finish(_ summary: ListingSummary) -> String {
    """
    \(isFirst ? "" : "\n  ")],
      "page": \(summary.page.text),\(object("sources", summary.sources))\(object("summary", summary.totals))
      "provenance": \((summary.provenance?.json ?? .null).text),
      "warnings": \(JSON.array(summary.warnings.map(\.json)).text)
    }

    """
  }

  private func object(_ name: String, _ members: [JSON.Member]) -> String {
    members.isEmpty ? "" : "\n  \"\(name)\": \(JSON.object(members).text),"
  }
}

extension Array {
  /// A record as a JSON object with these fields, in this order; unknown values are null.
  package func object<Item>(of record: Item) -> JSON where Element == Field<Item> {
    // In place: copying a field costs more than reading it.
    .object(
      withUnsafeBufferPointer { fields in
        var members: [JSON.Member] = []
        members.reserveCapacity(fields.count)
        for index in fields.indices {
          members.append(JSON.Member(fields[index].name, fields[index][record]))
        }
        return members
      })
  }
}

extension String {
  /// The ending of a file's name in lower case, without that of compression, as in `list.csv.gz`.
  package var fileEnding: (String, isCompressed: Bool) {
    let url = URL(filePath: self)
    let ending = url.pathExtension.lowercased()
    guard ending == "gz" else { return (ending, false) }
    return (url.deletingPathExtension().pathExtension.lowercased(), true)
  }
}
