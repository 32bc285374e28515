public import AggregatorKit

/// What checking a ``Law`` came to.
public enum Verdict: Sendable {
  /// The source keeps it.
  case kept
  /// The source breaks it; the first few places where.
  case violated([Violation])
  /// It says nothing about this source, and why.
  case notApplicable(String)
  /// It could not be judged, because the source failed in a way that the law is not about.
  case unjudged(SourceError)

  /// Where the source breaks the law; empty for all other verdicts.
  public var violations: [Violation] {
    if case .violated(let violations) = self { violations } else { [] }
  }
}

extension Verdict: CustomStringConvertible {
  /// The verdict in words: `kept`, `could not be judged: timedOut: no answer within 15 s`.
  public var description: String {
    switch self {
    case .kept: "kept"
    case .violated(let violations):
      "violated: " + violations.map(\.details).joined(separator: "; ")
    case .notApplicable(let reason): "not applicable: \(reason)"
    case .unjudged(let error): "could not be judged: \(error.code): \(error)"
    }
  }
}

/// One place where a source breaks a ``Law``.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The law's name.
  public let law: String

  /// What the law promises there.
  public let expected: String

  /// What was there instead.
  public let found: String

  /// The call, in words: `list, limit 7, after cMA.6gq0wxyz1`, `show 1443`.
  public let place: String

  /// The law and what is wrong: `ids-unique: list, limit 7: expected …, found …`.
  public var description: String { "\(law): \(details)" }

  /// The same without the law: `list, limit 7: expected …, found …`.
  public var details: String { "\(place): expected \(expected), found \(found)" }
}
