public import AggregatorKit

/// Blocks calls until a test lets them continue.
///
/// ```swift
/// let gate = Gate()
/// let source = ScriptedSource<Hero>(over: heroes, held: gate)
/// async let page = source.page(PageRequest())
/// await gate.holds(1)  // the call is under way …
/// gate.open()          // … and continues
/// ```
public final class Gate: Sendable {
  private let opened = Counter()
  private let held = Counter()

  public init() {}

  public var count: Int { held.value }

  /// Waits until at least `count` calls are blocked.
  public func holds(_ count: Int) async { await held.reaches(count) }

  /// Lets all blocked and all later calls continue.
  public func open() { opened.add() }

  /// Waits until the gate is open; throws `cancelled` if the task is cancelled first.
  public func pass() async throws(SourceError) {
    guard opened.value == 0 else { return }
    held.add()
    await opened.reaches(1)
    held.add(-1)
    guard opened.value > 0 else { throw .cancelled }
  }
}

/// A number that a test can wait for instead of sleeping.
public final class Counter: Sendable {
  private let number = Watched(0)

  public init() {}

  public var value: Int { number.state }

  public func add(_ change: Int = 1) { number.change { $0 += change } }

  /// Waits until the value is at least `minCount`, or the task is cancelled.
  public func reaches(_ minCount: Int) async { await number.wait { $0 >= minCount } }
}
