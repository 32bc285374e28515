package import AggregatorKit
import AggregatorSelection
package import AggregatorTerminal

package struct OutputOptions {
  package private(set) var format: Format
  /// The names of `--fields`, or those in ``template``; `nil` without them.
  package private(set) var fields: [String]?
  private var template: RecordTemplate?
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
    if let text = invocation.text(.format), let format = Format(rawValue: text) {
      formats.append(("--format \(text)", format))
    }
    if let text = invocation.text(.template) {
      template = try RecordTemplate(text)
      // Nothing of it is for people, or has a head.
      formats = [(Option.template.spelling, .tsv)]
    }
    if invocation.has(.jq) { formats.append((Option.jq.spelling, .json)) }
    if let first = formats.first, let other = formats.first(where: { $0.format != first.format }) {
      throw .exclusive(first.option, other.option)
    }
    format = formats.first?.format ?? (context.terminal.isOutput ? .table : .tsv)
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

  /// These options with the fields of an earlier listing, as far as they exist, unless others were given.
  package func continuing<Item>(_ fields: [String]?, of all: [Field<Item>]) -> OutputOptions {
    var options = self
    let known = (fields ?? []).filter { name in all.contains { $0.name == name } }
    if self.fields == nil, template == nil, !known.isEmpty { options.fields = known }
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
    listing.template = namesFields ? template : nil
    return listing
  }

  package func listing(
    ofQuery text: String, _ columns: [String], like rows: [[SQLValue]]
  ) throws(CommandError) -> Listing<SQLRow> {
    var listing = Listing(ofQuery: text, columns, like: rows, isRaw: isRaw)
    listing.hasHeader = hasHeader
    listing.chosen = try choose(from: listing.fields)
    listing.template = template
    return listing
  }

  package var isForPeople: Bool { format.isForPeople }

  /// These options, with cards in the place of tables.
  package var inCards: OutputOptions {
    var options = self
    if format == .table { options.format = .cards }
    return options
  }

  /// True for one document, which has an end.
  package var isDocument: Bool { format.isDocument }

  private func choose<Item>(from all: [Field<Item>]) throws(CommandError) -> [Field<Item>]? {
    guard let fields else { return nil }
    guard !fields.isEmpty else { throw CommandError(.usage, "missing value for --fields") }
    return try all.fields(named: fields)
  }
}

extension Invocation {
  fileprivate var hasHeader: Bool? { has(.headers) ? true : has(.noHeaders) ? false : nil }
}

package struct RecordPrinter<Item: Identifiable & Sendable>
where Item.ID: CustomStringConvertible {
  private var writer: any RecordWriter<Item>
  private let output: ListingOutput
  private let diagnostics: Diagnostics
  private var hasBegun = false

  /// - Parameter layout: That of the terminal, unless something else takes a part of it.
  package init(
    _ listing: Listing<Item>, _ options: OutputOptions, in context: CommandContext,
    on layout: TerminalLayout? = nil
  ) {
    writer = options.format.writer(for: listing, on: layout ?? context.terminalLayout)
    output = context.listingOutput
    diagnostics = context.diagnostics
  }

  /// - Parameter arrange: Adds to the text of the records.
  package mutating func print(
    _ records: [Item], arrangedBy arrange: (String) -> String = { $0 }
  ) throws {
    if !hasBegun {
      hasBegun = true
      try output.write(writer.begin())
    }
    let text = writer.append(records)
    try output.write(arrange(text), under: writer.head)
  }

  package mutating func finish(_ summary: ListingSummary) throws {
    try print([])
    try output.write(writer.finish(summary))
    try output.flush()
    let formulas = writer.defusedFormulas
    if formulas > 0 {
      diagnostics.note(
        "note: a ' precedes \(formulas.of("value")), which spreadsheets would run as "
          + "\(formulas == 1 ? "a formula" : "formulas"); \(Option.csvRaw.spelling) leaves it out")
    }
  }

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

  package init(_ field: Field<some Any>) {
    id = field.name
    kind = field.kind.rawValue
    about = field.about
    label = field.label
    isShown = field.isShown
  }

  package static let fields: [Field<FieldEntry>] = [
    Field("name", "Name", \.id, about: "The name for --fields, and the JSON key."),
    Field("kind", "Kind", \.kind, about: "text, integer, number, bool, list or any."),
    Field("about", "Description", \.about, about: "The description."),
  ]
}
