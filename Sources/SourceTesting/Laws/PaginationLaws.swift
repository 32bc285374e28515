import AggregatorKit
import AggregatorLaws

extension Law {
  static let idsUnique = Law(
    "ids-unique", "Pagination never returns the same ID twice.", IDsUnique())
}

private struct IDsUnique: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    if subject.repeatsRecords { return context.exempt("the service repeats records") }
    let walk = await subject.collectPages()
    var calls: [Item.ID: String] = [:]
    for (request, page) in walk.pages {
      for record in page.records {
        if let call = calls.updateValue(request.text, forKey: record.id) {
          context.note(
            expected: "unique IDs", found: "\"\(record.id)\" again, already in \(call)",
            at: request.text)
        }
      }
    }
    if let failure = walk.failure { throw failure }
  }
}

extension Law {
  static let walkStable = Law(
    "walk-stable", "Fetching all pages twice returns the same records in the same order.",
    PaginationStable())
}

private struct PaginationStable: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let reference = await subject.collectPages()
    try context.expectSame(await subject.collectPages(), as: reference)
  }
}

extension Law {
  static let walkEnds = Law(
    "walk-ends", "Pagination ends; if declared endless, it continues to the bound.",
    PaginationEnds())
}

private struct PaginationEnds: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let walk = await subject.collectPages(size: subject.sizes.max() ?? 7)
    if let failure = walk.failure { throw failure }
    let call = walk.pages.last?.request.text ?? walk.start.text
    switch walk.end {
    case .exhausted where subject.isEndless:
      // Fallback data for an endless service may end.
      if let reason = walk.reason { throw reason }
      context.note(expected: "an endless source", found: "the end", at: call)
    case let end? where end.isStall:
      context.note(
        expected: subject.isEndless ? "more records" : "the end", found: end.text, at: call)
    case .itemLimit where !subject.isEndless, .pageLimit where !subject.isEndless:
      context.exempt("there are more than the \(walk.records.count.records) within the bound")
    default: break
    }
  }
}

extension Law {
  static let anyPageSize = Law(
    "any-page-size", "Every page size returns the same records in the same order.",
    given: [walkStable], AnyPageSize())
}

private struct AnyPageSize: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    // The largest pages get furthest.
    let sizes = subject.sizes.sorted(by: >)
    guard let largest = sizes.first else { return context.exempt("no page sizes are given") }
    let reference = await subject.collectPages(size: largest)
    for size in sizes.dropFirst() {
      try context.expectSame(await subject.collectPages(size: size), as: reference)
    }
  }
}

extension Law {
  static let limitKept = Law(
    "limit-kept", "A page never has more records than requested.", isCheap: true,
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
