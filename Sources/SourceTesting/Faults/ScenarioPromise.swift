/// What must hold in every ``FaultScenario``, beside the laws.
public enum ScenarioPromise: String, CaseIterable, Sendable {
  /// Each call and each walk comes to its end, and no call lasts longer than its deadline.
  case terminates
  /// What is given as a record is one, unchanged; what was there before stays.
  case kept
  /// It is said what went wrong, by a failure, a count, or the reason why another tier answered.
  case reason
  /// The store's file is in order and holds what the service gave, nothing else; what was deleted stays
  /// deleted.
  case store
  /// Once the weather is fair again, the same chain is answered by the service as if nothing had been.
  case recovers
}

/// One place where a promise is not kept.
public struct ScenarioViolation: Hashable, Sendable, CustomStringConvertible {
  /// The promise.
  public let promise: ScenarioPromise

  /// The call, in words: `list, from the start`.
  public let place: String

  /// What should have been there.
  public let expected: String

  /// What was there instead.
  public let found: String

  /// The promise and what is wrong: `reason: list: expected …, found …`.
  public var description: String {
    "\(promise.rawValue): \(place): expected \(expected), found \(found)"
  }
}
