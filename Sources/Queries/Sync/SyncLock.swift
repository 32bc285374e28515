import AggregatorFiles
package import AggregatorKit
package import AggregatorTerminal

/// A lock for the download of a source: two processes would fetch every page twice.
package struct SyncLock {
  private let name: String
  private let lock: FileLock?

  /// The lock of a source; without a state directory there is none, and a store that machines share divides
  /// the work itself.
  package init(
    of name: String, _ settings: Settings, _ context: CommandContext, isNeeded: Bool = true
  ) throws(CommandError) {
    self.name = name
    let state = isNeeded ? try context.directories(settings).state : nil
    lock = state.map { FileLock(path: "\($0)/sync-\(name).lock") }
  }

  /// Fails with code `tryLater` if another process holds the lock for longer, and with `io` if it cannot be
  /// created; a lock that is not required may be missing.
  package func holding<Value>(
    within limit: Duration = .zero, isRequired: Bool = true, _ body: () async -> Value
  ) async throws(CommandError) -> Value {
    guard let lock else { return await body() }
    do {
      return try await lock.holding(within: limit, clock: ContinuousClock(), body)
    } catch is FileLock.Taken {
      throw CommandError(
        .tryLater, "\(name): another sync is already running",
        hint: "wait for it to finish, or stop it")
    } catch let error as SourceError {
      guard isRequired || error.code != .storage else { return await body() }
      throw CommandError(error)
    } catch {
      throw CommandError(.bug, "\(error)")
    }
  }
}
