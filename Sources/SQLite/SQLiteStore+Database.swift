package import AggregatorCore
import AggregatorFiles
package import AggregatorStore

extension SQLiteStore: DatabaseStore {
  package func facts() async throws(SourceError) -> StoreFacts {
    let sizes = ["", "-wal"].compactMap { OpenFile.size(of: path + $0) }
    var facts = StoreFacts(location: path, bytes: sizes.isEmpty ? nil : sizes.reduce(0, +))
    facts.movedFiles = file.movedFiles
    return facts
  }

  package var databaseName: String { "SQLite" }

  package var joinsOtherTables: Bool { true }

  package func columns(of view: SQLView) -> [String] { view.columns }

  package func query(
    _ statement: SQLStatement, over views: [SQLView], and attached: [SQLAttachment],
    within time: Duration
  ) async throws(SourceError) -> any SQLResult {
    let query = SQLiteQuery()
    try await query.begin(statement, over: views, and: attached, in: file, within: time)
    return query
  }
}
