package import AggregatorCore

/// A store whose tables can be read and written as they are.
///
/// Failures are ``SourceError`` with code `storage` or `busy`.
package protocol CopyableStore: Sendable {
  /// The text of the ``CopyMark`` while a copy into this store is unfinished, otherwise `nil`.
  func copyMark() async throws(SourceError) -> String?

  /// The number of rows in each of ``CopyTable/all``; `nil` if there is no store yet.
  func rowCounts() async throws(SourceError) -> [Int]?

  /// Rows in the order of their keys; none if there is no store yet.
  func rows(
    of table: CopyTable, in range: CopyRange, atMost limit: CopyLimit
  ) async throws(SourceError) -> [CopyRow]

  /// Creates the store with a mark, unless it has one, or any row; returns false then.
  func beginCopy(_ mark: String) async throws(SourceError) -> Bool

  /// Replaces the rows in a range, and moves the mark from a text to another one, in one transaction.
  ///
  /// Returns false if the mark has another text. Leaves out rows that contradict one outside of the range, as a
  /// second record with the same ID does.
  func replace(
    _ range: CopyRange, of table: CopyTable, by rows: [CopyRow], moving mark: String,
    to next: String
  ) async throws(SourceError) -> Bool

  /// Removes the mark; returns false if it has another text.
  func endCopy(_ mark: String) async throws(SourceError) -> Bool
}
