package import AggregatorKit

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

  package mutating func violation(expected: String, found: String, at call: String) {
    guard violations.count < Self.maxViolations else { return }
    violations.append(
      Violation(
        law: law, expected: scanner.redacted(expected), found: scanner.redacted(found),
        call: scanner.redacted(call)))
  }

  /// Marks the law as not applicable; violations found so far stand.
  package mutating func notApplicable(_ reason: String) { notApplicableReason = reason }

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

extension Int {
  package var records: String { self == 1 ? "1 record" : "\(self) records" }
}
