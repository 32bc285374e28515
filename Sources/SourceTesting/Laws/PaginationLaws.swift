import AggregatorKit
import AggregatorLaws

extension Law {
  /// No id comes twice in a walk.
  static let idsUnique = Law("ids-unique", "No id comes twice in a walk.", IDsUnique())
}

private struct IDsUnique: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    if subject.repeatsRecords { return context.exempt("the service is known to repeat records") }
    let walk = await subject.walk()
    var places: [Item.ID: String] = [:]
    for (request, page) in walk.pages {
      for record in page.records {
        if let place = places.updateValue(request.text, forKey: record.id) {
          context.note(
            expected: "every id once", found: "'\(record.id)' again, after \(place)",
            at: request.text)
        }
      }
    }
    if let failure = walk.failure { throw failure }
  }
}

extension Law {
  /// Two walks find the same.
  static let walkStable = Law(
    "walk-stable", "Two walks find the same records in the same order.", PaginationStable())
}

private struct PaginationStable: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let reference = await subject.walk()
    try context.expectSame(await subject.walk(), as: reference)
  }
}

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

extension Law {
  /// Pages of any size give the same.
  static let anyPageSize = Law(
    "any-page-size", "Pages of any size give the same records in the same order.",
    given: [walkStable], AnyPageSize())
}

private struct AnyPageSize: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    // The largest pages lead furthest.
    let sizes = subject.sizes.sorted(by: >)
    guard let largest = sizes.first else { return context.exempt("no page size is named") }
    let reference = await subject.walk(size: largest)
    for size in sizes.dropFirst() {
      try context.expectSame(await subject.walk(size: size), as: reference)
    }
  }
}

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
