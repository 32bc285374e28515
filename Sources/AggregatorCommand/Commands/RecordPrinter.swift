import AggregatorKit

/// Writes records to standard output as they come.
struct RecordPrinter<Item: Record> {
  private var writer: any RecordWriter<Item>
  private let output: Output
  private var hasBegun = false

  init(_ listing: Listing<Item>, _ options: OutputOptions, in session: Session) {
    writer = options.writer(for: listing, in: session)
    output = session.output
  }

  /// Writes some records; the first time, even if there are none, also what comes before them.
  mutating func print(_ records: [Item]) throws {
    if !hasBegun {
      hasBegun = true
      try output.write(writer.begin())
    }
    try output.write(writer.append(records))
  }

  /// Writes what comes after the last record.
  mutating func finish(_ summary: ListingSummary) throws {
    try print([])
    try output.write(writer.finish(summary))
  }
}

extension RecordPrinter {
  /// Writes records that are all there.
  static func print(
    _ records: [Item], as listing: Listing<Item>, _ options: OutputOptions, in session: Session
  ) throws {
    var printer = RecordPrinter(listing, options, in: session)
    try printer.print(records)
    try printer.finish(ListingSummary(count: records.count, total: records.count))
  }
}
