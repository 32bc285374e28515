import AggregatorKit

/// Keeps the place at which a `list` or a `search` ended, for `next`.
///
/// Only where a person sees the listing or a session was named: a script never moves a person's place.
struct SessionPositionKeeper {
  private let name: SessionName
  private let directories: Directories
  private let clock: any Clock<Duration>
  private let limit: Duration?
  private let session: Session

  /// A keeper; `nil` where no place is to be kept.
  ///
  /// - Parameters:
  ///   - name: Whose place it is.
  ///   - environment: The settings, and what measures time.
  ///   - limit: How long to wait for another process that uses the place.
  ///   - session: The run.
  ///   - isWanted: Whether a session was named.
  /// - Throws: ``CommandError`` with code `settings`.
  init?(
    _ name: SessionName, for environment: PluginEnvironment, waiting limit: Duration?,
    in session: Session, isWanted: Bool
  ) throws(CommandError) {
    guard session.terminal.isOutput || isWanted else { return nil }
    self.name = name
    directories = try Directories(environment.settings, variables: session.variables)
    clock = environment.clock
    self.limit = limit
    self.session = session
  }

  /// Keeps a place, or warns that it could not: the listing was shown all the same.
  ///
  /// - Returns: What to type to go on; `nil` if the place was not kept.
  func keep(_ place: SessionPosition) async -> String? {
    do {
      let file = try SessionPositionFile(name, in: directories)
      try await file.holding(within: limit, clock: clock) { try file.write(place) }
      return "\(session.tree.program) \(name.command())"
    } catch {
      let failure = error as? CommandError
      session.diagnostics.warning(
        "\(name.source): the place for next was not kept: \(failure?.message ?? "\(error)")",
        hint: failure?.hint)
      return nil
    }
  }
}
