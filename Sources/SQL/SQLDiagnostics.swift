package import AggregatorKit
import CAggregatorSQLite

package struct SQLDiagnostics {
  private let text: String
  private let views: [SQLView]
  private let path: String?

  /// The tables of attached files.
  package var attached: [SQLTable] = []

  init(_ text: String, views: [SQLView], path: String?) {
    self.text = text
    self.views = views
    self.path = path
  }

  static let onlySelect = SourceError(
    .invalidRequest, "only SELECT is allowed",
    remedy: "the database is read-only; use a single SELECT")

  static let timedOut = SourceError(
    .timedOut, "the query timed out", remedy: "allow more time with --timeout")

  package func error(_ message: String, remedy: Remedy? = nil, suggesting word: String? = nil)
    -> SourceError
  {
    SourceError(.invalidRequest, message, remedy: remedy, cause: word.map { SQLTypo(nearest: $0) })
  }

  /// The failure of a statement that is not the query's.
  package func error(ofStore failure: SQLiteFailure) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT, SQLITE_NOMEM: error(failure)
    default: failure.error(of: path ?? "the query")
    }
  }

  /// The failure of an attached file.
  package func error(of failure: SQLiteFailure, attached file: SQLAttachment) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT, SQLITE_NOMEM: error(failure)
    case SQLITE_NOTADB, SQLITE_CORRUPT: error("\(file.path) is damaged: \(failure.words)")
    default: failure.error(of: file.path)
    }
  }

  /// `offset` is in bytes; the code is `invalidRequest`, `timedOut`, `cancelled`, `storage` or `busy`.
  package func error(
    _ failure: SQLiteFailure, _ refusal: SQLAuthorizer.Refusal? = nil, at offset: Int? = nil
  ) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT where Task.isCancelled: return .cancelled
    case SQLITE_INTERRUPT: return Self.timedOut
    case SQLITE_TOOBIG:
      return error("the query or one of its values is too large (maximum 1 MB per value)")
    case SQLITE_NOMEM: return error("the query needs too much memory")
    case _ where refusal != nil: return refused(refusal)
    case SQLITE_AUTH, SQLITE_READONLY: return Self.onlySelect
    case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE: return mistake(failure.words, at: offset)
    default: return failure.error(of: path ?? "the query")
    }
  }

  private func refused(_ refusal: SQLAuthorizer.Refusal?) -> SourceError {
    switch refusal {
    case .table(let name): error("access to table \"\(name)\" is not allowed", remedy: tables)
    case .function(let name): error("function \(name)() is not allowed")
    case .action, nil: Self.onlySelect
    }
  }

  private func mistake(_ message: String, at offset: Int?) -> SourceError {
    if let name = message.following("no such table: ") {
      return error(
        message, remedy: tables, suggesting: nearest(to: name.lastPart, in: tableNames))
    }
    // Every table of a query is a view.
    if message.hasPrefix("cannot modify "), message.hasSuffix(" because it is a view") {
      return Self.onlySelect
    }
    let position = offset.map { " (character \(character(at: $0)))" } ?? ""
    guard let name = message.following("no such column: ") else {
      return error(message + position)
    }
    // A column of that name in another table is no correction.
    let columns = named.flatMap(\.columns).filter { $0 != name.lastPart }
    return error(message + position, suggesting: nearest(to: name.lastPart, in: columns))
  }

  /// The views whose names occur in the query.
  private var named: [SQLView] {
    let text = text.lowercased()
    return views.filter { text.contains($0.name.lowercased()) }
  }

  private var tables: Remedy {
    Remedy("available tables: \(tableNames.joined(separator: ", "))")
  }

  private var tableNames: [String] { views.map(\.name) + attached.map(\.text) }

  /// The number of the character at a byte, counted from 1.
  private func character(at offset: Int) -> Int {
    String(decoding: text.utf8.prefix(offset), as: UTF8.self).count + 1
  }
}

/// The known name nearest to a misspelled one in a query.
package struct SQLTypo: Error {
  package let nearest: String
}

extension String {
  fileprivate func following(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }

  /// `name` of `heroes.name`.
  fileprivate var lastPart: String { split(separator: ".").last.map(String.init) ?? self }
}
