public import AggregatorKit

/// Something that every ``DataSource`` promises, and how it is checked.
///
/// A law asserts nothing and prints nothing: it asks a ``LawSubject`` some questions and says what it
/// found. Tests assert laws with `expectLaws` of SourceTesting; a program can check a live service with
/// those that are cheap:
///
/// ```swift
/// let report = await LawReport(on: subject, of: Law.all.filter(\.isCheap))
/// for violation in report.violations { print(violation) }
/// ```
public struct Law: Sendable, CustomStringConvertible {
  /// The stable name, for programs: `ids-unique`.
  public let name: String

  /// What it says, in a sentence.
  public let sentence: String

  /// Whether it asks for a few small pages only, so that a live service can be asked.
  ///
  /// The others walk, as far as ``LawSubject/bound`` allows.
  public let isCheap: Bool

  /// The names of the laws without which this one tells nothing.
  public let premises: [String]

  private let judge: any LawCheck

  package init(
    _ name: String, _ sentence: String, isCheap: Bool = false, given premises: [Law] = [],
    _ judge: some LawCheck
  ) {
    self.name = name
    self.sentence = sentence
    self.isCheap = isCheap
    self.premises = premises.map(\.name)
    self.judge = judge
  }

  /// Checks it.
  ///
  /// - Parameter subject: The source, and what is known of it. One law at a time may be checked on it.
  /// - Returns: What was found. A law that could not be checked because the source failed is
  ///   `unjudged`, and not violated.
  public func check(_ subject: LawSubject<some Record>) async -> Verdict {
    var context = LawContext(of: name, hiding: subject.secrets)
    do {
      try await judge.run(on: subject, &context)
      return context.verdict
    } catch {
      return context.verdict(after: error)
    }
  }

  /// The name and the sentence, after a colon.
  public var description: String { "\(name): \(sentence)" }
}

/// How a law is checked.
package protocol LawCheck: Sendable {
  /// Notes every violation in `trial`.
  ///
  /// A failure of the source that is not what the law is about is simply thrown.
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError)
}

extension Law {
  /// Those that judge records, wherever they are from: one page of a live service can be put to them.
  public static let ofRecords: [Law] = [recordRoundTrip, fieldKinds, fieldStored, searchableText]
}
