import AggregatorKit

extension Law {
  /// Positions ahead lead where they say.
  static let positionsTrue = Law(
    "positions-true",
    "Where a cursor ahead is offered, it leads to the records that a walk finds there.",
    given: [walkStable, anyPageSize], PositionsTrue())
}

private struct PositionsTrue: LawCheck {
  /// How many records are looked at where a position leads.
  private static let sample = 3

  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    if subject.repeatsRecords {
      return context.exempt("the service is known to repeat records, so positions are guesses")
    }
    let reference = await subject.walk()
    var isOffered = false
    // From the start, and from the second page.
    for (passed, after) in [(0, nil), (reference.passed, reference.pages.first?.page.next)]
    where passed == 0 || after != nil {
      for count in [1, 2, 7, 20] where passed + count < reference.records.count {
        let start = PageRequest(after: after, limit: Self.sample)
        guard let cursor = subject.source.cursor(skipping: count, from: start) else { continue }
        isOffered = true
        let landed = await CollectedPages(
          subject.source, from: start.after(cursor),
          upTo: PaginationBound(items: Self.sample, pages: 3))
        let expected = reference.records.dropFirst(passed + count).prefix(Self.sample)
        try context.expect(landed, expected, "\(start.text), skipping \(count)", reference)
      }
    }
    if let failure = reference.failure { throw failure }
    if !isOffered { context.exempt("it offers no cursor ahead") }
  }
}

extension CollectedPages {
  /// How many records the first page had.
  fileprivate var passed: Int { pages.first?.page.records.count ?? 0 }
}

extension LawContext {
  fileprivate mutating func expect<Item>(
    _ landed: CollectedPages<Item>, _ expected: ArraySlice<Item>, _ place: String,
    _ reference: CollectedPages<Item>
  ) throws(SourceError) {
    if let failure = landed.failure, failure.code != .invalidCursor { throw failure }
    guard
      !landed.records.elementsEqual(expected.prefix(landed.records.count))
        || landed.records.isEmpty
    else { return }
    try landed.expectTier(of: reference)
    note(
      expected: expected.first.map { "'\($0.id)' and what follows" } ?? "nothing",
      found: landed.failure?.text ?? landed.records.idsInWords, at: place)
  }
}
