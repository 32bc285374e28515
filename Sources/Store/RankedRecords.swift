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

/// A page of a ranked search, which a store fills rank by rank.
package struct RankedSlice {
  /// Where the records of each rank begin that the page may have, the closest rank first.
  package let starts: [RankedPosition]

  /// The rank of the last record.
  package private(set) var last: SearchRank

  private var records: [StoredRecord] = []
  private let limit: Int

  package init(after start: RankedPosition?, limit: Int) {
    last = start?.rank ?? .id
    starts = SearchRank.allCases.filter { $0 >= start?.rank ?? .id }.map { rank in
      RankedPosition(rank, rank == start?.rank ? start?.position ?? 0 : 0)
    }
    self.limit = limit
  }

  /// The number of records that may follow, one of which only shows that there are more.
  package var missing: Int { RecordWindow.limit(showingMoreThan: limit) - records.count }

  /// Adds the next records, which have the same rank.
  package mutating func append(_ found: [StoredRecord], of rank: SearchRank) {
    // The record that only shows that there are more has no part in the position.
    if !found.isEmpty, records.count < limit { last = rank }
    records += found.prefix(missing)
  }

  /// The page, without a total.
  package var slice: RecordSlice { RecordSlice(records, limit: limit) }
}

/// The first matches of a search in first-seen order, ranked by their titles.
package struct RankedMatches: Sendable {
  /// A match without a rank is deleted or removed upstream, and not shown: it counts for the bound, so that the others
  /// are ranked alike on every page, whatever is deleted and restored meanwhile.
  package typealias Match = (position: Int64, rank: SearchRank?)

  /// The most matches to find: one more than are ranked, which shows that there are more.
  package static let limit = RecordWindow.limit(showingMoreThan: StoreLimit.countedMatches)

  /// The position of the last of them; `nil` if there are no other matches.
  package let end: Int64?

  private let matches: [(position: Int64, rank: SearchRank)]

  package init(_ found: [Match]) {
    let first = found.prefix(StoreLimit.countedMatches)
    end = found.count > first.count ? first.last?.position : nil
    matches = first.compactMap { match in match.rank.map { (match.position, $0) } }
  }

  /// The number of all matches; `nil` if there are others.
  package var total: Int? { end == nil ? matches.count : nil }

  /// The positions of the matches of a rank after a position.
  package func positions(after start: RankedPosition, atMost limit: Int) -> [Int64] {
    matches.lazy.filter { $0.rank == start.rank && $0.position > start.position }
      .prefix(limit).map(\.position)
  }
}

extension RecordSlice {
  /// The first of the records that were found; one more than `limit` shows that there are more.
  package init(_ found: [StoredRecord], limit: Int, total: Int? = nil) {
    self.init(records: Array(found.prefix(limit)), hasMore: found.count > limit, total: total)
  }
}

extension SourceStore {
  /// Without ranks, all matches have the same one.
  public func records(
    of source: String, matching search: RankedSearch, after start: RankedPosition?, limit: Int
  ) async throws(SourceError) -> (slice: RecordSlice, last: SearchRank) {
    let slice = try await records(
      of: source, matching: search.words, after: start?.position ?? 0, limit: limit)
    return (slice, .other)
  }
}

extension RecordStore {
  /// The records of a request after a position, and the position of the last of them.
  package func slice(
    _ request: PageRequest, after start: RecordPosition?
  ) async throws(SourceError) -> (slice: RecordSlice, last: RecordPosition?) {
    guard let query = request.query, start == nil || start?.rank != nil else {
      // Also for a search that began before matches were ranked.
      let slice = try await store.records(
        of: source, matching: request.query?.words ?? [], after: start?.position ?? 0,
        limit: request.limit)
      return (slice, slice.records.last.map { RecordPosition($0) })
    }
    let (slice, rank) = try await store.records(
      of: source, matching: RankedSearch(query, for: Item.self),
      after: start.flatMap { start in start.rank.map { RankedPosition($0, start.position) } },
      limit: request.limit)
    return (slice, slice.records.last.map { RecordPosition($0, rank: rank) })
  }
}
