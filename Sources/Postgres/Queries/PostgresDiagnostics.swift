import AggregatorCore
import AggregatorStore

/// The failures of PostgreSQL as errors of a query.
struct PostgresDiagnostics: Sendable {
  let query: SQLDiagnostics
  let address: PostgresAddress

  /// An error with code `invalidRequest`, `timedOut`, `cancelled`, `storage` or `busy`.
  func error(_ failure: PostgresFailure) -> SourceError {
    switch failure.kind {
    case .refused(let state): refusal(failure, state)
    case .timedOut: SQLDiagnostics.timedOut
    case .unsafe:
      SourceError(
        .invalidSettings, "sql is refused for this role: \(failure.message)",
        remedy: Remedy("store init-sql-role NAME", .command))
    default: failure.error(of: address)
    }
  }

  private func refusal(_ failure: PostgresFailure, _ state: String) -> SourceError {
    switch state {
    case _ where Task.isCancelled: return .cancelled
    // Cancelled: there is no other reason.
    case "57014": return SQLDiagnostics.timedOut
    case "55P03": return failure.error(of: address)
    case "25006": return query.onlySelect
    case "53200", "53400": return SQLDiagnostics.needsTooMuchMemory
    case "42601" where isOtherStatement(failure): return query.onlySelect
    case "0A000" where failure.message.contains("data-modifying"): return query.onlySelect
    case "08P01" where failure.message.hasPrefix("bind message"):
      return SQLDiagnostics.error("parameters such as $1 are not allowed")
    case "42601" where failure.message.hasPrefix("cannot insert multiple commands"):
      return SQLDiagnostics.error("only one statement is allowed")
    case "42P01": return mistake(failure, about: .table(failure.quoted.lastNamePart))
    case "42501": return mistake(failure, about: .table(nil))
    case "42703": return mistake(failure, about: .column(failure.quoted))
    default:
      // Mistakes in the query or in values, and what a transaction that only reads must not do.
      let classes = ["0A", "21", "22", "25", "2F", "34", "38", "39", "42", "54", "55", "P0"]
      return classes.contains(String(state.prefix(2)))
        ? mistake(failure) : failure.error(of: address)
    }
  }

  private func mistake(
    _ failure: PostgresFailure, about subject: SQLDiagnostics.Subject? = nil
  ) -> SourceError {
    // The server counts code points.
    let text = query.text
    let position = failure.position.flatMap { $0 <= text.unicodeScalars.count + 1 ? $0 : nil }
    return query.mistake(
      failure.message, about: subject,
      after: position.map { String(String.UnicodeScalarView(text.unicodeScalars.prefix($0 - 1))) })
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
    let text = query.text
    let rest = text.afterExplain ?? text.drop(while: \.isWhitespace)
    let start = text.unicodeScalars.distance(from: text.startIndex, to: rest.startIndex) + 1
    return failure.position == start
      && Self.statements.contains(rest.prefix(while: \.isLetter).lowercased())
  }
}

extension PostgresFailure {
  /// The name in the message.
  fileprivate var quoted: String {
    let name = message.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first
    return String(name ?? message.split(separator: " ").dropFirst().first ?? "")
  }
}
