package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import Synchronization

/// Queries in SQL of the pages and the API, with the limits of the command `sql`.
package final class ServedSQL: Sendable {
  private let state: Mutex<State>
  private let limits: Limits
  private let running = Mutex(0)

  private struct State {
    var plugins: [any Plugin]
    var environment: PluginEnvironment
  }

  package struct Limits: Sendable {
    /// The time of a query, of a page and of the API.
    package var time = SQLRun.defaultTime
    /// The time for counting the rows of all tables of a page.
    package var counting = Duration.milliseconds(300)
    /// The most queries at once.
    package var queries = 4
    /// The most bytes of a document, which is made before it is sent.
    package var documentBytes = 64 << 20
    package init() {}
  }

  /// The most characters of a query in the API: percent-encoded, any of that length fits into an address.
  package static let maxLength = 1000
  /// The most characters of a query in a body.
  package static let maxBodyLength = 10_000
  /// The most rows that a client of the API may ask for; it may have more without a limit.
  static let largestLimit = 1_000_000_000
  /// The most rows of a page.
  package static let maxRows = 1000
  /// The most bytes of the rows of a page.
  private static let maxRowBytes = 4 << 20

  package init(
    of plugins: [any Plugin], in environment: PluginEnvironment, _ limits: Limits = Limits()
  ) {
    state = Mutex(State(plugins: plugins, environment: environment))
    self.limits = limits
  }

  /// Answers queries for the records of one more source, in the place of another one of its name.
  ///
  /// - Parameter environment: That of the source, whose store has its scope and those of all others.
  package func add(_ plugin: any Plugin, in environment: PluginEnvironment) {
    state.withLock { state in
      let index = state.plugins.firstIndex { $0.name == plugin.name }
      if let index { state.plugins[index] = plugin } else { state.plugins.append(plugin) }
      state.environment.store = environment.store
    }
  }

  /// Answers no more queries for the records of a source.
  func remove(_ name: String) {
    state.withLock { state in state.plugins.removeAll { $0.name == name } }
  }

  /// False if the store answers no queries, or there is none.
  package var isAvailable: Bool { (try? state.withLock(\.environment).databaseStore()) != nil }

  /// True if queries can call `matches`.
  package var hasMatches: Bool {
    (try? state.withLock(\.environment).databaseStore())?.joinsOtherTables == true
  }

  // MARK: - For people

  /// - Parameter parameters: The values of the parameters of the query, by their names.
  package func answer(
    to text: String, _ parameters: [String: SQLValue] = [:]
  ) async -> Result<SQLAnswer, Problem> {
    let start = ContinuousClock.now
    do {
      return .success(
        try await run(SQLStatement(text, parameters), within: limits.time) { run, time in
          var rows: [[SQLValue]] = []
          var bytes = 0
          while rows.count <= Self.maxRows, bytes <= Self.maxRowBytes,
            let page = try await run.result.page(within: time.left)
          {
            rows += page
            bytes += page.reduce(0) { $0 + $1.reduce(0) { $0 + $1.size } }
          }
          let hasMore = rows.count > Self.maxRows || bytes > Self.maxRowBytes
          return SQLAnswer(
            columns: run.columns, rows: Array(rows.prefix(Self.maxRows)), hasMore: hasMore,
            time: .now - start,
            notes: (run.doubts + run.omissions + run.warnings(on: rows)).map {
              "\($0.source.map { "\($0): " } ?? "")\($0.warning.message)"
            } + run.gaps.map(\.warning.warning.message))
        })
    } catch {
      return .failure(problem(error, within: limits.time))
    }
  }

  /// The tables in the order of their names, with the numbers of their rows as far as those are counted in a short time.
  package func tables() async -> [ServedTable] {
    let state = state.withLock(\.self)
    guard let store = try? state.environment.databaseStore() else { return [] }
    let time = QueryTime(limits.counting)
    var tables: [ServedTable] = []
    let views = state.plugins.flatMap { SQLView.all(of: $0) }
    for view in views.sorted(by: { $0.name < $1.name }) {
      var table = ServedTable(name: view.name, columns: store.columns(of: view))
      let status = try? await state.environment.store?.status(of: view.source.source)
      let stored = status?.records
      if let stored, stored > 0, view.source.list == nil {
        // The store has counted them.
        table.count = stored
      } else if time.left > .zero {
        let rows = try? await run(
          SQLStatement("SELECT count(*) FROM \(table.name.sqlQuoted)"), within: time.left
        ) { run, time in try await run.result.page(within: time.left) }
        if case .integer(let count)? = rows?.first?.first { table.count = count }
      }
      table.isSample = stored == 0 && table.count ?? 0 > 0
      let coverage = try? await state.environment.store?.coverage(of: view.source.source)
      table.isPart = coverage?.isPart == true
      if table.isPart, view.source.list == nil {
        table.total = coverage?.totalOfCached.map { $0 - (status?.hidden ?? 0) }
      }
      tables.append(table)
    }
    return tables
  }

  // MARK: - For programs

  /// Returns the output of the command `sql` as a text, and what it says of itself.
  ///
  /// - Parameter limit: The most rows; the total is unknown if there are more.
  func document(
    of text: String, as format: Format, atMost limit: Int = .max
  ) async throws -> ServedListing {
    do {
      return try await run(SQLStatement(text), within: limits.time) { [limits] run, time in
        var rows = try await run.result.page(within: time.left)
        var writer = format.servedWriter(
          for: Listing(ofQuery: text, run.columns, like: rows ?? []))
        var document = writer.begin()
        var count = 0
        var redacted: [SourceWarning] = []
        while let page = rows, count < limit {
          let shown = page.prefix(limit - count)
          if redacted.isEmpty { redacted = run.warnings(on: Array(shown)) }
          document += writer.append(shown.map { SQLRow(values: $0) })
          guard document.utf8.count <= limits.documentBytes else {
            throw Problem(
              413, "tooLarge", "the result is larger than \(limits.documentBytes.byteCount)",
              hint: "narrow the query, or run it with the command sql")
          }
          count += shown.count
          // The rest of the page, or another one, is more than was asked for.
          if shown.count == page.count { rows = try await run.result.page(within: time.left) }
        }
        let words = "the limit is \(limit.grouped("row")): the query has more"
        let cut = rows == nil ? [] : [SourceWarning(nil, Warning(.stopped, words))]
        let summary = ListingSummary(
          count: count, total: rows == nil ? count : nil, warnings: run.warnings + redacted + cut)
        document += writer.finish(summary)
        return ServedListing(records: [], summary: summary, body: Array(document.utf8))
      }
    } catch {
      throw problem(error, within: limits.time)
    }
  }

  // MARK: - Running

  /// Runs a query, and ends it if the task is cancelled because the client has left.
  @_semantics("optimize.sil.specialize.generic.never")
  private func run<Value: Sendable>(
    _ statement: SQLStatement, within limit: Duration,
    _ read: @Sendable (SQLRun, QueryTime) async throws -> Value
  ) async throws -> Value {
    guard begin() else {
      var problem = Problem(503, "busy", "too many queries are running")
      problem.retryAfter = 1
      throw problem
    }
    defer { running.withLock { $0 -= 1 } }
    let time = QueryTime(limit)
    let state = state.withLock(\.self)
    let run = try await SQLRun(
      statement, of: state.plugins, in: state.environment, within: time)
    let cancel = await run.result.cancellation
    // Also a query with more rows than are read.
    defer { cancel?() }
    return try await withTaskCancellationHandler {
      try await read(run, time)
    } onCancel: {
      cancel?()
    }
  }

  private func begin() -> Bool {
    running.withLock { running in
      guard running < limits.queries else { return false }
      running += 1
      return true
    }
  }

  private func problem(_ error: any Error, within limit: Duration) -> Problem {
    guard let error = error as? SourceError else { return Problem(error) }
    var problem = Problem(error)
    // No schema can say what a database accepts.
    if error.code == .invalidRequest {
      problem = Problem(422, problem.code, problem.message, hint: problem.hint)
    }
    if error.code == .timedOut {
      problem = Problem(
        504, problem.code, "the query took longer than \(limit.text) and was stopped",
        hint: "narrow it, for example with WHERE, or run it with the command sql and --timeout")
    }
    return problem.suggesting((error.cause as? SQLMistake)?.nearest)
  }
}

/// A result as the page shows it.
package struct SQLAnswer: Sendable {
  package let columns: [String]
  package var rows: [[SQLValue]]
  /// True if there are more rows than these.
  package let hasMore: Bool
  package let time: Duration
  /// In what way the answer may be incomplete.
  package var notes: [String] = []
}

package struct ServedTable: Sendable {
  package let name: String
  package let columns: [String]
  /// The number of rows; `nil` if counting would take long.
  package var count: Int?
  /// True if the bundled records stand in, as none are cached.
  package var isSample = false
  /// True if a part of the records of its source is cached.
  package var isPart = false
  /// The number of rows that there would be with the other records; `nil` if it is unknown, or if all are cached.
  package var total: Int?
}

extension String {
  /// This text as a name in SQL, in quotes.
  package var sqlQuoted: String { "\"\(replacing("\"", with: "\"\""))\"" }

  /// This text as a name in SQL, in quotes only where it needs them.
  package var sqlSpelling: String {
    let isPlain = utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    let isName = isPlain && first?.isNumber == false
    return isName && !Self.sqlKeywords.contains(lowercased()) ? self : sqlQuoted
  }

  /// The words that SQLite or PostgreSQL take for something else than a name.
  private static let sqlKeywords: Set<String> = Set(
    """
    abort action add all alter analyse analyze and any array as asc asymmetric attach autoincrement begin between both \
    by cascade case cast check collate collation column commit concurrently conflict constraint create cross current \
    current_catalog current_date current_role current_schema current_time current_timestamp current_user database \
    default deferrable deferred delete desc detach distinct do drop each else end escape except exclusive exists \
    explain fail false fetch for foreign freeze from full glob grant group having if ignore ilike immediate in index \
    indexed initially inner insert instead intersect into is isnull join key lateral leading left like limit localtime \
    localtimestamp match natural no not nothing notnull null of offset on only or order outer over overlaps placing \
    plan pragma primary query raise recursive references regexp reindex release rename replace restrict returning right \
    rollback row savepoint select session_user set similar some symmetric table tablesample temp temporary then to \
    trailing transaction trigger true union unique update user using vacuum values variadic verbose view virtual when \
    where window with without
    """.split(separator: " ").map(String.init))
}
