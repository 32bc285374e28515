import AggregatorKit
import CAggregatorSQLite

struct SQLDiagnostics {
  private let text: String
  private let views: [SQLView]
  private let path: String?

  init(_ text: String, views: [SQLView], path: String?) {
    self.text = text
    self.views = views
    self.path = path
  }

  var onlySelect: SourceError {
    error("only SELECT is allowed", remedy: "the database is read-only; use a single SELECT")
  }

  func error(_ message: String, remedy: Remedy? = nil, meaning word: String? = nil) -> SourceError {
    SourceError(.badUsage, message, remedy: remedy, cause: word.map { SQLTypo(nearest: $0) })
  }

  func mapErrors<Answer: ~Copyable>(
    _ body: () throws(SQLiteFailure) -> Answer
  ) throws(SourceError) -> Answer {
    do { return try body() } catch { throw self.error(error) }
  }

  /// `offset` is in bytes; the code is `badUsage`, `timedOut`, `cancelled`, `storage` or `busy`.
  func error(
    _ failure: SQLiteFailure, _ refusal: SQLAuthorizer.Refusal? = nil, at offset: Int? = nil
  ) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT where Task.isCancelled: return .cancelled
    case SQLITE_INTERRUPT:
      return SourceError(
        .timedOut, "the query timed out", remedy: "allow more time with --timeout")
    case SQLITE_TOOBIG:
      return error("the query or one of its values is too large (maximum 1 MB per value)")
    case SQLITE_NOMEM: return error("the query needs too much memory")
    case _ where refusal != nil: return refused(refusal)
    case SQLITE_AUTH, SQLITE_READONLY: return onlySelect
    case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE: return mistake(failure.words, at: offset)
    default: return failure.error(of: path ?? "the query")
    }
  }

  private func refused(_ refusal: SQLAuthorizer.Refusal?) -> SourceError {
    switch refusal {
    case .table(let name): error("access to table \"\(name)\" is not allowed", remedy: tables)
    case .function(let name): error("function \(name)() is not allowed")
    case .action, nil: onlySelect
    }
  }

  private func mistake(_ message: String, at offset: Int?) -> SourceError {
    if let name = message.following("no such table: ") {
      return error(
        message, remedy: tables, meaning: nearest(to: name.lastPart, in: views.map(\.name)))
    }
    // Every table of a query is a view.
    if message.hasPrefix("cannot modify "), message.hasSuffix(" because it is a view") {
      return onlySelect
    }
    let position = offset.map { " (character \(character(at: $0)))" } ?? ""
    guard let name = message.following("no such column: ") else {
      return error(message + position)
    }
    let near = nearest(to: name.lastPart, in: views.flatMap(\.columns))
    return error(message + position, meaning: near)
  }

  private var tables: Remedy {
    Remedy("available tables: \(views.map(\.name).joined(separator: ", "))")
  }

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
