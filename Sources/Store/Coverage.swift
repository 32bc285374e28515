public import AggregatorCore
import AggregatorFoundation

/// The part of a service's records that is cached.
public struct Coverage: Hashable, Sendable {
  /// The number of cached records, including deleted ones.
  public var cached: Int

  /// The number of all records, as the service last reported it; `nil` if unknown.
  public var total: Int?

  /// True if every record of the service is cached, as far as is known.
  public var isComplete: Bool

  /// The name of the checkpoint that a complete sync leaves.
  static let checkpoint = "complete"

  public init(cached: Int, total: Int?, isComplete: Bool) {
    self.cached = cached
    self.total = total
    self.isComplete = isComplete
  }
}

extension Store {
  /// The part of a source's records that is cached, judged by its cached pages and its last sync.
  public func coverage(of source: String) async throws(SourceError) -> Coverage {
    let status = try await status(of: source)
    let cached = status.records + status.hidden
    let lists = try await fetchedPages(of: source).filter { isList($0.key) }.map(\.page)
    if let total = lists.lazy.compactMap(\.total).first {
      return Coverage(cached: cached, total: total, isComplete: cached >= total)
    }
    // A list whose last page was fetched had all the pages before it.
    let isListed = lists.contains { $0.next == nil }
    let isSynced = try await checkpoint(Coverage.checkpoint, of: source) != nil
    return Coverage(cached: cached, total: nil, isComplete: isListed || isSynced)
  }

  /// True for the key of a page that `cached` made for a list without a query.
  private func isList(_ key: String) -> Bool {
    guard case .array(let parts)? = JSON(reading: Data(key.utf8)), parts.count > 1 else {
      return false
    }
    return parts[1] == .string(CallKind.list.rawValue)
  }
}
