public import AggregatorKit
import Foundation

/// Something that a service, or the network before it, does to whoever asks; and what must hold then.
///
/// A weather is played by a real server that stands in front of the service, so the author of a source
/// writes no fault of his own: see ``expectLawsUnderFaults(of:in:_:patience:sourceLocation:)``.
public struct FaultScenario: Sendable, CustomStringConvertible {
  /// The stable name: `503-for-ever`.
  public let name: String

  /// What happens, in a sentence.
  public let sentence: String

  /// What may be said of it: the codes of failures, and of the reasons why another tier answered.
  public let codes: Set<SourceError.Code>

  /// How long the service wants to be left alone, where it says so.
  let wait: Duration?

  /// What the source can make of it.
  let prospect: Expectation

  /// The names of the laws that the service itself breaks in this weather, whatever the source does.
  let suspended: Set<String>

  /// How long the line may be silent, and how long an exchange may take.
  let limits: (idle: Duration, overall: Duration)

  /// What the server in front does.
  let play: Play

  /// What a source can make of a weather.
  enum Expectation: Sendable {
    /// Everything is answered live, and nothing is said.
    case fair
    /// The service's answer may come through, at once or after some attempts.
    case passing
    /// No answer of the service gets through.
    case failing
    /// Rows cannot be read, and that is said.
    case unreadable
    /// The service's answers contradict each other.
    case strange
  }

  /// What the server in front does.
  enum Play: Sendable {
    /// Nobody listens.
    case refuse
    /// It answers a request by itself; `nil` passes the request on to the service.
    case answer(@Sendable (ScenarioSetup) -> LoopbackReply?)
    /// It changes one page of rows, which has a number from 1; `nil` leaves the page as it is.
    case change(@Sendable (_ page: RowsPage) -> JSON?)
  }

  init(
    _ name: String, _ sentence: String, _ prospect: Expectation,
    says codes: Set<SourceError.Code> = [],
    idle: Duration = .seconds(10), overall: Duration = .seconds(20), wait: Duration? = nil,
    play: Play
  ) {
    self.name = name
    self.sentence = sentence
    self.prospect = prospect
    self.wait = wait
    limits = (idle, overall)
    self.play = play
    if case .change = play { suspended = Self.lawsOfOrder } else { suspended = [] }
    // Who fails five times in a row is left alone after that.
    self.codes = prospect == .failing ? codes.union([.circuitOpen]) : codes
  }

  /// The name and the sentence, after a colon.
  public var description: String { "\(name): \(sentence)" }

  /// The laws that only a service can keep that says the same twice.
  private static let lawsOfOrder: Set = [
    "ids-unique", "walk-stable", "walk-ends", "any-page-size", "positions-true", "cursor-lasts",
    "search-matches", "search-within-list", "search-complete",
  ]
}

/// A request that came in, and when.
struct ScenarioSetup: Sendable {
  /// How many requests have come since the weather began, this one counted.
  let call: Int

  /// What the calendar says.
  let now: Date

  /// What the service would have answered.
  let fair: @Sendable () -> HTTPResponse
}

/// One page of rows as the service gave it, in a weather that changes pages.
struct RowsPage: Sendable {
  /// Its number, counted from 1 in the order in which pages were first asked for.
  let number: Int

  private let bytes: Data
  private let bytesBefore: Data
  private let firstBytes: Data

  init(number: Int, bytes: Data, bytesBefore: Data, firstBytes: Data) {
    self.number = number
    self.bytes = bytes
    self.bytesBefore = bytesBefore
    self.firstBytes = firstBytes
  }

  /// The page; `nil` if it is no JSON.
  var body: JSON? { JSON(reading: bytes) }

  /// The page that was asked for before it; the page itself for the first.
  var before: JSON? { JSON(reading: bytesBefore) }

  /// The page that was asked for first.
  var first: JSON? { JSON(reading: firstBytes) }
}

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
