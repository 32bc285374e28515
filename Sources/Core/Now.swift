public import Foundation

/// What the calendar says to whoever sees no ``PluginEnvironment``, such as a field that computes an age
/// from a record.
///
/// A program binds it to the ``PluginEnvironment/now`` that it gives to its plugins.
public struct Now: Sendable {
  // Not the function itself: binding one crashes in a release build of Swift 6.3.1.
  /// The calendar of the running task; the system's by default.
  @TaskLocal public static var current = Now { Date() }

  private let read: @Sendable () -> Date

  /// A calendar.
  ///
  /// - Parameter read: What it says.
  public init(_ read: @escaping @Sendable () -> Date) { self.read = read }

  /// The date.
  public var date: Date { read() }
}
