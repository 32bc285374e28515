import AggregatorKit

extension Law {
  /// Secrets stay secret.
  static let noSecret = Law(
    "no-secret",
    "No secret is in any answer, failure, event or cursor, nor in the source's description.",
    isCheap: true, NoSecret())
}

private struct NoSecret: LawCheck {
  /// Shorter ones would be found by accident, in every text.
  private static let shortest = 8

  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let forms = subject.secrets.flatMap { $0.reveal(\.forms) }.filter { $0.count >= Self.shortest }
    guard !forms.isEmpty else { return context.exempt("it has no secret") }
    var texts = [("the source's description", String(describing: subject.source))]
    texts += await subject.sampleCalls().map { ($0.place, $0.text) }
    for (place, text) in texts where forms.contains(where: text.lowercased().contains) {
      context.note(expected: "no secret", found: "a secret", at: place)
    }
  }
}

extension String {
  /// What a secret can look like in a text, in lower case.
  fileprivate var forms: [String] {
    [self, percentEncoded, replacing("/", with: #"\/"#), replacing(" ", with: "+")]
      .map { $0.lowercased() }
  }
}
