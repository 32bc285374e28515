package import AggregatorKit
import AggregatorSelection
package import AggregatorTerminal

package struct OutputOptions {
  package private(set) var format: Format
  /// The names of `--fields`, `*` alone for all, or those in ``template``; `nil` without them.
  package private(set) var fields: [String]?
  private var template: RecordTemplate?
  /// True if an option or a command has named the format.
  private let isNamed: Bool
  private let isRaw: Bool
  /// `nil` for what the format usually has.
  private let hasHeader: Bool?
  private let maxLines: Int?

  /// The most lines of a value in a card on a terminal.
  private static let maxLinesOnTerminal = 12

  package init(_ invocation: Invocation, in context: CommandContext) throws(CommandError) {
    var formats: [(option: String, format: Format)] = []
    for option in Option.formats where invocation.has(option) {
      formats += Format(rawValue: option.name).map { [(option.spelling, $0)] } ?? []
    }
    if let text = invocation.text(.format), let format = Format(named: text) {
      formats.append(("--format \(text)", format))
    }
    if let text = invocation.text(.template) {
      template = try RecordTemplate(text)
      // Nothing of it is for people, or has a head.
      formats = [(Option.template.spelling, .tsv)]
    }
    // The program reads one document, or a record at a time.
    if invocation.has(.jq), !formats.contains(where: { $0.format == .ndjson }) {
      formats.append((Option.jq.spelling, .json))
    }
    if let first = formats.first, let other = formats.first(where: { $0.format != first.format }) {
      throw .exclusive(first.option, other.option)
    }
    format = formats.first?.format ?? (context.terminal.isOutput ? .table : .tsv)
    isNamed = !formats.isEmpty
    fields = template?.fields ?? invocation.list(.fields)
    isRaw = invocation.has(.csvRaw)
    maxLines = Self.maxLines(invocation, in: context)
    hasHeader = invocation.hasHeader
    guard !isRaw || format == .csv else { throw CommandError(.usage, "--csv-raw requires --csv") }
    // A table has one anyway.
    if let hasHeader, !format.isSeparated, !(hasHeader && formats.isEmpty) {
      let option = hasHeader ? Option.headers : .noHeaders
      throw CommandError(.usage, "\(option.spelling) requires --csv or --tsv")
    }
  }

  /// The output of all fields, or of those of `--fields`, in a format that no option of a format names.
  package init(_ format: Format, _ invocation: Invocation, in context: CommandContext) {
    self.format = format
    isNamed = true
    fields = invocation.list(.fields)
    isRaw = invocation.has(.csvRaw)
    hasHeader = invocation.hasHeader
    maxLines = Self.maxLines(invocation, in: context)
  }

  private static func maxLines(_ invocation: Invocation, in context: CommandContext) -> Int? {
    context.terminalLayout.isRead && !invocation.has(.full) ? maxLinesOnTerminal : nil
  }

  /// These options without those of `--fields`.
  package var ofAllFields: OutputOptions {
    var options = self
    options.fields = nil
    return options
  }

  /// These options with the fields of an earlier listing, as far as they exist, unless others were given, all by their names.
  package func continuing<Item>(_ fields: [String]?, of all: [Field<Item>]) -> OutputOptions {
    var options = self
    let known = (fields ?? []).filter { name in name == "*" || all.contains { $0.name == name } }
    if self.fields == nil, template == nil, !known.isEmpty { options.fields = known }
    options.fields = options.names(of: all)
    return options
  }

  package func listing<Item: SourceRecord>(
    _ verb: String, of source: String?, query: SearchQuery? = nil, fields all: [Field<Item>],
    layout: RecordLayout<Item>
  ) throws(CommandError) -> Listing<Item> {
    var listing = Listing(
      verb, of: source, query: query?.text, fields: all, layout: layout,
      chosen: try choose(from: all), isRaw: isRaw)
    listing.hasHeader = hasHeader
    listing.maxLines = maxLines
    listing.keepsTable = keepsTable
    listing.template = template
    return listing
  }

  /// `namesFields` is true if `--fields` applies to this listing.
  package func plainListing<Item: Entry>(
    _ verb: String, _ type: Item.Type, shape: Listing<Item>.Shape = .rows, namesFields: Bool = true
  ) throws(CommandError) -> Listing<Item> {
    var listing = Listing(
      verb, of: nil, fields: Item.fields, layout: RecordLayout(card: Item.fields.map(\.name)),
      shape: shape, chosen: namesFields ? try choose(from: Item.fields) : nil, isRaw: isRaw)
    listing.isNamedByID = true
    listing.hasHeader = hasHeader
    listing.keepsTable = keepsTable
    listing.template = namesFields ? template : nil
    return listing
  }

  package func listing(
    ofQuery text: String, _ columns: [String], like rows: [[SQLValue]]
  ) throws(CommandError) -> Listing<SQLRow> {
    var listing = Listing(ofQuery: text, columns, like: rows, isRaw: isRaw)
    listing.hasHeader = hasHeader
    listing.keepsTable = keepsTable
    listing.chosen = try choose(from: listing.fields, areDeclared: false)
    listing.template = template
    return listing
  }

  package var isForPeople: Bool { format.isForPeople }

  /// True for a table in every width, because one was asked for.
  package var keepsTable: Bool { isNamed && format == .table }

  /// These options, with cards in the place of tables that were not asked for.
  package var inCards: OutputOptions {
    var options = self
    if format == .table, !isNamed { options.format = .cards }
    return options
  }

  /// True for one document, which has an end.
  package var isDocument: Bool { format.isDocument }

  /// - Parameter areDeclared: False for columns whose kinds are those of the first rows.
  private func choose<Item>(
    from all: [Field<Item>], areDeclared: Bool = true
  ) throws(CommandError) -> [Field<Item>]? {
    guard let names = names(of: all) else { return nil }
    guard !names.isEmpty else { throw CommandError(.usage, "missing value for --fields") }
    let chosen = try all.fields(named: names)
    if let template, areDeclared {
      var kinds: [String: FieldKind] = [:]
      for (typed, name) in zip(template.fields, names) {
        kinds[typed] = chosen.first { $0.name == name }?.kind
      }
      try template.check(kinds)
    }
    return chosen
  }

  /// ``fields``, all by their names.
  private func names<Item>(of all: [Field<Item>]) -> [String]? {
    fields.map { template == nil ? all.names(listedAs: $0) : all.names(shownAs: $0) }
  }
}

extension Invocation {
  fileprivate var hasHeader: Bool? { has(.headers) ? true : has(.noHeaders) ? false : nil }
}

package struct RecordPrinter<Item: Identifiable & Sendable>
where Item.ID: CustomStringConvertible {
  private var writer: any RecordWriter<Item>
  private let output: ListingOutput
  private let context: CommandContext
  /// True for records of a source.
  private let isOfRecords: Bool
  private let isDocument: Bool
  private var hasBegun = false
  private var count = 0

  /// - Parameter layout: That of the terminal, unless something else takes a part of it.
  package init(
    _ listing: Listing<Item>, _ options: OutputOptions, in context: CommandContext,
    on layout: TerminalLayout? = nil
  ) {
    let layout = layout ?? context.terminalLayout
    writer = options.format.writer(for: listing, on: layout)
    output = context.listingOutput
    isDocument = options.format.isDocument && listing.template == nil
    self.context = context
    isOfRecords = listing.source != nil && !listing.isNamedByID
  }

  /// - Parameter arrange: Adds to the text of the records.
  package mutating func print(
    _ records: [Item], arrangedBy arrange: (String) -> String = { $0 }
  ) throws {
    if !hasBegun {
      hasBegun = true
      try output.write(writer.begin(), endedBy: ending)
    }
    let text = writer.append(records)
    count += records.count
    try output.write(arrange(text), under: writer.head, endedBy: ending)
  }

  /// The end of a document that a signal or a failure interrupts; `nil` for other formats, which may end after any record.
  private var ending: String? {
    guard isDocument else { return nil }
    var writer = writer
    let warning = Warning(.incomplete, "ended early; other records may be missing")
    return writer.finish(ListingSummary(count: count, warnings: [SourceWarning(nil, warning)]))
  }

  /// The number of columns for which a table had no room.
  package var omittedColumns: Int { writer.omittedColumns }

  package mutating func finish(_ summary: ListingSummary) throws {
    try print([])
    try output.write(writer.finish(summary))
    try output.flush()
    context.note(hidden: hiddenFields)
    let formulas = writer.defusedFormulas
    if formulas > 0 {
      context.diagnostics.note(
        "note: a ' precedes \(formulas.of("value")), which spreadsheets would run as "
          + "\(formulas == 1 ? "a formula" : "formulas"); \(Option.csvRaw.spelling) leaves it out")
    }
  }

  /// The names of the fields of records that a reader does not see.
  package var hiddenFields: [String] { isOfRecords ? writer.hiddenFields : [] }

  /// - Parameter summary: Of these records, all there are, by default.
  package static func print(
    _ records: [Item], as listing: Listing<Item>, _ options: OutputOptions,
    in context: CommandContext, _ summary: ListingSummary? = nil
  ) throws {
    var printer = RecordPrinter(listing, options, in: context)
    try printer.print(records)
    try printer.finish(
      summary ?? ListingSummary(count: records.count, total: records.count))
  }
}

extension CommandContext {
  /// Names the fields that a table of records leaves out, as far as one line has room, or two of fewer than 80 cells.
  package func note(hidden fields: [String]) {
    var names: [String] = []
    for field in fields where !names.contains(field) { names.append(field) }
    guard !names.isEmpty else { return }
    let start = "\(names.count.of("more field")): "
    let end = " (\(Option.fields.spelling) '*' shows all)"
    let room =
      terminal.width < 80 ? 40 : terminal.width - start.displayWidth - end.displayWidth - 1
    let some = names.joined(separator: ", ").fittedToWords(room).replacing(",…", with: ", …")
    diagnostics.note(start + some + end)
  }
}

/// Something of the program itself that it lists, such as a source or a setting.
package protocol Entry: Identifiable, Sendable where ID: CustomStringConvertible {
  /// The fields; all of them are shown.
  static var fields: [Field<Self>] { get }
}

package struct FieldEntry: Entry {
  package let id: String
  package var kind: String
  package let about: String
  package let label: String
  package let isShown: Bool
  package let isSearchable: Bool

  package init(_ field: Field<some Any>) {
    id = field.name
    kind = field.kind.rawValue
    about = field.about
    label = field.label
    isShown = field.isShown
    isSearchable = field.isSearchable
  }

  package static let fields: [Field<FieldEntry>] = [
    Field("name", "Name", \.id, about: "The name for --fields, and the JSON key."),
    Field("kind", "Kind", \.kind, about: "text, date, integer, number, bool, list or any."),
    Field("about", "Description", \.about, about: "The description."),
  ]
}
