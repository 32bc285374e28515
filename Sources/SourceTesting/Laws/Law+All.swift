public import AggregatorKit
public import AggregatorLaws

extension Law {
  /// Each law comes after its premises.
  public static let all: [Law] = [
    idsUnique, paginationStable, paginationEnds, listComplete, anyPageSize, limitRespected,
    skipConsistent,
    cursorLasts, cursorForeign, cursorDamaged, oneState,
    searchMatches, searchUsesWords, searchWithinList, searchComplete,
    listedIDFound, unknownNotFound, mergeKeeps,
    recordRoundTrip, fieldKinds, fieldStored, searchableText,
    cancellation, oneRequest, noSecret,
  ]
}

extension LawReport {
  public init(on subject: LawSubject<some Record>) async {
    await self.init(on: subject, of: Law.all)
  }
}
