public import AggregatorFoundation

/// The current date for code without a ``PluginEnvironment``, such as a field that computes an age.
///
/// A program binds it to the ``PluginEnvironment/now`` of its plugins.
public struct Now: Sendable {
  // A struct, because binding a function crashes in a release build of Swift 6.3.1.
  /// The clock of the running task; the system's by default.
  @TaskLocal public static var current = Now { Date() }

  private let read: @Sendable () -> Date

  public init(_ read: @escaping @Sendable () -> Date) { self.read = read }

  public var date: Date { read() }
}
