import AggregatorCore
import AggregatorFoundation
package import Dispatch

/// A lock between processes in a file of its own; it ends with the process that holds it, even by
/// `kill -9`.
package struct FileLock: Sendable {
  package struct Taken: Error {}

  /// The absolute path of the lock file, which is created empty and never deleted.
  package let path: String

  private static let retryInterval = Duration.milliseconds(20)

  package init(path: String) { self.path = path }

  /// Runs `body` while holding the lock.
  ///
  /// Waiting occupies no thread. Waiting processes are not served in order.
  ///
  /// - Throws: ``Taken`` if the lock is not free within `limit`; ``SourceError`` with code `storage` if
  ///   the file cannot be created or the file system has no locks, and `cancelled`; the errors of
  ///   `body`.
  package func holding<Value>(
    within limit: Duration, clock: some Clock<Duration>, _ body: () async throws -> Value
  ) async throws -> Value {
    try PrivateFile.makeDirectory(PrivateFile.directory(of: path))
    let file = try using { () throws(SystemFailure) in
      try OpenFile(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, mode: 0o600)
    }
    let end = clock.now.advanced(by: limit)
    while try !using({ () throws(SystemFailure) in try file.lock(.exclusive, within: .zero) }) {
      guard clock.now < end else { throw Taken() }
      do { try await clock.sleep(for: Self.retryInterval) } catch { throw SourceError.cancelled }
    }
    // Closing the file would end the lock; using it here keeps it open until `body` is done.
    defer { file.unlock() }
    return try await body()
  }

  private func using<Answer: ~Copyable>(
    _ call: () throws(SystemFailure) -> Answer
  ) throws(SourceError) -> Answer {
    do throws(SystemFailure) { return try call() } catch {
      throw SourceError(
        .storage, "cannot lock \(path): \(error.words)",
        remedy: "check the directory's permissions, and that it is on a local disk")
    }
  }
}

extension DispatchQueue {
  /// Runs `body` on this queue, so that a slow disk does not block tasks.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { continuation in
      async { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
  }
}
