import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

/// SQLite's authorizer and progress handler for queries: permissions at compile time, the time
/// limit at run time.
///
/// Queries may read the views of the sources, attached files and table-valued JSON functions, and call functions
/// without side effects (https://sqlite.org/c3ref/set_authorizer.html).
final class SQLAuthorizer {
  enum Refusal {
    case table(String)
    case function(String)
    /// The error of a regular expression.
    case pattern(SourceError)
    /// A statement other than SELECT.
    case action
  }

  private(set) var refusal: Refusal?

  private var deadline = ContinuousClock.now

  /// The names of the views, in their order.
  private var names: [String] = []
  private var views: Set<String> = []
  /// The index of each inner view.
  private var inner: [String: Int] = [:]
  private var innerRead: Set<Int> = []
  private var tables: Set<String> = []
  /// The schemas of attached files.
  private var schemas: Set<String> = []

  /// Functions with side effects; some exist only in other builds of SQLite.
  static let functions: Set<String> = [
    "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "sqlite_log",
  ]

  /// Tables of every connection that expose its internals.
  private static let builtIn: Set<String> = ["dbstat", "fts3tokenize", "sqlite_stmt"]

  private static let jsonTables: Set<String> = ["json_each", "json_tree"]

  /// The number of virtual machine steps between checks of the deadline: far less than 1 ms.
  private static let steps: Int32 = 1000

  /// Installs the time limit; this object must outlive all use of the connection.
  init(limiting connection: borrowing Connection, to time: Duration) {
    deadline = .now + time
    sqlite3_progress_handler(
      connection.database, Self.steps,
      { context in
        guard let context else { return 1 }
        return Unmanaged<SQLAuthorizer>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Installs the permissions: only `inner`, the views below `views`, may read `tables`, all those of the
  /// store.
  func restrict(
    _ connection: borrowing Connection, to views: [String], inner: [String], tables: [String],
    and attached: [SQLAttachment]
  ) {
    schemas = Set(attached.map { $0.schema.lowercased() })
    self.views = Set((views + attached.compactMap(\.table)).map { $0.lowercased() })
    self.inner = Dictionary(zip(inner, inner.indices)) { first, _ in first }
    names = views
    self.tables = Set(tables.map { $0.lowercased() }).subtracting(self.views)
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_set_authorizer(
      connection.database,
      { context, action, first, second, schema, reader in
        guard let context else { return SQLITE_DENY }
        let text = { (pointer: UnsafePointer<CChar>?) in pointer.map { String(cString: $0) } }
        return Unmanaged<SQLAuthorizer>.fromOpaque(context).takeUnretainedValue()
          .allows(action, text(first), text(second), in: text(schema), reader: text(reader))
          ? SQLITE_OK : SQLITE_DENY
      }, context)
  }

  /// The views that the query reads: not its own tables with the name of one.
  var viewsRead: [String] { innerRead.sorted().map { names[$0] } }

  func allow(_ time: Duration) { deadline = .now + time }

  /// True if the query has to end.
  var isOver: Bool { Task.isCancelled || ContinuousClock.now >= deadline }

  private func allows(
    _ action: Int32, _ first: String?, _ second: String?, in schema: String?, reader: String?
  ) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE: return true
    case SQLITE_FUNCTION:
      let name = second?.lowercased() ?? ""
      return !Self.functions.contains(name) || refuse(.function(name))
    case SQLITE_READ:
      let table = first ?? ""
      return mayRead(
        table.lowercased(), in: schema?.lowercased() ?? "", isCounting: second?.isEmpty ?? true,
        reader: reader) || refuse(.table(table))
    default: return refuse(.action)
    }
  }

  /// If no column is read (`isCounting`), SQLite also asks about a query's own `WITH` tables;
  /// `table` is in lower case, and `reader` is a view, or the query's own name for a subquery.
  private func mayRead(
    _ table: String, in schema: String, isCounting: Bool, reader: String?
  ) -> Bool {
    if let index = inner[table] ?? reader.flatMap({ inner[$0] }) {
      innerRead.insert(index)
      return true
    }
    // A table of the store may have the name of a view. Counting, SQLite passes the schema as typed.
    let isView = views.contains(table) && (schema == "temp" || isCounting && schema.isEmpty)
    if isView || Self.jsonTables.contains(table) { return true }
    let isSystem =
      table.hasPrefix("sqlite_") || table.hasPrefix("pragma_") || Self.builtIn.contains(table)
    if schemas.contains(schema) { return !isSystem }
    return isCounting && !isSystem && !tables.contains(table)
  }

  /// Records the first refusal, and returns `false`.
  @discardableResult
  func refuse(_ operation: Refusal) -> Bool {
    refusal = refusal ?? operation
    return false
  }
}
