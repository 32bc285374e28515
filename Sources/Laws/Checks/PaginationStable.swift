import AggregatorKit

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
