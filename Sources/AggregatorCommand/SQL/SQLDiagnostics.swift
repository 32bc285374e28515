import AggregatorKit
import CAggregatorSQLite

/// What is wrong with a query, in words.
struct SQLDiagnostics {
  private let text: String
  private let views: [SQLView]
  private let path: String?

  /// - Parameters:
  ///   - text: The query.
  ///   - views: The tables that it sees.
  ///   - path: The store's file.
  init(_ text: String, views: [SQLView], path: String?) {
    self.text = text
    self.views = views
    self.path = path
  }

  /// That a query may only read.
  var onlyReads: SourceError { error("sql only reads", remedy: "write one SELECT") }

  /// That a query makes no sense.
  func error(_ message: String, remedy: Remedy? = nil, meaning word: String? = nil) -> SourceError {
    SourceError(.badUsage, message, remedy: remedy, cause: word.map { SQLTypo(nearest: $0) })
  }

  /// What SQLite has to say against it.
  ///
  /// - Parameters:
  ///   - failure: SQLite's failure.
  ///   - refusal: What was refused while it was compiled.
  ///   - offset: At which byte of the text.
  /// - Returns: An error with code `badUsage`, `timedOut`, `cancelled`, `storage` or `busy`.
  func error(
    _ failure: SQLiteFailure, _ refusal: SQLAuthorizer.Refusal? = nil, at offset: Int? = nil
  ) -> SourceError {
    switch failure.primary {
    case SQLITE_INTERRUPT where Task.isCancelled: return .cancelled
    case SQLITE_INTERRUPT:
      return SourceError(
        .timedOut, "the query took too long", remedy: "give it more time with --timeout")
    case SQLITE_TOOBIG:
      return error("the query, or a value in it, is too large: a value has at most 1 MB")
    case SQLITE_NOMEM: return error("the query needs too much memory")
    case _ where refusal != nil: return refused(refusal)
    case SQLITE_AUTH, SQLITE_READONLY: return onlyReads
    case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE: return mistake(failure.words, at: offset)
    default: return failure.error(of: path ?? "the query")
    }
  }

  private func refused(_ refusal: SQLAuthorizer.Refusal?) -> SourceError {
    switch refusal {
    case .table(let name): error("sql does not read '\(name)'", remedy: Remedy(tables))
    case .function(let name): error("sql only reads, and does not call \(name)()")
    case .action, nil: onlyReads
    }
  }

  private func mistake(_ words: String, at offset: Int?) -> SourceError {
    if let name = words.following("no such table: ") {
      return error(
        words, remedy: Remedy(tables), meaning: nearest(to: name.lastPart, in: views.map(\.name)))
    }
    let place = offset.map { ", at character \(character(at: $0))" } ?? ""
    guard let name = words.following("no such column: ") else { return error(words + place) }
    let near = nearest(to: name.lastPart, in: views.flatMap(\.columns))
    return error(words + place, meaning: near)
  }

  private var tables: String { "the tables are \(views.map(\.name).joined(separator: ", "))" }

  /// Which character is at a byte, counted from 1.
  private func character(at offset: Int) -> Int {
    String(decoding: text.utf8.prefix(offset), as: UTF8.self).count + 1
  }
}

/// A word of a query that is near to one that would have made sense.
package struct SQLTypo: Error {
  /// That word.
  package let nearest: String
}

extension String {
  /// What comes after a beginning; `nil` if this begins otherwise.
  fileprivate func following(_ beginning: String) -> String? {
    hasPrefix(beginning) ? String(dropFirst(beginning.count)) : nil
  }

  /// `name` of `heroes.name`.
  fileprivate var lastPart: String { split(separator: ".").last.map(String.init) ?? self }
}
