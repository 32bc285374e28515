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
