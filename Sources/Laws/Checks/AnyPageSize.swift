import AggregatorKit

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
