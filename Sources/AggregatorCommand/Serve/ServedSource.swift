import AggregatorKit

/// A query for a list, as the API and the page receive it.
struct ServedQuery: Hashable, Sendable {
  enum Cache: String, CaseIterable, Sendable {
    /// Fresh cached data, else the service, else local data.
    case normal
    /// Local data; no connection is opened.
    case offline
    /// The service, even if cached data is fresh; else local data.
    case reload
    /// The service, or a failure.
    case live
  }

  /// `nil` for all records; never blank.
  var query: String?
  /// From 1 to the largest page of the source; `nil` for 20.
  var limit: Int?
  var cursor: String?
  var cache = Cache.normal
  /// The names of `fields`; `nil` for all.
  var fields: [String]?
  /// Conditions, as for `--where`.
  var conditions: [String] = []
  /// The order, as for `--sort`.
  var order: String?
  /// True for the page, which shows ``ServedRecord/summary`` and ``ServedRecord/card``.
  var isForPeople = false
}

/// A page of a list.
struct ServedPage: Sendable {
  var records: [ServedRecord]
  var summary: ListingSummary
  /// Why the answer is not live, or what to do, in words for people; `nil` if there is nothing to say.
  var reason: String?
}

/// A source behind the API and the page: its chains are built once, and calls in flight are shared.
///
/// Errors of its functions are ``CommandError`` with code `usage` for an invalid query, or ``SourceError``.
protocol ServedSource: Sendable {
  var name: String { get }
  var summary: String { get }
  /// The record in the singular and the plural.
  var noun: RecordNoun { get }
  var fields: [FieldEntry] { get }
  /// An example of a query, and of an ID.
  var example: PluginExample { get }
  var hasImages: Bool { get }
  var isEndless: Bool { get }
  /// The most records of a page.
  var largestPage: Int { get }
  /// False for a source whose records cannot be sorted and selected, or that has no store.
  var hasStore: Bool { get }

  func page(_ query: ServedQuery) async throws -> ServedPage
  func record(_ id: String, _ query: ServedQuery) async throws -> ServedPage
  func image(
    _ id: String, _ size: ImageSize, _ cache: ServedQuery.Cache
  ) async throws -> LookupResult<LoadedImage>
  /// Hides a record on this machine; false if it is unknown.
  func delete(_ id: String) async throws -> Bool
  /// False if the record is not deleted.
  func restore(_ id: String) async throws -> Bool
  /// Downloads the records of the service, all of them or `pages` pages.
  func sync(pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void) async throws
    -> SyncResult
}
