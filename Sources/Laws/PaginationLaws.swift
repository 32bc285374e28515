import AggregatorKit

extension Law {
  package static let paginationStable = Law(
    "pagination-stable", "Fetching pages twice returns the same records in the same order.",
    PaginationStable())

  package static let paginationEnds = Law(
    "pagination-ends", "Pagination ends; if declared endless, it continues to the bound.",
    given: [paginationStable], PaginationEnds())

  package static let idsUnique = Law(
    "ids-unique", "Pagination never returns the same ID twice.",
    given: [paginationStable, paginationEnds], IDsUnique())

  package static let listComplete = Law(
    "list-complete",
    "A list has all records of the service, which are as many as it says.",
    given: [idsUnique], ListComplete())

  package static let anyPageSize = Law(
    "any-page-size", "Every page size returns the same records in the same order.",
    given: [listComplete], SameAtAnySize())

  package static let limitRespected = Law(
    "limit-respected", "A page never has more records than requested.",
    LimitRespected())
}

private struct PaginationStable: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    if subject.spendsTokens { return law.notApplicable(LawContext.spentTokens) }
    let reference = await subject.collectPages()
    try law.expectSame(await subject.collectPages(), as: reference)
  }
}

private struct PaginationEnds: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let whole = await subject.wholeList()
    if let failure = whole.listing.failure { throw failure }
    let count = whole.listing.records.count
    switch whole.listing.end {
    case .exhausted where subject.isEndless:
      // Fallback data for an endless service may end.
      if let reason = whole.listing.reason { throw reason }
      law.violation(
        "the source is declared endless, but ends after \(count.of("record"))", at: whole.lastCall)
    case .nothingNew where subject.repeatsRecords:
      law.notApplicable("the service repeats records")
    case let end? where end.isWithoutProgress:
      let cause = whole.repetition.map { "\($0.text) (\(end.text))" }
      law.violation(cause ?? "the list does not end: \(end.text)", at: whole.lastCall)
    case .itemLimit where !subject.isEndless, .pageLimit where !subject.isEndless:
      law.notApplicable(LawContext.unreachedEnd(after: count))
    default: break
    }
  }
}

private struct IDsUnique: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    if subject.repeatsRecords { return law.notApplicable("the service repeats records") }
    let whole = await subject.wholeList()
    if let (text, call) = whole.repetition { law.violation(text, at: call) }
    if let failure = whole.listing.failure { throw failure }
  }
}

private struct SameAtAnySize: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    // Largest size first: it covers the most records within the bound.
    let sizes = subject.sizes.sorted(by: >)
    guard let largest = sizes.first else { return law.notApplicable("no page sizes are given") }
    let reference = await subject.collectPages(size: largest)
    for size in sizes.dropFirst() {
      try law.expectSame(await subject.collectPages(size: size), as: reference)
    }
  }
}

private struct LimitRespected: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    for limit in [1, 7] {
      var request = PageRequest(limit: limit)
      let start = request.text
      for number in 1...2 {
        let page = try await subject.source.page(request)
        if page.records.count > limit {
          law.violation(
            "a page of at most \(limit.of("record")) has \(page.records.count)",
            at: number == 1 ? start : "\(start), page 2")
          return
        }
        guard let next = page.next else { break }
        request = request.after(next)
      }
    }
  }
}
