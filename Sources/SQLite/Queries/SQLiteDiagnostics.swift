import AggregatorCore
import AggregatorStore
import CAggregatorSQLite

/// The failures of SQLite as errors of a query.
struct SQLiteDiagnostics {
  var query: SQLDiagnostics
  /// That of the store's file.
  let path: String?

  /// The failure of a statement that is not the query's.
  func error(ofStore failure: SQLiteFailure) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT, SQLITE_NOMEM: error(failure)
    default: failure.error(of: path ?? "the query")
    }
  }

  /// The failure of an attached file.
  func error(of failure: SQLiteFailure, attached file: SQLAttachment) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT, SQLITE_NOMEM: error(failure)
    case SQLITE_NOTADB, SQLITE_CORRUPT:
      SQLDiagnostics.error("\(file.path) is damaged: \(failure.words)")
    default: failure.error(of: file.path)
    }
  }

  /// `offset` is in bytes; the code is `invalidRequest`, `timedOut`, `cancelled`, `storage` or `busy`.
  func error(
    _ failure: SQLiteFailure, _ refusal: SQLAuthorizer.Refusal? = nil, at offset: Int? = nil
  ) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT where Task.isCancelled: .cancelled
    case SQLITE_INTERRUPT: SQLDiagnostics.timedOut
    case SQLITE_TOOBIG:
      SQLDiagnostics.error("the query or one of its values is too large (maximum 1 MB per value)")
    case SQLITE_NOMEM: SQLDiagnostics.needsTooMuchMemory
    case _ where refusal != nil: refused(refusal)
    case SQLITE_AUTH, SQLITE_READONLY: query.onlySelect
    case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE: mistake(failure.words, at: offset)
    default: failure.error(of: path ?? "the query")
    }
  }

  private func refused(_ refusal: SQLAuthorizer.Refusal?) -> SourceError {
    switch refusal {
    case .table(let name) where name.lowercased().hasPrefix("sqlite_"):
      query.mistake("access to table \"\(name)\" is not allowed", about: .table(nil))
    // To a query there are no tables of the store.
    case .table(let name): query.mistake("no such table: \(name)", about: .table(name))
    case .function(let name): SQLDiagnostics.error("function \(name)() is not allowed")
    case .pattern(let error): error
    case .action, nil: query.onlySelect
    }
  }

  private func mistake(_ message: String, at offset: Int?) -> SourceError {
    if let name = message.following("no such table: ") {
      return query.mistake(message, about: .table(name.lastNamePart))
    }
    // The file still has the views of sources that have been removed, and trusts none of them.
    if message.hasPrefix("unsafe use of ") {
      return query.mistake("a table of the query belongs to no source any more", about: .table(nil))
    }
    // Every table of a query is a view.
    if message.hasPrefix("cannot modify "), message.hasSuffix(" because it is a view") {
      return query.onlySelect
    }
    // Newer versions of SQLite ask whether a text was meant.
    let column = message.following("no such column: ").map { name in
      name.wholeMatch(of: /"(.*)" - should this be a string literal in single-quotes\?/)
        .map { String($0.1) } ?? name
    }
    let function = message.following("no such function: ").map {
      SQLDiagnostics.Subject.function($0, of: Self.functions)
    }
    return query.mistake(
      column.map { "no such column: \($0)" } ?? message,
      about: column.map(SQLDiagnostics.Subject.column) ?? function,
      after: offset.map { String(decoding: query.text.utf8.prefix($0), as: UTF8.self) })
  }

  /// The names of the functions that queries may call; none if this SQLite does not list them.
  private static var functions: [String] {
    do throws(SQLiteFailure) {
      // The connection of the query may not read the list.
      var connection = try Connection(":memory:", busyTimeout: .zero)
      let names = try connection.rows("SELECT DISTINCT name FROM pragma_function_list") {
        $0.text(0) ?? ""
      }
      return names.filter { !SQLAuthorizer.functions.contains($0) }
    } catch { return [] }
  }
}

extension String {
  fileprivate func following(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
