package import AggregatorCore
import AggregatorStore
import AggregatorText
import CAggregatorPostgres

/// A call to PostgreSQL that failed.
package struct PostgresFailure: Error {
  package enum Kind: Hashable, Sendable {
    /// The server refused a statement, for the reason of this SQLSTATE
    /// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
    case refused(state: String)
    /// No connection could be made.
    case unreachable
    /// The connection broke, so that the outcome of a statement is unknown.
    case broken
    case timedOut
    case cancelled
    /// The server is none that this store can use.
    case unsuitable(remedy: String)
    /// The server is no standby of that of the store.
    case foreign
    /// The standby is too far behind.
    case lagging
    /// The role has rights that a query of people must not have.
    case unsafe
    /// A row is too large.
    case tooLarge
  }

  package let kind: Kind

  /// The server's message: one line, without secrets.
  package let message: String

  /// The position of a mistake in the statement, in characters from 1; `nil` if it has none.
  package var position: Int?

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message.oneLine(atMost: 300)
  }

  package var state: String? { if case .refused(let state) = kind { state } else { nil } }

  /// True if the same transaction may succeed when it is repeated at once: another one was in its way.
  var isConflict: Bool { state == "40001" || state == "40P01" }

  /// True if the server is starting or stopping, or has no connection to spare.
  var isPassing: Bool {
    if let state { return ["57P01", "57P02", "57P03", "53300"].contains(state) }
    // A refused connection has no SQLSTATE.
    let reasons = ["starting up", "shutting down", "too many clients", "connection slots"]
    return kind == .unreachable && reasons.contains(where: message.contains)
  }

  /// True if the store's schema or a part of it is missing.
  var isSchemaMissing: Bool {
    state.map { ["3F000", "42P01", "42883"].contains($0) } ?? false
  }

  /// An error with code `storage`, `unusableStore`, `busy` or `cancelled`, or `invalidSettings` of a standby.
  package func error(
    of address: PostgresAddress, in use: String = "use the store"
  ) -> SourceError {
    let cannot = "cannot \(use) \(address)"
    switch kind {
    case .cancelled: return .cancelled
    case .timedOut:
      return SourceError(
        .storage, "\(cannot): the server does not answer", remedy: "try again later")
    case .unreachable:
      let isAnswer = ["FATAL:", "no password supplied"].contains(where: message.contains)
      return SourceError(
        isPassing ? .busy : .storage, "\(cannot): \(message)",
        remedy: isPassing
          ? "try again in a moment"
          : isAnswer
            ? "check the user, the password and the database of the address"
            : "check that the server runs and can be reached")
    case .broken:
      return SourceError(
        .storage, "\(cannot): the connection was lost (\(message))", remedy: "try again later")
    case .unsuitable(let remedy):
      return SourceError(.unusableStore, "\(cannot): \(message)", remedy: Remedy(remedy))
    case .foreign:
      return SourceError(
        .invalidSettings, "\(cannot): \(message)",
        remedy: "name only standbys of the database of the store")
    case .lagging: return SourceError(.storage, "\(cannot): \(message)")
    case .unsafe:
      return SourceError(
        .storage, "a query cannot be confined: \(message)", remedy: "use another role for queries")
    case .tooLarge: return SourceError(.invalidRequest, message)
    case .refused(let state):
      return refusal(state, cannot)
    }
  }

  private func refusal(_ state: String, _ cannot: String) -> SourceError {
    switch state {
    // Locked, cancelled by a timeout, a deadlock or a conflict, no connection left, or about to stop.
    case "55P03", "57014", "40001", "40P01", "53300", "57P01", "57P02", "57P03":
      SourceError(.busy, "\(cannot): \(message)", remedy: "try again in a moment")
    case "53100":
      SourceError(
        .storage, "\(cannot): the disk of the server is full",
        remedy: "free some space there and try again")
    case "25006":
      SourceError(
        .storage, "\(cannot): the server is read-only, as a standby is",
        remedy: "use the address of the primary server")
    case "42501":
      SourceError(
        .storage, "\(cannot): \(message)", remedy: "grant the role the rights of the store's owner",
        cause: self)
    case "54000":
      SourceError(
        .storage, "\(cannot): an ID or a key is longer than an index allows (\(message))",
        remedy: "use a store in a file for this source")
    default:
      SourceError(
        .storage, "\(cannot): \(message)", remedy: "see the log of the server")
    }
  }
}

extension PostgresFailure: DatabaseFailure {
  package var missingRight: String? { state == "42501" ? message : nil }
}
