public import AggregatorKit

/// The verdicts of several laws on one source.
public struct LawReport: Sendable {
  public struct Entry: Sendable {
    public let law: Law
    public let verdict: Verdict
  }

  public let subject: String

  /// In the order in which the laws were checked.
  public let entries: [Entry]

  /// Checks laws one after the other, and skips each whose premise is violated.
  public init(on subject: LawSubject<some SourceRecord>, of laws: [Law]) async {
    var subject = subject
    subject.memory = ListMemory()
    var entries: [Entry] = []
    for law in laws {
      let broken = entries.first {
        law.premises.contains($0.law.name) && !$0.verdict.violations.isEmpty
      }
      let verdict: Verdict
      if let broken {
        verdict = .notApplicable("its premise \(broken.law.name) is violated")
      } else {
        let part = RunningCheck.name == nil ? "\(subject.name): \(law.name)" : law.name
        verdict = await RunningCheck.named(part) { [subject] in await law.verdict(on: subject) }
      }
      entries.append(Entry(law: law, verdict: verdict))
    }
    self.subject = subject.name
    self.entries = entries
  }

  public var violations: [Violation] { entries.flatMap(\.verdict.violations) }

  public var notApplicable: [Entry] {
    entries.filter { if case .notApplicable = $0.verdict { true } else { false } }
  }

  /// The laws that could not be checked because the source failed.
  public var inconclusive: [Entry] {
    entries.filter { if case .inconclusive = $0.verdict { true } else { false } }
  }
}

extension Law {
  /// The verdict; a violation by a service that may change counts only if a second check finds it, too.
  fileprivate func verdict(on subject: LawSubject<some SourceRecord>) async -> Verdict {
    let verdict = await check(subject)
    guard subject.mayChange, let violation = verdict.violations.first else { return verdict }
    subject.memory?.forget()
    switch await check(subject) {
    case .holds, .notApplicable:
      return .notApplicable(
        "it was violated once, and not again: the service may have changed meanwhile "
          + "(\(violation.message))")
    case .violated, .inconclusive: return verdict
    }
  }
}

extension LawReport {
  /// The verdicts of ``inconclusive``, each once, with the names of the laws; none if a violation may explain them.
  package var unexplained: [(laws: String, verdict: String)] {
    guard violations.isEmpty else { return [] }
    var names: [String: [String]] = [:]
    for entry in inconclusive { names["\(entry.verdict)", default: []].append(entry.law.name) }
    let verdicts = inconclusive.map { "\($0.verdict)" }
    return verdicts.enumerated().filter { verdicts.firstIndex(of: $0.element) == $0.offset }
      .map { (names[$0.element]?.joined(separator: ", ") ?? "", $0.element) }
  }
}

extension LawReport: CustomStringConvertible {
  public var description: String {
    entries.map { "\($0.law.name): \($0.verdict)" }.joined(separator: "\n")
  }
}

/// The result of checking a ``Law``.
public enum Verdict: Sendable {
  case holds
  case violated([Violation])
  case notApplicable(String)
  /// The source failed in a way that the law is not about.
  case inconclusive(SourceError)

  /// Empty unless the verdict is `violated`.
  public var violations: [Violation] {
    if case .violated(let violations) = self { violations } else { [] }
  }
}

extension Verdict: CustomStringConvertible {
  /// The verdict as text: `holds`, `inconclusive: timedOut: no answer within 15 s`.
  public var description: String {
    switch self {
    case .holds: "holds"
    case .violated(let violations):
      "violated: " + violations.map(\.details).joined(separator: "; ")
    case .notApplicable(let reason): "not applicable: \(reason)"
    case .inconclusive(let error): "inconclusive: \(error.code): \(error)"
    }
  }
}

/// One place where a source breaks a ``Law``.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  public let law: String

  /// The problem, and its cause if it is known: `the service reports 230 records, the source yields 200`.
  public let message: String

  /// The call: `list, limit 7, page 2 of 3`, `show 1443`.
  public let call: String

  /// The law and the details: `ids-unique: page 2 repeats page 1 (list, limit 7, page 2 of 3)`.
  public var description: String { "\(law): \(details)" }

  /// Without the law.
  public var details: String { message.hasPrefix(call) ? message : "\(message) (\(call))" }
}
