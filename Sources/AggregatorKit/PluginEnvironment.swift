public import AggregatorCore
public import AggregatorHTTP
public import AggregatorSettings
public import AggregatorStore
public import Foundation

/// Everything that a plugin may touch.
///
/// Nothing reads the process environment, the clock or the network past it, so a test can own the world.
public struct PluginEnvironment: Sendable {
  /// What has been set, and by whom.
  public var settings: Settings

  /// What sends HTTP requests.
  public var transport: any Transport

  /// Where records are kept; `nil` to remember nothing.
  public var store: (any Store)?

  /// What waits and measures.
  public var clock: any Clock<Duration>

  /// What the calendar says.
  public var now: @Sendable () -> Date

  /// Random bits.
  public var random: @Sendable () -> UInt64

  /// Who is told what happens.
  public var observer: Observer

  /// An environment.
  ///
  /// - Parameters:
  ///   - settings: What has been set.
  ///   - transport: What sends HTTP requests.
  ///   - store: Where records are kept; none by default, so nothing is remembered.
  ///   - clock: What waits and measures; the continuous clock by default.
  ///   - now: What the calendar says; the system's date by default.
  ///   - random: Random bits; the system's by default.
  ///   - observer: Who is told what happens; nobody by default.
  public init(
    settings: Settings, transport: any Transport, store: (any Store)? = nil,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    observer: Observer = .silent
  ) {
    self.settings = settings
    self.transport = transport
    self.store = store
    self.clock = clock
    self.now = now
    self.random = random
    self.observer = observer
  }
}
