import AggregatorKit

extension Law {
  package static let idsUnique = Law(
    "ids-unique", "Pagination never returns the same ID twice.", IDsUnique())

  package static let paginationStable = Law(
    "pagination-stable", "Fetching all pages twice returns the same records in the same order.",
    PaginationStable())

  package static let paginationEnds = Law(
    "pagination-ends", "Pagination ends; if declared endless, it continues to the bound.",
    PaginationEnds())

  package static let listComplete = Law(
    "list-complete",
    "A list that ends has as many records as the source says, and does not lack any.",
    ListComplete())

  package static let anyPageSize = Law(
    "any-page-size", "Every page size returns the same records in the same order.",
    given: [paginationStable], SameAtAnySize())

  package static let limitRespected = Law(
    "limit-respected", "A page never has more records than requested.",
    LimitRespected())
}

private struct IDsUnique: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ law: inout LawContext
  ) async throws(SourceError) {
    if subject.repeatsRecords { return law.notApplicable("the service repeats records") }
    let collected = await subject.collectPages()
    var calls: [Item.ID: String] = [:]
    for (index, (_, page)) in collected.pages.enumerated() {
      for record in page.records {
        if let call = calls.updateValue(collected.text(ofPage: index), forKey: record.id) {
          law.violation(
            expected: "unique IDs", found: "\"\(record.id)\" again, already in \(call)",
            at: collected.text(ofPage: index))
        }
      }
    }
    if let failure = collected.failure { throw failure }
  }
}

private struct PaginationStable: LawCheck {
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    if subject.spendsTokens { return law.notApplicable(LawContext.spentTokens) }
    let reference = await subject.collectPages()
    try law.expectSame(await subject.collectPages(), as: reference)
  }
}

private struct PaginationEnds: LawCheck {
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    let collected = await subject.collectPages(size: subject.sizes.max() ?? 7)
    if let failure = collected.failure { throw failure }
    let call = collected.text(ofPage: collected.pages.count - 1)
    switch collected.end {
    case .exhausted where subject.isEndless:
      // Fallback data for an endless service may end.
      if let reason = collected.reason { throw reason }
      law.violation(expected: "an endless source", found: "the end", at: call)
    case let end? where end.isWithoutProgress:
      law.violation(
        expected: subject.isEndless ? "more records" : "the end", found: end.text, at: call)
    case .itemLimit where !subject.isEndless, .pageLimit where !subject.isEndless:
      law.notApplicable(
        "there are more than the \(collected.records.count.of("record")) within the bound")
    default: break
    }
  }
}

private struct ListComplete: LawCheck {
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    let collected = await subject.collectPages(size: subject.sizes.max() ?? 7)
    if let failure = collected.failure { throw failure }
    guard collected.end == .exhausted else {
      return law.notApplicable(
        "there are more than the \(collected.records.count.of("record")) within the bound")
    }
    // The walk itself compares the totals with what it has read.
    for (index, (_, page)) in collected.pages.enumerated() {
      for warning in page.warnings where warning.meansIncomplete {
        law.violation(
          expected: "all records", found: warning.message, at: collected.text(ofPage: index))
      }
    }
    let call = collected.text(ofPage: collected.pages.count - 1)
    if let total = collected.pages.last?.page.total, total < collected.records.count {
      law.violation(
        expected: "a total of \(collected.records.count) or more", found: "\(total)", at: call)
    }
  }
}

private struct SameAtAnySize: LawCheck {
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
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
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    for limit in [1, 7] {
      var request = PageRequest(limit: limit)
      let start = request.text
      for number in 1...2 {
        let page = try await subject.source.page(request)
        if page.records.count > limit {
          law.violation(
            expected: "at most \(limit.of("record"))", found: "\(page.records.count)",
            at: number == 1 ? start : "\(start), page 2")
        }
        guard let next = page.next else { break }
        request = request.after(next)
      }
    }
  }
}
