extension CursorSeal {
  /// What an offset can be: enough for any service, and far from overflow.
  private static let offsets = 0...1_000_000_000

  /// The offset in a cursor, for sources that count records from the start.
  ///
  /// - Parameter cursor: A cursor of such a source, or `nil` for the start.
  /// - Returns: How many records come before the page, 0 to 10⁹.
  /// - Throws: ``SourceError`` with code `invalidCursor` if another seal closed it, or it is damaged.
  public func openOffset(_ cursor: Cursor?) throws(SourceError) -> Int {
    let offset = try open(cursor, as: Int.self) ?? 0
    guard Self.offsets ~= offset else { throw .damaged(cursor) }
    return offset
  }

  /// The cursor some records after another, for ``DataSource/cursor(skipping:from:)``.
  ///
  /// - Parameters:
  ///   - count: How many records to skip.
  ///   - cursor: A cursor of a source that counts records, or `nil` for the start.
  /// - Returns: `nil` if `cursor` cannot be opened, or leads too far.
  public func offset(skipping count: Int, from cursor: Cursor?) -> Cursor? {
    guard let offset = try? openOffset(cursor) else { return nil }
    let (sum, overflow) = offset.addingReportingOverflow(count)
    return !overflow && Self.offsets ~= sum ? try? close(sum) : nil
  }
}
