import AggregatorCore
import AggregatorStore

/// A query of people, which may be hostile, on a connection of its own.
///
/// It is the body of a cursor, so it is one `SELECT`, in a transaction that cannot write and is never committed.
/// That keeps a role within its rights, but no superuser: `set_config` undoes `SET ROLE`, and functions start
/// programs and write files. So it runs only for roles that cannot do that.
struct PostgresCursor: ~Copyable {
  /// A column, with the object ID of its type.
  typealias Column = (name: String, type: UInt32)

  let columns: [Column]

  /// The names of the views that the query reads.
  let views: [String]

  /// A request to stop the query, for a process that ends.
  var cancellation: PostgresCancellation? { connection.cancellation }

  private var connection: PostgresConnection
  private var isOver: Bool
  private var pageRows = 50
  /// The rows of `EXPLAIN`, which is no cursor, until they are read.
  private var plan: [[String?]]?

  /// Of a row as text: a fetched row is in memory as a whole.
  static let maxRowSize = 1 << 20

  /// A page has at most this many rows, and about this many bytes.
  private static let maxPageRows = 200
  private static let pageBytes = 256 << 10

  private static let name = "aggregator_query"
  private static let declare = "DECLARE \(name) NO SCROLL CURSOR FOR "

  /// Compiles a query, without the columns of the name `hidden` unless it has no others.
  ///
  /// - Throws: ``PostgresFailure``, whose position is that in the text.
  static func open(
    _ query: PostgresStatement, at address: PostgresAddress, within time: Duration,
    hiding hidden: String? = nil
  ) throws(PostgresFailure) -> PostgresCursor {
    let start = ContinuousClock.now
    do throws(SourceError) { try Libpq.load() } catch {
      throw PostgresFailure(.unsuitable(remedy: error.remedy?.text ?? ""), error.message)
    }
    var connection = try PostgresConnection.open(address, within: time)
    connection.deadline = start + time
    let explained = query.explained
    let select = explained ?? query
    var found: (columns: [Column], views: [String])
    var plan: [[String?]]?
    do throws(PostgresFailure) {
      try connection.beginQuery()
      found = try connection.examine(
        PostgresStatement(declare + select.sql, select.values), name)
      let count = found.columns.count
      let shown = found.columns.indices.filter { found.columns[$0].name != hidden }
      if !shown.isEmpty { found.columns = shown.map { found.columns[$0] } }
      if explained != nil {
        let result = try connection.rows(
          PostgresStatement("EXPLAIN \(select.sql)", select.values, hasTextResult: true))
        found.columns = result.columns
        plan = result.map { [$0.name(0)] }
      } else if count > 0 {
        let text = limited(query.sql, count, shown: shown.isEmpty ? Array(0..<count) : shown)
        try connection.declare(PostgresStatement(declare + text, query.values))
      }
    } catch {
      if error.hasLeftServerWorking { connection.cancellation?.sendBriefly() }
      throw error.moved(by: declare.count)
    }
    return PostgresCursor(
      columns: found.columns, views: found.views, connection: connection,
      isOver: found.columns.isEmpty, plan: plan)
  }

  /// The query, a complete statement of `count` columns, with the size of each row as its first column, the columns
  /// that are `shown`, and without the values of rows that are too large.
  private static func limited(_ text: String, _ count: Int, shown: [Int]) -> String {
    let names = (0..<count).map { "c\($0)" }
    let values = shown.map { "CASE WHEN s.size <= \(maxRowSize) THEN q.c\($0) END" }
    let row =
      shown.count == count ? "q" : "ROW(\(shown.map { "q.c\($0)" }.joined(separator: ", ")))"
    var text = text[...]
    while let last = text.last, last == ";" || last.isWhitespace { text.removeLast() }
    return """
      SELECT s.size, \(values.joined(separator: ", ")) FROM (
      \(text)
      ) AS q (\(names.joined(separator: ", "))),
      LATERAL (SELECT octet_length(\(row)::text) AS size OFFSET 0) AS s
      """
  }

  /// The texts of the next rows; `nil` after the last.
  ///
  /// - Throws: ``PostgresFailure``, of kind `tooLarge` for a row that is.
  mutating func page(within time: Duration) throws(PostgresFailure) -> [[String?]]? {
    guard !isOver else { return nil }
    guard time > .zero else { throw PostgresFailure(.timedOut, "timed out") }
    connection.deadline = .now + time
    do throws(PostgresFailure) {
      connection.enqueueTimeout(time)
      if let plan {
        isOver = true
        try connection.endQuery()
        return plan
      }
      let result = try connection.rows(
        PostgresStatement("FETCH FORWARD \(pageRows) FROM \(Self.name)", hasTextResult: true))
      var size = 0
      let rows = try result.texts(countingInto: &size)
      if rows.count < pageRows {
        isOver = true
        try connection.endQuery()
      } else {
        pageRows = max(1, min(Self.maxPageRows, Self.pageBytes / max(1, size / rows.count)))
      }
      return rows.isEmpty ? nil : rows
    } catch {
      isOver = true
      // The server would go on until it has a row to send.
      if error.hasLeftServerWorking { connection.cancellation?.sendBriefly() }
      throw error
    }
  }
}

extension PostgresStatement {
  /// The query after `EXPLAIN`, in its place; `nil` for another statement.
  ///
  /// `ANALYZE`, which would run it, is no part of a query, and so a mistake.
  fileprivate var explained: PostgresStatement? {
    sql.afterExplain.map { query in
      let count = sql[..<query.startIndex].unicodeScalars.count
      return PostgresStatement(String(repeating: " ", count: count) + query, values)
    }
  }
}

extension String {
  /// The text after `EXPLAIN`, or `EXPLAIN QUERY PLAN` as in SQLite, at its beginning; `nil` without it.
  var afterExplain: Substring? {
    prefixMatch(of: /(?i)\s*EXPLAIN\s+(?:QUERY\s+PLAN\s+)?/).map { self[$0.range.upperBound...] }
  }
}

extension PostgresResult {
  /// The rows of a page: the first column is their size.
  fileprivate func texts(countingInto size: inout Int) throws(PostgresFailure) -> [[String?]] {
    var rows: [[String?]] = []
    for row in self {
      let length = Int(row.name(0)) ?? 0
      guard length <= PostgresCursor.maxRowSize else {
        throw PostgresFailure(.tooLarge, "a row of the result is larger than 1 MB")
      }
      size += length
      rows.append((1..<columns.count).map { row.isNull($0) ? nil : row.name($0) })
    }
    return rows
  }
}

extension PostgresFailure {
  fileprivate var hasLeftServerWorking: Bool { kind == .timedOut || kind == .cancelled }

  /// This failure with the position in the last part of a statement.
  fileprivate func moved(by count: Int) -> PostgresFailure {
    var failure = self
    failure.position = position.map { max(1, $0 - count) }
    return failure
  }
}

extension PostgresConnection {
  fileprivate mutating func enqueueTimeout(_ time: Duration) {
    let milliseconds = max(1, Int64(min(time, .seconds(86400)) / .milliseconds(1)))
    enqueue("SELECT set_config('statement_timeout', $1, true)", .text("\(milliseconds)"))
  }

  /// Begins a transaction for a query of a role that has no rights beyond its database.
  fileprivate mutating func beginQuery() throws(PostgresFailure) {
    beginSnapshot()
    enqueueTimeout(deadline - .now)
    enqueue(
      """
      SELECT set_config(name, value, true) FROM (VALUES
        ('search_path', '\(PostgresSchema.viewSchema)'), ('lock_timeout', '5000'),
        ('idle_in_transaction_session_timeout', '600000'), ('datestyle', 'ISO'),
        ('intervalstyle', 'postgres'), ('bytea_output', 'hex'), ('extra_float_digits', '1'),
        ('standard_conforming_strings', 'on')) settings (name, value)
      """)
    // So that a query ends with its client, where the server can notice that.
    enqueue(
      """
      SELECT set_config(name, '1000', true) FROM pg_catalog.pg_settings
      WHERE name = 'client_connection_check_interval' AND version() LIKE '%linux%'
      """)
    // Membership counts, inherited or not: a query may change its role.
    let roles = try rows(
      """
      SELECT session_user::text, u.rolsuper, (
        SELECT r.rolname::text FROM pg_catalog.pg_roles r
        WHERE (r.rolsuper OR r.rolreplication OR r.rolname IN (
            'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
          AND pg_has_role(session_user, r.oid, 'MEMBER')
        ORDER BY r.rolname <> session_user, r.rolname LIMIT 1)
      FROM pg_catalog.pg_roles u WHERE u.rolname = session_user
      """)
    guard let row = roles.first else { throw PostgresFailure(.broken, "no answer") }
    guard !row.isNull(2) else { return }
    let (user, role) = (row.name(0), row.name(2))
    let words =
      row.bool(1)
      ? "a superuser" : user == role ? "a replication role" : "a member of \(role)"
    throw PostgresFailure(.unsafe, "\(user) is \(words)")
  }

  /// The columns of a query, and the names of the views that it reads.
  fileprivate mutating func examine(
    _ declaration: PostgresStatement, _ cursor: String
  ) throws(PostgresFailure) -> (columns: [PostgresCursor.Column], views: [String]) {
    enqueue(declaration)
    let row = enqueue("FETCH FORWARD 0 FROM \(cursor)")
    // Compiling a query locks what it reads.
    let locks = enqueue(
      """
      SELECT c.relname FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation
      WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND c.relkind = 'v'
        AND c.relnamespace = to_regnamespace($1) ORDER BY c.relname
      """, .text(PostgresSchema.viewSchema))
    enqueue("CLOSE \(cursor)")
    let results = try run()
    return (results[row].columns, results[locks].map { $0.name(0) })
  }

  /// Declares the cursor of a query that was examined, so that a mistake is not in it.
  fileprivate mutating func declare(_ declaration: PostgresStatement) throws(PostgresFailure) {
    enqueue(declaration)
    do throws(PostgresFailure) { _ = try run() } catch {
      guard error.state == "42601" else { throw error }
      throw PostgresFailure(.refused(state: "42601"), "a comment follows the semicolon: remove it")
    }
  }

  /// Undoes all that functions of the query have done; locks of the session would stay in a connection pool.
  fileprivate mutating func endQuery() throws(PostgresFailure) {
    enqueue("ROLLBACK")
    enqueue("SELECT pg_advisory_unlock_all()")
    _ = try run()
  }
}
