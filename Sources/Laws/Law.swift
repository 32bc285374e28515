public import AggregatorKit

/// A rule that every `DataSource` satisfies, and the check for it.
///
/// Checking a law asserts and prints nothing: it queries a ``LawSubject`` and returns a
/// ``Verdict``. Tests assert laws with `expectLaws` from SourceTesting, which also has those that need
/// more than a source. A program can check the records of a live service:
///
/// ```swift
/// let report = await LawReport(on: subject, of: Law.ofRecords)
/// for violation in report.violations { print(violation) }
/// ```
public struct Law: Sendable, CustomStringConvertible {
  /// The stable identifier: `ids-unique`.
  public let name: String

  public let summary: String

  /// The names of the laws that must hold for this one to mean anything, with their own premises.
  public let premises: [String]

  private let lawCheck: any LawCheck

  package init(
    _ name: String, _ summary: String, given premises: [Law] = [],
    _ check: some LawCheck
  ) {
    self.name = name
    self.summary = summary
    self.premises = premises.flatMap { [$0.name] + $0.premises }
    self.lawCheck = check
  }

  /// Check one law at a time on a subject; if the source fails, the verdict is `inconclusive`.
  public func check(_ subject: LawSubject<some SourceRecord>) async -> Verdict {
    var context = LawContext(of: name, hiding: subject.secrets)
    do {
      try await lawCheck.run(on: subject, &context)
      return context.verdict
    } catch {
      return context.verdict(after: error)
    }
  }

  public var description: String { "\(name): \(summary)" }

  /// The laws about records alone, for which a single page of a live service is enough.
  public static let ofRecords: [Law] = [recordRoundTrip, fieldKinds, fieldStored, searchableText]

  /// The laws that a live service can be checked against with few requests, each after its premises.
  package static let ofServices: [Law] =
    [
      paginationStable, paginationEnds, idsUnique, listComplete, limitRespected, searchUsesWords,
      searchPages, listedIDFound, unknownNotFound,
    ] + ofRecords + [fieldsFilled]
}

package protocol LawCheck: Sendable {
  /// Notes every violation in `law`; rethrows failures that the law is not about.
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
}

/// Collects the violations of one law while it is checked.
package struct LawContext {
  /// Further violations would only repeat the first ones.
  private static let maxViolations = 5

  private let law: String
  private let scanner: SecretScanner
  private var violations: [Violation] = []
  private var notApplicableReason: String?

  /// Redacts `secrets`, because a faulty source may have leaked them.
  package init(of law: String, hiding secrets: [Secret]) {
    self.law = law
    scanner = SecretScanner(secrets)
  }

  /// Notes a violation: a sentence for people, which names the cause if it is known, and the call.
  package mutating func violation(_ message: String, at call: String) {
    guard violations.count < Self.maxViolations else { return }
    violations.append(
      Violation(law: law, message: scanner.redacted(message), call: scanner.redacted(call)))
  }

  package mutating func violation(expected: String, found: String, at call: String) {
    violation("expected \(expected), found \(found)", at: call)
  }

  /// Marks the law as not applicable; violations found so far stand.
  package mutating func notApplicable(_ reason: String) { notApplicableReason = reason }

  var isViolated: Bool { !violations.isEmpty }

  package var verdict: Verdict {
    if !violations.isEmpty { return .violated(violations) }
    return notApplicableReason.map(Verdict.notApplicable) ?? .holds
  }

  /// Violations found so far stand.
  package func verdict(after failure: SourceError) -> Verdict {
    violations.isEmpty ? .inconclusive(scanner.redacted(failure)) : .violated(violations)
  }
}

extension PageRequest {
  /// The call without its cursor: `list, limit 7`.
  package var text: String {
    "\(query.map { "search \"\($0)\"" } ?? "list"), limit \(limit)"
  }
}

extension SourceError {
  /// True if the service failed or the call was cancelled, so the error proves nothing about the
  /// source.
  package var isServiceFailure: Bool {
    code == .cancelled || allowsFallback && code != .unsupported
  }

  package var text: String { "\(code): \(message)" }
}

/// The check that the current task runs, so that a crash in the code of a source can be located.
package enum RunningCheck {
  /// The parts of its name: `papers in empty-page: list, first page`.
  @TaskLocal package static var name: String?

  package static func named<Answer>(_ part: String, _ body: () async -> Answer) async -> Answer {
    await $name.withValue(name.map { "\($0): \(part)" } ?? part, operation: body)
  }
}
