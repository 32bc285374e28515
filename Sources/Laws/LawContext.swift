package import AggregatorKit

/// Collects the violations of one law while it is checked.
package struct LawContext {
  /// Further violations would only repeat the first ones.
  private static let maxViolations = 5

  private let law: String
  private let redactor: Redactor
  private var violations: [Violation] = []
  private var exemption: String?

  /// Redacts `secrets`, because a faulty source may have leaked them.
  init(of law: String, hiding secrets: [Secret]) {
    self.law = law
    redactor = Redactor(secrets.map { $0.reveal(\.self) })
  }

  package mutating func note(expected: String, found: String, at call: String) {
    guard violations.count < Self.maxViolations else { return }
    violations.append(
      Violation(
        law: law, expected: redactor.redacted(expected), found: redactor.redacted(found),
        call: redactor.redacted(call)))
  }

  /// Marks the law as not applicable; violations noted so far stand.
  package mutating func exempt(_ reason: String) { exemption = reason }

  var verdict: Verdict {
    if !violations.isEmpty { return .violated(violations) }
    return exemption.map(Verdict.notApplicable) ?? .holds
  }

  /// Violations noted so far stand.
  func verdict(after failure: SourceError) -> Verdict {
    var failure = failure
    failure.message = redactor.redacted(failure.message)
    failure.remedy = failure.remedy.map { Remedy(redactor.redacted($0.text), $0.action) }
    return violations.isEmpty ? .inconclusive(failure) : .violated(violations)
  }
}

extension PageRequest {
  package var text: String {
    [query.map { "search \"\($0)\"" } ?? "list", "limit \(limit)", cursor.map { "after \($0)" }]
      .compactMap(\.self).joined(separator: ", ")
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
