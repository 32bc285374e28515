package import AggregatorCore

/// The server that answers calls which only read, in a store whose database has standbys.
///
/// A standby is a moment behind. It must not answer what decides what is written or where something continues.
package enum ReadPreference: Sendable {
  /// Records and what is told of them, also by checkpoints, are read at a standby, other checkpoints and shared values at the
  /// primary.
  case standard
  case primary
  case standby

  /// That of the running task.
  @TaskLocal package static var current = ReadPreference.standard

  /// Runs `body` with this preference.
  package func apply<Value: Sendable>(
    to body: () async throws(SourceError) -> Value
  ) async throws(SourceError) -> Value {
    let result = await Self.$current.withValue(self) {
      do throws(SourceError) {
        return Result<Value, SourceError>.success(try await body())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
