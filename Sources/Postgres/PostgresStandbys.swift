import AggregatorCore
import AggregatorStore
import Synchronization

/// The standbys of a store's server, which answer what only reads records.
///
/// After a write of this process each must first have replayed what the primary had written then. Which of them is read
/// first is random, so that processes divide themselves among them.
final class PostgresStandbys: Sendable {
  private struct State {
    var primary: PostgresIdentity?
    /// The changes after which reads must show what the primary has.
    var changes = 0
    /// The position in the log up to which a standby must have replayed it, and the changes that are before it.
    var position: Int64 = 0
    var changesBefore = 0
  }

  private let standbys: [PostgresStandby]
  private let primary: PostgresSession
  private let state = Mutex(State())

  /// The standbys of an address; `nil` if it has none.
  ///
  /// `warn` is called once, with the first failure.
  init?(
    of address: PostgresAddress, _ primary: PostgresSession, _ limits: StandbyLimits,
    warn: @escaping @Sendable (SourceError) -> Void
  ) {
    guard !address.standbys.isEmpty else { return nil }
    let start = address.standbys.indices.randomElement() ?? 0
    let warning = FirstWarning(warn)
    standbys = (address.standbys[start...] + address.standbys[..<start]).map {
      PostgresStandby(at: $0, limits) { warning.tell($0) }
    }
    self.primary = primary
  }

  /// True if the running task reads records, or everything, at standbys.
  func mayAnswer(records isOfRecords: Bool) -> Bool {
    switch ReadPreference.current {
    case .standard: isOfRecords
    case .primary: false
    case .standby: true
    }
  }

  /// Notes a write, after which reads are answered only by standbys that have replayed it.
  func noteChange() { state.withLock { $0.changes += 1 } }

  /// Runs `body`, which only reads, at the first standby that can answer; `nil` if none can.
  @_semantics("optimize.sil.specialize.generic.never")
  func read<Answer: Sendable>(
    _ body: @Sendable (inout PostgresConnection, PostgresDatabase) throws(PostgresFailure) -> Answer
  ) async throws(SourceError) -> Answer? {
    let start = try await start()
    for standby in standbys {
      if let answer = try await standby.read(after: start.position, of: start.primary, body) {
        return answer
      }
    }
    return nil
  }

  func facts() async throws(SourceError) -> [StandbyFacts] {
    let primary = try await start().primary
    var facts: [StandbyFacts] = []
    for standby in standbys { facts.append(await standby.facts(of: primary)) }
    return facts.sorted { $0.location < $1.location }
  }

  /// The cluster that standbys must belong to, and the log position that they must have replayed.
  ///
  /// Asks the primary only at first, and after a change.
  private func start() async throws(SourceError) -> (primary: PostgresIdentity, position: Int64) {
    let known = state.withLock(\.self)
    if let primary = known.primary, known.changesBefore == known.changes {
      return (primary, known.position)
    }
    let hasChanged = known.changesBefore != known.changes
    let found = try await primary.read { connection, _ throws(PostgresFailure) in
      let position = hasChanged ? try connection.logPosition() : known.position
      if let primary = known.primary { return (primary: primary, position: position) }
      return (primary: try connection.identity(), position: position)
    }
    return state.withLock { state in
      state.primary = found.primary
      state.position = max(state.position, found.position)
      state.changesBefore = max(state.changesBefore, known.changes)
      return (found.primary, state.position)
    }
  }
}

/// The first failure of standbys, which is told: the next ones are no news.
private final class FirstWarning: Sendable {
  private let hasWarned = Mutex(false)
  private let warn: @Sendable (SourceError) -> Void

  init(_ warn: @escaping @Sendable (SourceError) -> Void) { self.warn = warn }

  func tell(_ failure: SourceError) {
    let isFirst = hasWarned.withLock { hasWarned in
      defer { hasWarned = true }
      return !hasWarned
    }
    if isFirst { warn(failure) }
  }
}
