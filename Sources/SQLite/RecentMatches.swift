import AggregatorCore
import AggregatorStore

/// The ranked matches of the most recent searches on one connection, so that a further page of a search does not rank
/// them anew.
///
/// All are of one version of the file, SQLite's number of the last change by another connection: one that reads changes
/// nothing itself.
struct RecentMatches {
  static let limit = 16

  /// Those that were used last are at the end.
  private(set) var searches: [(source: Int64, search: RankedSearch, matches: RankedMatches)] = []
  private var version: Int64 = 0

  /// The matches of a search in this version; `nil` if they are not known.
  mutating func matches(
    of search: RankedSearch, in source: Int64, at version: Int64
  ) -> RankedMatches? {
    if version != self.version { searches = [] }
    self.version = version
    guard let index = searches.firstIndex(where: { $0.source == source && $0.search == search })
    else { return nil }
    let known = searches.remove(at: index)
    searches.append(known)
    return known.matches
  }

  /// Adds the matches of a search in the version that was asked for last.
  mutating func add(_ matches: RankedMatches, of search: RankedSearch, in source: Int64) {
    if searches.count == Self.limit { searches.removeFirst() }
    searches.append((source, search, matches))
  }
}
