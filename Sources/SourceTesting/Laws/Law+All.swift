public import AggregatorKit
public import AggregatorLaws

extension Law {
  /// Each law comes after its premises.
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
  public init(on subject: LawSubject<some Record>) async {
    await self.init(on: subject, of: Law.all)
  }
}
