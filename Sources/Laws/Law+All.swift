import AggregatorKit

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

  /// Those that judge records, wherever they are from: one page of a live service can be put to them.
  public static let ofRecords: [Law] = [recordRoundTrip, fieldKinds, fieldStored, searchableText]
}
