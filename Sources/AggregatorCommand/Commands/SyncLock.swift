import AggregatorFiles
import AggregatorKit

/// Lets one process at a time sync a source: two of them would fetch every page twice.
struct SyncLock {
  private let name: String
  private let lock: FileLock?

  /// The lock of a source; none where there is no place for it.
  init(of name: String, _ settings: Settings, _ session: Session) throws(CommandError) {
    self.name = name
    lock = try Directories(settings, variables: session.variables).state.map {
      FileLock(path: "\($0)/sync-\(name).lock")
    }
  }

  /// Does something while no other process syncs the source.
  ///
  /// - Throws: ``CommandError`` with code `tryLater` if another does, `io` if there can be no lock.
  func holding<Value>(_ body: () async -> Value) async throws(CommandError) -> Value {
    guard let lock else { return await body() }
    do {
      return try await lock.holding(within: .zero, clock: ContinuousClock(), body)
    } catch is FileLock.Taken {
      throw CommandError(
        .tryLater, "\(name): another process is at it already", hint: "let it finish, or stop it")
    } catch let error as SourceError {
      throw CommandError(error)
    } catch {
      throw CommandError(.bug, "\(error)")
    }
  }
}
