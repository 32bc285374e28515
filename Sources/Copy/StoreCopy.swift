package import AggregatorCore
package import AggregatorStore

/// Copies all rows of a store into an empty one, under the same keys.
///
/// The original is not locked. Its rows are read once to copy them, and once more to compare all of them with
/// the copy; rows that differ then are copied again. So each row was the same before and after the moment at which
/// the last, equal comparison began: the copy is the original of that moment. A copy that was
/// interrupted continues after its last transaction.
package struct StoreCopy: Sendable {
  /// A store and its location, for messages.
  package struct Side: Sendable {
    let store: any CopyableStore
    let name: String

    package init(_ store: some CopyableStore, at name: String) {
      self.store = store
      self.name = name
    }
  }

  package struct Progress: Sendable {
    package var isComparing = false
    /// In rows, those of earlier runs too.
    package var done: Int
    /// In rows.
    package let total: Int
    /// The rows that this run has copied or compared.
    package var count = 0

    fileprivate mutating func add(_ rows: [CopyRow]) {
      done += rows.count
      count += rows.count
    }
  }

  package struct Result: Sendable {
    /// The last comparison of each table.
    package let tables: [Table]
    /// True if rows were copied again, because the original has changed.
    package let hasChanged: Bool

    /// False if the original kept changing; the copy is unfinished then.
    package var isComplete: Bool { tables.allSatisfy(\.isEqual) }
  }

  package struct Table: Sendable {
    package let name: String
    /// The number and the checksum of the rows of the original.
    package let rows: Int
    package let checksum: String
    /// True if those of the copy are the same.
    package let isEqual: Bool
  }

  private let original: Side
  private let copy: Side
  private let limit: CopyLimit
  private let report: @Sendable (Progress) -> Void

  /// The most comparisons if the original changes.
  private static let maxComparisons = 3

  package init(
    from original: Side, to copy: Side, atMost limit: CopyLimit = CopyLimit(),
    report: @escaping @Sendable (Progress) -> Void = { _ in }
  ) {
    self.original = original
    self.copy = copy
    self.limit = limit
    self.report = report
  }

  /// - Throws: ``SourceError`` with code `invalidRequest` if there is nothing to copy, or the other store has
  ///   other data; `storage` or `busy`.
  package func run() async throws(SourceError) -> Result {
    let (found, total) = try await begin()
    guard var mark = found else { return try await verified(total) }
    let copied = try await copy.store.rowCounts()?.reduce(0, +) ?? 0
    var progress = Progress(done: copied, total: total)
    let committed = try await fill(from: &mark, &progress)
    progress.isComparing = true
    var comparisons = 0
    while true {
      let (tables, isEqual) = try await compare(committed, &progress)
      comparisons += 1
      if isEqual {
        guard try await copy.store.endCopy(committed) else { throw isTaken }
      }
      if isEqual || comparisons == Self.maxComparisons {
        return Result(tables: tables, hasChanged: comparisons > 1)
      }
    }
  }

  /// The result of a copy that was finished before, if nothing has changed since.
  private func verified(_ total: Int) async throws(SourceError) -> Result {
    var progress = Progress(done: 0, total: total)
    progress.isComparing = true
    let (tables, isEqual) = try await compare(nil, &progress)
    guard isEqual else {
      throw SourceError(
        .invalidRequest, "the store at \(copy.name) is not empty",
        remedy: "name a new file or an empty database")
    }
    return Result(tables: tables, hasChanged: false)
  }

  /// The place where an earlier run has ended, or the beginning, and the number of all rows; no place if the copy has
  /// data of its own: that of the same, finished copy, or others.
  private func begin() async throws(SourceError) -> (mark: CopyMark?, total: Int) {
    guard let counts = try await original.store.rowCounts() else {
      throw SourceError(
        .invalidRequest, "there is no store at \(original.name)",
        remedy: "name an existing store")
    }
    if let mark = try await original.store.copyMark() {
      throw unfinished(original.name, mark, remedy: "finish that copy first")
    }
    let total = counts.reduce(0, +)
    if let text = try await copy.store.copyMark() {
      guard let mark = CopyMark(text), mark.origin == original.name else {
        throw unfinished(copy.name, text, remedy: "finish that copy, or name another store")
      }
      return (mark, total)
    }
    let mark = CopyMark(of: original.name)
    return (try await copy.store.beginCopy(mark.text) ? mark : nil, total)
  }

  private func unfinished(_ name: String, _ mark: String, remedy: Remedy) -> SourceError {
    let origin = CopyMark(mark).map { " of \($0.origin)" } ?? ""
    return SourceError(
      .invalidRequest, "the store at \(name) is an unfinished copy\(origin)", remedy: remedy)
  }

  private var isTaken: SourceError {
    SourceError(
      .busy, "another process copies into \(copy.name)", remedy: "wait until it has ended")
  }

  /// Copies the rows after the mark, and returns the text of the last mark written.
  private func fill(
    from mark: inout CopyMark, _ progress: inout Progress
  ) async throws(SourceError) -> String {
    var committed = mark.text
    for table in mark.tables {
      if mark.table != table.name {
        mark.table = table.name
        mark.last = nil
      }
      while true {
        report(progress)
        let start = mark.last
        let rows = try await original.store.rows(
          of: table, in: CopyRange(after: start), atMost: limit)
        guard let last = rows.last else { break }
        mark.last = table.key(of: last)
        let range = CopyRange(after: start, through: mark.last)
        let isMoved = try await copy.store.replace(
          range, of: table, by: rows, moving: committed, to: mark.text)
        guard isMoved else { throw isTaken }
        committed = mark.text
        progress.add(rows)
      }
    }
    return committed
  }

  /// Compares all rows, and copies those that differ; without a mark it ends at the first of them.
  private func compare(
    _ mark: String?, _ progress: inout Progress
  ) async throws(SourceError) -> (tables: [Table], isEqual: Bool) {
    var tables: [Table] = []
    var isEqual = true
    progress.done = 0
    for table in CopyTable.all {
      var (originals, copies) = (CopyChecksum(), CopyChecksum())
      var start: CopyRow?
      repeat {
        report(progress)
        let rows = try await original.store.rows(
          of: table, in: CopyRange(after: start), atMost: limit)
        let range = CopyRange(after: start, through: rows.last.map(table.key))
        // As many as there should be, and one more. A store may encode a text in twice as many bytes.
        let size = rows.joined().reduce(0) { $0 + $1.size }
        let found = try await copy.store.rows(
          of: table, in: range, atMost: CopyLimit(rows: rows.count + 1, bytes: 2 * size + 1))
        originals.add(rows)
        copies.add(found)
        if found != rows {
          isEqual = false
          guard let mark else { return (tables, false) }
          let isMoved = try await copy.store.replace(
            range, of: table, by: rows, moving: mark, to: mark)
          guard isMoved else { throw isTaken }
        }
        start = range.end
        progress.add(rows)
      } while start != nil
      tables.append(
        Table(
          name: table.name, rows: originals.count, checksum: originals.text,
          isEqual: originals == copies))
    }
    return (tables, isEqual)
  }
}
