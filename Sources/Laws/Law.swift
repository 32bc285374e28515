public import AggregatorKit

/// A rule that every ``DataSource`` obeys, and the check for it.
///
/// Checking a law asserts and prints nothing: it queries a ``LawSubject`` and returns a
/// ``Verdict``. Tests assert laws with `expectLaws` from SourceTesting, which also has the laws
/// that need more than one page. A program can check a page of a live service:
///
/// ```swift
/// let report = await LawReport(on: subject, of: Law.all.filter(\.isCheap))
/// for violation in report.violations { print(violation) }
/// ```
public struct Law: Sendable, CustomStringConvertible {
  /// The stable identifier: `ids-unique`.
  public let name: String

  /// The law in one sentence.
  public let summary: String

  /// True if a few small requests are enough, so that the law can be checked against a live
  /// service.
  ///
  /// The other laws fetch pages up to ``LawSubject/bound``.
  public let isCheap: Bool

  /// The names of the laws that must hold for this one to mean anything.
  public let premises: [String]

  private let lawCheck: any LawCheck

  package init(
    _ name: String, _ summary: String, isCheap: Bool = false, given premises: [Law] = [],
    _ check: some LawCheck
  ) {
    self.name = name
    self.summary = summary
    self.isCheap = isCheap
    self.premises = premises.map(\.name)
    self.lawCheck = check
  }

  /// Checks the law.
  ///
  /// Check one law at a time on the same subject.
  ///
  /// If the source fails, the verdict is `inconclusive`, not `violated`.
  public func check(_ subject: LawSubject<some Record>) async -> Verdict {
    var context = LawContext(of: name, hiding: subject.secrets)
    do {
      try await lawCheck.run(on: subject, &context)
      return context.verdict
    } catch {
      return context.verdict(after: error)
    }
  }

  /// The name and the summary: `ids-unique: …`.
  public var description: String { "\(name): \(summary)" }
}

/// The check behind a ``Law``.
package protocol LawCheck: Sendable {
  /// Notes every violation in `context`.
  ///
  /// Rethrows failures of the source that the law is not about.
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError)
}

extension Law {
  /// The laws about records alone.
  ///
  /// They can be checked on a single page of a live service.
  public static let ofRecords: [Law] = [recordRoundTrip, fieldKinds, fieldStored, searchableText]
}
