import AggregatorCore
import Foundation

/// A lock between processes, beside what it protects; whoever holds it loses it with its end, even by
/// `kill -9`.
package struct FileLock: Sendable {
  /// Another process kept it for too long.
  package struct Taken: Error {}

  /// The absolute path of an empty file, which stays.
  package let path: String

  /// How often a lock that is taken is tried again.
  private static let interval = Duration.milliseconds(20)

  /// A lock.
  ///
  /// - Parameter path: The absolute path of a file of its own, which need not exist.
  package init(path: String) { self.path = path }

  /// Does something while nobody else holds the lock.
  ///
  /// Waiting occupies no thread. Whoever waits is not served in the order of coming.
  ///
  /// - Parameters:
  ///   - limit: How long to wait for it.
  ///   - clock: What measures it.
  ///   - body: What to do.
  /// - Returns: What `body` returns.
  /// - Throws: ``Taken``; ``SourceError`` with code `storage` if the file cannot be made or the file
  ///   system has no locks, and `cancelled`; what `body` throws.
  package func holding<Value>(
    within limit: Duration, clock: some Clock<Duration>, _ body: () async throws -> Value
  ) async throws -> Value {
    let file = try open()
    let end = clock.now.advanced(by: limit)
    while try !take(file) {
      guard clock.now < end else { throw Taken() }
      do { try await clock.sleep(for: Self.interval) } catch { throw SourceError.cancelled }
    }
    // The lock ends with the file; naming it here keeps it open until `body` is done.
    defer { flock(file.descriptor, LOCK_UN) }
    return try await body()
  }

  private func open() throws(SourceError) -> OpenFile {
    try PrivateFile.makeDirectory(PrivateFile.directory(of: path))
    do throws(SystemFailure) {
      return try OpenFile(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, mode: 0o600)
    } catch {
      throw unusable(error)
    }
  }

  /// Takes the lock if it is free, and says whether it was.
  private func take(_ file: borrowing OpenFile) throws(SourceError) -> Bool {
    do throws(SystemFailure) {
      try SystemFailure.check { flock(file.descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw unusable(error)
    }
  }

  private func unusable(_ failure: SystemFailure) -> SourceError {
    SourceError(
      .storage, "\(path) cannot be locked: \(failure.words)",
      remedy: "see that the directory is yours and on a disk of this machine")
  }
}
