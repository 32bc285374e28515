package import AggregatorCore
package import AggregatorStore

/// A running query in PostgreSQL, read one page of rows at a time on a thread of its own.
actor PostgresQuery: SQLResult {
  private(set) var columns: [String] = []
  private(set) var sources: [String] = []
  /// Those of queries are limited by their rows.
  let tooLarge: [String: Int] = [:]
  let attachedTables: [SQLTable] = []
  private(set) var cancellation: (@Sendable () -> Void)?

  private var types: [UInt32] = []
  private var cursor: PostgresCursor?
  private let diagnostics: PostgresDiagnostics
  private let executor = QueueExecutor("store.query")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  fileprivate init(_ diagnostics: PostgresDiagnostics) { self.diagnostics = diagnostics }

  fileprivate func begin(
    _ statement: PostgresStatement, over views: [SQLView], at address: PostgresAddress,
    within time: Duration
  ) throws(PostgresFailure) {
    // A view has it, but `*` leaves it out, as in SQLite.
    let isHidden =
      views.allSatisfy { $0.source.hasRow } && !statement.sql.lowercased().contains(SourceView.row)
    let made = try PostgresCursor.open(
      statement, at: address, within: time, hiding: isHidden ? SourceView.row : nil)
    let read = views.filter { made.views.contains($0.source.postgresName) }
    sources = read.sources(of: read.map(\.name))
    // Names that are not quoted are in lower case in PostgreSQL; the fields of sources keep theirs.
    let names = Dictionary(
      read.flatMap(\.columns).map { ($0.foldedInPostgres, $0) },
      uniquingKeysWith: { first, _ in first })
    guard !made.columns.isEmpty else {
      throw PostgresFailure(.refused(state: "42601"), "the query has no columns")
    }
    columns = made.columns.map { names[$0.name] ?? $0.name }
    types = made.columns.map(\.type)
    if let request = made.cancellation { cancellation = { request.send() } }
    cursor = consume made
  }

  func page(within time: Duration) throws(SourceError) -> [[SQLValue]]? {
    guard !Task.isCancelled else { throw .cancelled }
    do throws(PostgresFailure) {
      return try cursor?.page(within: time)?.map { row in
        zip(row, types).map { SQLValue($0, ofType: $1) }
      }
    } catch {
      throw diagnostics.error(error)
    }
  }
}

extension PostgresStore {
  package func query(
    _ statement: SQLStatement, over views: [SQLView], and attached: [SQLAttachment],
    within time: Duration
  ) async throws(SourceError) -> any SQLResult {
    try await query(statement, over: views, at: queryAddress(), within: time)
  }

  /// Compiles a query as the role of `address`; `nil` for that of the store.
  func query(
    _ statement: SQLStatement, over views: [SQLView], at address: PostgresAddress?,
    within time: Duration
  ) async throws(SourceError) -> PostgresQuery {
    let address = address ?? self.address
    let diagnostics = PostgresDiagnostics(
      query: SQLDiagnostics(statement, views: views), address: address)
    try diagnostics.query.check()
    let numbered = try statement.numbered()
    func begin() async throws(PostgresFailure) -> PostgresQuery {
      let query = PostgresQuery(diagnostics)
      try await query.begin(numbered, over: views, at: address, within: time)
      return query
    }
    do throws(PostgresFailure) {
      do throws(PostgresFailure) { return try await begin() } catch {
        // The views are made by the next write; this may be before the first, or after an upgrade.
        let isUnknown = ["42P01", "42703"].contains(error.state)
        // This fails if the role cannot write.
        guard isUnknown, (try? await updateViews()) != nil else { throw error }
        return try await begin()
      }
    } catch {
      throw diagnostics.error(error)
    }
  }
}

extension SQLValue {
  /// The value of a text that the server has made of a value of this type (`pg_type.dat` of PostgreSQL).
  init(_ text: String?, ofType type: UInt32) {
    guard let text else {
      self = .null
      return
    }
    let value: SQLValue? =
      switch type {
      case 16: .bool(text == "t")
      // bigint, smallint, integer and oid.
      case 20, 21, 23, 26: Int(text).map(SQLValue.integer)
      // real and double precision; JSON has neither infinity nor NaN.
      case 700, 701: Double(text).flatMap { $0.isFinite ? .number($0) : nil }
      // numeric, as far as no digit is lost.
      case 1700: Int(text).map(SQLValue.integer) ?? Self.number(ofDigits: text)
      // bytea, as hexadecimal digits.
      case 17: .text(text.dropFirst(2).uppercased())
      default: nil
      }
    self = value ?? .text(text)
  }

  private static func number(ofDigits text: String) -> SQLValue? {
    guard text.count(where: \.isNumber) <= 15, let number = Double(text), number.isFinite else {
      return nil
    }
    return .number(number)
  }
}
