import AggregatorKit

extension Law {
  /// Two walks find the same.
  static let walkStable = Law(
    "walk-stable", "Two walks find the same records in the same order.", WalkStable())
}

private struct WalkStable: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ trial: inout Trial
  ) async throws(SourceError) {
    let reference = await subject.walk()
    try trial.expectSame(await subject.walk(), as: reference)
  }
}
