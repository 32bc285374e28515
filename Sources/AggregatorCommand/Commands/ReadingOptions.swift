import Core

/// What the options say about who answers.
struct ReadingOptions {
  private let reading: Reading
  private let deadline: Duration?

  /// Reads ``Option/reading``.
  init(_ invocation: Invocation) throws(Failure) {
    _ = try invocation.choice(of: [.offline, .refresh])
    _ = try invocation.choice(of: [.offline, .noFallback])
    reading = Reading(
      mayAskService: !invocation.has(.offline), refreshes: invocation.has(.refresh),
      mayFallBack: !invocation.has(.noFallback))
    deadline = invocation.duration(.timeout)
  }

  /// The chain of a source.
  func source<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(Failure) -> any DataSource<P.Item> {
    do {
      return try plugin.source(in: environment, reading: reading, deadline: deadline)
    } catch {
      throw Failure(error, of: plugin)
    }
  }
}
