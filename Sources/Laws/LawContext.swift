package import AggregatorKit

/// The checking of one law: what has been noted so far.
package struct LawContext {
  /// More would only repeat what the first ones say.
  private static let mostNoted = 5

  private let law: String
  private let redactor: Redactor
  private var violations: [Violation] = []
  private var exemption: String?

  /// The checking of a law whose words shall not repeat what the source was wrong to tell.
  init(of law: String, hiding secrets: [Secret]) {
    self.law = law
    redactor = Redactor(secrets.map { $0.reveal(\.self) })
  }

  /// Notes that the law is broken.
  package mutating func note(expected: String, found: String, at place: String) {
    guard violations.count < Self.mostNoted else { return }
    violations.append(
      Violation(
        law: law, expected: redactor.redacted(expected), found: redactor.redacted(found),
        place: redactor.redacted(place)))
  }

  /// Notes that the law says nothing about this source.
  ///
  /// What was noted as broken stands.
  package mutating func exempt(_ reason: String) { exemption = reason }

  var verdict: Verdict {
    if !violations.isEmpty { return .violated(violations) }
    return exemption.map(Verdict.notApplicable) ?? .kept
  }

  /// What was broken before the source failed is broken all the same.
  func verdict(after failure: SourceError) -> Verdict {
    var failure = failure
    failure.message = redactor.redacted(failure.message)
    failure.remedy = failure.remedy.map { Remedy(redactor.redacted($0.text), $0.action) }
    return violations.isEmpty ? .unjudged(failure) : .violated(violations)
  }
}

extension PageRequest {
  /// The request in words, as the place of a violation.
  package var text: String {
    [query.map { "search '\($0)'" } ?? "list", "limit \(limit)", cursor.map { "after \($0)" }]
      .compactMap(\.self).joined(separator: ", ")
  }
}

extension SourceError {
  /// Whether it says no more than that the service failed, or that the check itself was ended.
  package var isTheServices: Bool { code == .cancelled || allowsFallback && code != .unsupported }

  /// The failure in words, with its code.
  package var text: String { "\(code): \(message)" }
}

extension Int {
  /// `1 record`, `7 records`.
  package var records: String { self == 1 ? "1 record" : "\(self) records" }
}
