import AggregatorKit

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
