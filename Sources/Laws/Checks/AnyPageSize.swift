import AggregatorKit

extension Law {
  /// Pages of any size give the same.
  static let anyPageSize = Law(
    "any-page-size", "Pages of any size give the same records in the same order.",
    given: [walkStable], AnyPageSize())
}

private struct AnyPageSize: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ trial: inout Trial
  ) async throws(SourceError) {
    // The largest pages lead furthest.
    let sizes = subject.sizes.sorted(by: >)
    guard let largest = sizes.first else { return trial.exempt("no page size is named") }
    let reference = await subject.walk(size: largest)
    for size in sizes.dropFirst() {
      try trial.expectSame(await subject.walk(size: size), as: reference)
    }
  }
}
