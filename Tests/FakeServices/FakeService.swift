public import Core
public import Foundation

/// A service of this machine that behaves like a real one.
public protocol FakeService: Sendable {
  /// What sends requests to it, and keeps it alive.
  associatedtype Line: Transport

  /// What the setting of its address has to be.
  var url: URL { get }

  /// All settings that lead to it.
  var settings: [String: String] { get }

  /// The real transport, which keeps this service alive.
  var transport: Line { get }
}
