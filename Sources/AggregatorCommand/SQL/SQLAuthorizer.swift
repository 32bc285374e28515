import AggregatorKit
import CAggregatorSQLite

/// What a query may do, and for how long: SQLite asks it while it compiles and while it runs.
///
/// It allows reading the views of the sources, what JSON has in it, and calling functions that only
/// compute (https://sqlite.org/c3ref/set_authorizer.html).
final class SQLAuthorizer {
  /// Something that a query may not do.
  enum Refusal {
    /// Reading this table.
    case table(String)
    /// Calling this function.
    case function(String)
    /// Anything that does not read.
    case action
  }

  /// What was refused first.
  private(set) var refusal: Refusal?

  /// When it must be over.
  private var deadline = ContinuousClock.now

  private let views: Set<String>
  private let inner: Set<String>
  private let tables: Set<String>

  /// Functions that reach beyond the query; some belong to other builds of SQLite.
  private static let functions: Set<String> = [
    "load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "sqlite_log",
  ]

  /// Tables that every connection has, and that tell about it.
  private static let builtIn: Set<String> = ["dbstat", "fts3tokenize", "sqlite_stmt"]

  /// Functions of JSON that are tables.
  private static let lists: Set<String> = ["json_each", "json_tree"]

  /// How many of SQLite's steps there are between two looks at the clock: far less than 1 ms.
  private static let steps: Int32 = 1000

  /// A guard.
  ///
  /// - Parameters:
  ///   - views: The tables that queries see.
  ///   - inner: The views under them, which alone may read the tables of the store.
  ///   - tables: All tables of the store.
  init(views: [String], inner: [String], tables: [String]) {
    self.views = Set(views.map { $0.lowercased() })
    self.inner = Set(inner)
    self.tables = Set(tables.map { $0.lowercased() }).subtracting(self.views)
  }

  /// Guards a connection from now on; the guard must live as long as what it does.
  func watch(_ connection: borrowing Connection) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_set_authorizer(
      connection.database,
      { context, action, first, second, _, reader in
        guard let context else { return SQLITE_DENY }
        let text = { (pointer: UnsafePointer<CChar>?) in pointer.map { String(cString: $0) } }
        return Unmanaged<SQLAuthorizer>.fromOpaque(context).takeUnretainedValue()
          .allows(action, text(first), text(second), reader: text(reader))
          ? SQLITE_OK : SQLITE_DENY
      }, context)
    sqlite3_progress_handler(
      connection.database, Self.steps,
      { context in
        guard let context else { return 1 }
        let this = Unmanaged<SQLAuthorizer>.fromOpaque(context).takeUnretainedValue()
        return Task.isCancelled || ContinuousClock.now >= this.deadline ? 1 : 0
      }, context)
  }

  /// Gives it some time, from now on.
  func allow(_ time: Duration) { deadline = .now + time }

  private func allows(
    _ action: Int32, _ first: String?, _ second: String?, reader: String?
  ) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE: return true
    case SQLITE_FUNCTION:
      let name = second?.lowercased() ?? ""
      return !Self.functions.contains(name) || refuse(.function(name))
    case SQLITE_READ:
      let table = first ?? ""
      return mayRead(table.lowercased(), isCounting: second?.isEmpty ?? true, reader: reader)
        || refuse(.table(table))
    default: return refuse(.action)
    }
  }

  /// Whether a table may be read.
  ///
  /// - Parameters:
  ///   - table: Its name in lower case.
  ///   - isCounting: Whether none of its columns is read. That is asked of a query's own `WITH` tables
  ///     too, and only then.
  ///   - reader: The view, or what the query calls a view, that reads it.
  /// - Returns: Whether it may.
  private func mayRead(_ table: String, isCounting: Bool, reader: String?) -> Bool {
    if views.contains(table) || inner.contains(table) || Self.lists.contains(table) { return true }
    if let reader, inner.contains(reader) { return true }
    let isSystem =
      table.hasPrefix("sqlite_") || table.hasPrefix("pragma_") || Self.builtIn.contains(table)
    return isCounting && !isSystem && !tables.contains(table)
  }

  /// Notes what was refused.
  ///
  /// - Returns: `false`.
  private func refuse(_ what: Refusal) -> Bool {
    refusal = refusal ?? what
    return false
  }
}
