public import Foundation

/// A service of this machine that behaves like a real one.
public protocol FakeService: Sendable {
  /// What answers.
  var server: InterruptibleServer { get }

  /// What the setting of its address has to be.
  var url: URL { get }

  /// All settings that lead to it.
  var settings: [String: String] { get }
}
