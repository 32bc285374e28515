import AggregatorKit

extension Law {
  /// A page is not larger than was asked for.
  static let limitKept = Law(
    "limit-kept", "A page has at most as many records as were asked for.", isCheap: true,
    LimitKept())
}

private struct LimitKept: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    for limit in [1, 7] {
      var request = PageRequest(limit: limit)
      for _ in 1...2 {
        let page = try await subject.source.page(request)
        if page.records.count > limit {
          context.note(
            expected: "at most \(limit.records)", found: "\(page.records.count)",
            at: request.text)
        }
        guard let next = page.next else { break }
        request = request.after(next)
      }
    }
  }
}
