import AggregatorKit

extension Law {
  /// A walk comes to its end, or is endless and goes on.
  static let walkEnds = Law(
    "walk-ends", "A walk comes to its end; one that is declared endless goes on to its bound.",
    PaginationEnds())
}

private struct PaginationEnds: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let walk = await subject.walk(size: subject.sizes.max() ?? 7)
    if let failure = walk.failure { throw failure }
    let place = walk.pages.last?.request.text ?? walk.start.text
    switch walk.end {
    case .exhausted where subject.isEndless:
      // Who stands in for a service without end may come to one.
      if let reason = walk.reason { throw reason }
      context.note(expected: "a source without end", found: "an end", at: place)
    case let end? where end.isStall:
      context.note(
        expected: subject.isEndless ? "more records" : "an end", found: end.text, at: place)
    case .itemLimit where !subject.isEndless, .pageLimit where !subject.isEndless:
      context.exempt("it has more than the \(walk.records.count.records) that were walked through")
    default: break
    }
  }
}
