public import Foundation

/// What the calendar says to whoever sees no ``PluginEnvironment``, such as a field that computes an age
/// from a record.
///
/// A program binds it to the ``PluginEnvironment/now`` that it gives to its plugins.
public enum Now {
  /// The date; the system's by default.
  @TaskLocal public static var date: @Sendable () -> Date = { Date() }
}
