import AggregatorKit

extension Law {
  /// A remote asks its service once a call.
  static let oneRequest = Law(
    "one-request", "A call of a bare service sends at most one HTTP request.", isCheap: true,
    OneRequest())
}

private struct OneRequest: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard subject.isBare, subject.probe != nil else {
      return context.exempt("it is no bare service whose requests are counted")
    }
    let calls = await subject.sampleCalls()
    for call in calls where call.requestCount > 1 {
      context.note(
        expected: "at most 1 request", found: "\(call.requestCount)", at: call.place)
    }
    // What failed in the first of several requests was not seen to send the others.
    if let failure = calls.lazy.compactMap(\.failure).first(where: \.isTheServices) {
      throw failure
    }
  }
}
