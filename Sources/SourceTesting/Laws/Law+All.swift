public import AggregatorKit
public import AggregatorLaws

extension Law {
  /// All laws, each after those that it rests on.
  public static let all: [Law] = [
    idsUnique, walkStable, walkEnds, anyPageSize, limitKept, positionsTrue,
    cursorLasts, cursorForeign, cursorDamaged,
    searchMatches, searchWithinList, searchComplete,
    knownFound, unknownNotFound, mergeKeeps,
    recordRoundTrip, fieldKinds, fieldStored, searchableText,
    cancellation, oneRequest, noSecret,
  ]
}

extension LawReport {
  /// Checks all laws.
  public init(on subject: LawSubject<some Record>) async {
    await self.init(on: subject, of: Law.all)
  }
}
