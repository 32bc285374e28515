public import AggregatorCore

/// A position among the matches of a ranked search.
public struct RankedPosition: Hashable, Sendable {
  public var rank: SearchRank

  /// The position of a record of this rank in first-seen order; 0 for the start.
  public var position: Int64

  public init(_ rank: SearchRank, _ position: Int64) {
    self.rank = rank
    self.position = position
  }
}

extension Store {
  /// Without ranks, all matches have the last one.
  public func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: StoredSlice, last: SearchRank) {
    let slice = try await records(
      of: source, matching: search.words, after: start?.position ?? 0, limit: limit)
    return (slice, .other)
  }
}

extension RecordStore {
  /// The records of a request after a position, and the position of the last of them.
  func slice(
    _ request: PageRequest, after start: StoredPosition?
  ) async throws(SourceError) -> (slice: StoredSlice, last: StoredPosition?) {
    guard let query = request.query, start == nil || start?.rank != nil else {
      // Also for a search that began before matches were ranked.
      let slice = try await store.records(
        of: source, matching: request.query?.words ?? [], after: start?.position ?? 0,
        limit: request.limit)
      return (slice, slice.records.last.map { StoredPosition($0) })
    }
    let (slice, rank) = try await store.records(
      of: source, matching: RankedSearch(query, for: Item.self),
      after: start.flatMap { start in start.rank.map { RankedPosition($0, start.position) } },
      limit: request.limit)
    return (slice, slice.records.last.map { StoredPosition($0, rank: rank) })
  }
}
