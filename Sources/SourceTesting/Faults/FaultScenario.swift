public import AggregatorKit
import Foundation

/// A fault of a service or of the network, and the expected reaction of a source.
///
/// A proxy server in front of the service injects the fault, so authors of sources write none of
/// their own: see ``expectLawsUnderFaults(of:in:_:knowing:sourceLocation:)``.
public struct FaultScenario: Sendable, CustomStringConvertible {
  /// The stable identifier: `503-persistent`.
  public let name: String

  public let summary: String

  /// The codes allowed for failures, and for the reasons of a fallback.
  public let codes: Set<SourceError.Code>

  /// The longest retry time that the service announces; `nil` if it announces none.
  let wait: Duration?

  let expectation: Expectation

  /// The laws about what a service has, which are checked without a fault: with one, the service itself breaks them,
  /// or cannot be read.
  let exemptLaws: Set<String>

  /// The limits for silence on the connection, and for a whole exchange; ten minutes where they matter not, however busy the
  /// machine is.
  let limits: (idle: Duration, overall: Duration)

  let injection: Injection

  enum Expectation: Sendable {
    /// Every answer is live, without warnings.
    case noFault
    /// The service may answer, possibly after some attempts.
    case transient
    /// The service never answers.
    case failing
    /// Rows are unreadable, and reported as such.
    case unreadable
    /// The service's answers contradict each other.
    case inconsistent
  }

  enum Injection: Sendable {
    case refuse
    /// Replies instead of the service; `nil` forwards the request.
    case answer(@Sendable (FaultContext) -> LoopbackReply?)
    /// Changes a page of rows, numbered from 1; `nil` leaves it unchanged.
    case change(@Sendable (_ page: RowsReply) -> JSON?)
  }

  init(
    _ name: String, _ summary: String, _ expectation: Expectation,
    codes: Set<SourceError.Code> = [],
    idle: Duration = .seconds(600), overall: Duration = .seconds(600), wait: Duration? = nil,
    injection: Injection
  ) {
    self.name = name
    self.summary = summary
    self.expectation = expectation
    self.wait = wait
    limits = (idle, overall)
    self.injection = injection
    exemptLaws = expectation == .noFault ? [] : Self.consistencyLaws
    // The circuit breaker opens after five failures in a row.
    self.codes = expectation == .failing ? codes.union([.circuitOpen]) : codes
  }

  public var description: String { "\(name): \(summary)" }

  /// True if pages have other rows than the service sends.
  var changesRows: Bool { if case .change = injection { true } else { false } }

  private static let consistencyLaws: Set = [
    "pagination-stable", "pagination-ends", "ids-unique", "list-complete", "any-page-size",
    "skip-consistent", "cursor-lasts", "one-state", "search-matches", "search-uses-words",
    "search-pages", "search-within-list", "search-complete", "listed-id-found", "unknown-not-found",
    "merge-keeps", "fields-filled",
  ]
}

/// A request to the proxy.
struct FaultContext: Sendable {
  /// The number of requests since the scenario started, including this one.
  let call: Int

  let now: Date

  let secrets: [Secret]

  let original: @Sendable () -> HTTPResponse
}

struct RowsReply: Sendable {
  /// The page number, from 1, in the order of the first requests.
  let number: Int

  let bytes: Data
  let bytesBefore: Data
  let firstBytes: Data

  /// `nil` if it is not JSON.
  var body: JSON? { JSON(reading: bytes) }

  /// The previous page; for the first page, the page itself.
  var before: JSON? { JSON(reading: bytesBefore) }

  var first: JSON? { JSON(reading: firstBytes) }
}

/// The guarantees in every ``FaultScenario``, besides the laws.
public enum ScenarioGuarantee: String, CaseIterable, Sendable {
  /// Every call and every pagination ends, and no call exceeds its deadline.
  case terminates
  /// Every record is genuine and unchanged; cached records stay available.
  case recordsIntact = "intact"
  /// Every problem is reported, by an error, a count, or the reason of a fallback.
  case failuresReported = "reported"
  /// The store's file is intact and contains the service's records only; deleted records stay
  /// deleted.
  case storeConsistent = "consistent"
  /// Once the fault is over, the same chain returns the service's answers again.
  case recovers
}

/// A violation of a guarantee.
public struct ScenarioViolation: Hashable, Sendable, CustomStringConvertible {
  public let guarantee: ScenarioGuarantee

  /// The call: `list, second page`.
  public let call: String

  public let expected: String

  public let found: String

  /// The guarantee and the details: `reported: list: expected …, found …`.
  public var description: String {
    "\(guarantee.rawValue): \(call): expected \(expected), found \(found)"
  }
}
