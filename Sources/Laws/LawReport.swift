public import AggregatorKit

/// What checking laws on one source came to.
public struct LawReport: Sendable {
  /// A law and what checking it came to.
  public struct Entry: Sendable {
    /// The law.
    public let law: Law
    /// What checking it came to.
    public let verdict: Verdict
  }

  /// The subject's name.
  public let subject: String

  /// The laws in the order of their checking.
  public let entries: [Entry]

  /// Checks laws, one after the other.
  ///
  /// A law that rests on one that is violated is not checked: it would only say the same once more.
  ///
  /// - Parameters:
  ///   - subject: The source, and what is known of it.
  ///   - laws: Which laws; all by default.
  public init(on subject: LawSubject<some Record>, of laws: [Law]) async {
    var entries: [Entry] = []
    for law in laws {
      let broken = entries.first {
        law.premises.contains($0.law.name) && !$0.verdict.violations.isEmpty
      }
      let verdict: Verdict
      if let broken {
        verdict = .notApplicable("it rests on \(broken.law.name), which is violated")
      } else {
        verdict = await law.check(subject)
      }
      entries.append(Entry(law: law, verdict: verdict))
    }
    self.subject = subject.name
    self.entries = entries
  }

  /// All that is broken.
  public var violations: [Violation] { entries.flatMap(\.verdict.violations) }

  /// The laws that say nothing about this source.
  public var notApplicable: [Entry] {
    entries.filter { if case .notApplicable = $0.verdict { true } else { false } }
  }

  /// The laws that could not be judged because the source failed.
  public var unjudged: [Entry] {
    entries.filter { if case .unjudged = $0.verdict { true } else { false } }
  }
}

extension LawReport: CustomStringConvertible {
  /// A line for each law: its name and the verdict.
  public var description: String {
    entries.map { "\($0.law.name): \($0.verdict)" }.joined(separator: "\n")
  }
}

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
