import AggregatorKit
import AggregatorPostgres

/// The errors of a query in PostgreSQL.
struct PostgresDiagnostics: Sendable {
  private let text: String
  private let views: [SQLView]
  private let address: PostgresAddress

  init(_ text: String, views: [SQLView], at address: PostgresAddress) {
    self.text = text
    self.views = views
    self.address = address
  }

  /// Refuses what cannot be sent.
  func check() throws(SourceError) {
    guard !text.utf8.contains(0) else {
      throw SourceError(.invalidRequest, "the query contains a NUL character")
    }
    guard text.nonBlank != nil else { throw SourceError(.invalidRequest, "the query is empty") }
    guard text.utf8.count <= PostgresCursor.maxTextSize else {
      throw SourceError(.invalidRequest, "the query is too large (maximum 100 kB)")
    }
  }

  /// An error with code `invalidRequest`, `timedOut`, `cancelled`, `storage` or `busy`.
  func error(_ failure: PostgresFailure) -> SourceError {
    switch failure.kind {
    case .refused(let state): return refusal(failure, state)
    case .timedOut: return SQLDiagnostics.timedOut
    case .unsafe:
      return SourceError(
        .invalidSettings, "sql is refused for this role: \(failure.message)",
        remedy: Remedy("store init-sql-role NAME", .command))
    default: return failure.error(of: address)
    }
  }

  private func refusal(_ failure: PostgresFailure, _ state: String) -> SourceError {
    switch state {
    case _ where Task.isCancelled: return .cancelled
    // Cancelled: there is no other reason.
    case "57014": return SQLDiagnostics.timedOut
    case "55P03": return failure.error(of: address)
    case "25006": return SQLDiagnostics.onlySelect
    case "53200", "53400": return error("the query needs too much memory")
    case "42601" where isOtherStatement(failure): return SQLDiagnostics.onlySelect
    case "0A000" where failure.message.contains("data-modifying"): return SQLDiagnostics.onlySelect
    case "08P01" where failure.message.hasPrefix("bind message"):
      return error("parameters such as $1 are not allowed")
    case "42601" where failure.message.hasPrefix("cannot insert multiple commands"):
      return error("only one statement is allowed")
    case "42P01":
      return error(
        marked(failure), remedy: tables,
        suggesting: nearest(to: failure.quoted, in: views.map(\.name)))
    case "42501": return error(marked(failure), remedy: tables)
    case "42703":
      return error(marked(failure), suggesting: nearest(to: failure.quoted, in: columns))
    default:
      // Mistakes in the query or in values, and what a transaction that only reads must not do.
      let classes = ["0A", "21", "22", "25", "2F", "34", "38", "39", "42", "54", "55", "P0"]
      return classes.contains(String(state.prefix(2)))
        ? error(marked(failure)) : failure.error(of: address)
    }
  }

  private func error(
    _ message: String, remedy: Remedy? = nil, suggesting word: String? = nil
  ) -> SourceError {
    SourceError(.invalidRequest, message, remedy: remedy, cause: word.map { SQLTypo(nearest: $0) })
  }

  private func marked(_ failure: PostgresFailure) -> String {
    let position = failure.position.flatMap { $0 <= text.unicodeScalars.count + 1 ? $0 : nil }
    // The server counts code points.
    return failure.message
      + (position.map { position in
        let character =
          String(String.UnicodeScalarView(text.unicodeScalars.prefix(position - 1)))
          .count + 1
        return " (character \(character))"
      } ?? "")
  }

  /// Words that begin a statement other than `SELECT`.
  private static let statements: Set<String> = [
    "alter", "analyze", "begin", "call", "checkpoint", "close", "cluster", "comment", "commit",
    "copy", "create", "deallocate", "declare", "delete", "discard", "do", "drop", "end", "execute",
    "explain", "fetch", "grant", "import", "insert", "listen", "load", "lock", "merge", "move",
    "notify", "prepare", "reassign", "refresh", "reindex", "release", "reset", "revoke", "rollback",
    "savepoint", "security", "set", "show", "start", "truncate", "unlisten", "update", "vacuum",
  ]

  private func isOtherStatement(_ failure: PostgresFailure) -> Bool {
    let rest = text.drop(while: \.isWhitespace)
    let start = text.unicodeScalars.distance(from: text.startIndex, to: rest.startIndex) + 1
    return failure.position == start
      && Self.statements.contains(rest.prefix(while: \.isLetter).lowercased())
  }

  private var tables: Remedy {
    Remedy("available tables: \(views.map(\.name).joined(separator: ", "))")
  }

  /// The columns of the views whose names occur in the query.
  private var columns: [String] {
    let text = text.lowercased()
    return views.filter { text.contains($0.name.lowercased()) }.flatMap(\.columns)
  }
}

extension PostgresFailure {
  /// The name in the message, without that of its table.
  fileprivate var quoted: String {
    let name = message.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first
    let word = name ?? message.split(separator: " ").dropFirst().first ?? ""
    return word.split(separator: ".").last.map(String.init) ?? ""
  }
}
