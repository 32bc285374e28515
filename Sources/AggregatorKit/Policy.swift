public import AggregatorCore
public import AggregatorSettings

/// The timeouts, retries, rate limit and paging of a source.
public struct Policy: Sendable {
  /// The longest time for one page, with its retries.
  public var deadline: Duration

  public var retry: RetryPolicy

  /// The circuit breaker; `nil` for none.
  public var breaker: BreakerPolicy?

  /// The setting of the rate limit; `nil` for none.
  ///
  /// Sources of one host and ``Plugin/account`` keep the lowest of their rates together.
  public var rate: Setting?

  /// The most records of one page of the service.
  public var largestPage: Int

  /// The fixed page size of requests; `nil` for ``DataSource/pageSize`` of the remote, or else the caller's.
  ///
  /// For services with one page size that the remote does not know; see ``DataSource/sliced(upstream:as:keptFor:clock:version:)``.
  public var upstreamPageSize: UpstreamPageSize?

  /// The page size of a sync; `nil` for the same as ``upstreamPageSize``.
  public var syncPageSize: UpstreamPageSize?

  /// The most records that the service lists, if it may have more; `nil` for no limit.
  public var depthLimit: Int?

  public var rateUnit: RateUnit

  /// The most records scanned by one search; `nil` if the service has a search.
  ///
  /// See ``DataSource/searchingLocally(upTo:by:as:text:)``.
  public var localSearchBound: Int?

  public var readOrder: ReadOrder

  /// True if the service never ends, so that listing everything requires a bound.
  public var isEndless: Bool

  /// True if later pages may repeat records, which are then left out.
  public var repeatsRecords: Bool

  /// True if a sync of a service without a total reads the first page again at its end; false by default.
  ///
  /// If it has other records then, some may have moved past the reader, and the sync is not complete. It takes one
  /// more request.
  public var readsFirstPageAgain = false

  /// True if the list is one file, see ``RESTPaging/file``: a sync reads its next pages while it stores others, because
  /// they are no requests; false by default.
  public var listIsFile = false

  /// The path of the file of this machine that has the records; `nil` if a service has them.
  package var file: String?

  /// Creates a policy: three attempts, and a pause of 30 s after five failures, by default.
  public init(
    deadline: Duration = .seconds(15), retry: RetryPolicy = .standard,
    breaker: BreakerPolicy? = .standard, rate: Setting? = nil, rateUnit: RateUnit = .calls,
    largestPage: Int = 100, upstreamPageSize: UpstreamPageSize? = nil,
    syncPageSize: UpstreamPageSize? = nil, depthLimit: Int? = nil, localSearchBound: Int? = nil,
    readOrder: ReadOrder = .liveFirst(freshFor: .seconds(60)),
    isEndless: Bool = false, repeatsRecords: Bool = false
  ) {
    self.deadline = deadline
    self.retry = retry
    self.breaker = breaker
    self.rate = rate
    self.rateUnit = rateUnit
    self.largestPage = largestPage
    self.upstreamPageSize = upstreamPageSize
    self.syncPageSize = syncPageSize
    self.depthLimit = depthLimit
    self.localSearchBound = localSearchBound
    self.readOrder = readOrder
    self.isEndless = isEndless
    self.repeatsRecords = repeatsRecords
  }
}

/// The order in which service and store are read.
public enum ReadOrder: Hashable, Sendable {
  /// The service, cached with a time to live; stale pages are used if it fails.
  case liveFirst(freshFor: Duration)
  /// The store, which loads more records at its end.
  case localFirst
  /// Nothing but the store, which a sync fills.
  case storedOnly
}

extension Policy {
  /// True if cached records are listed without a request.
  package var readsStoreFirst: Bool { readOrder == .localFirst || readOrder == .storedOnly }
}

/// The page size of requests.
public enum UpstreamPageSize: Hashable, Sendable {
  /// Always this many records.
  case fixed(Int)
  /// The value of a setting of the form `count`.
  case setting(Setting)

  /// The number of records, 1 or more.
  func value(in settings: SourceSettings) throws(SourceError) -> Int {
    switch self {
    case .fixed(let size): size
    case .setting(let setting): try settings.count(setting)
    }
  }
}

/// The unit of a rate.
public enum RateUnit: Hashable, Sendable {
  /// Calls of any kind.
  case calls
  /// Calls of each kind, for a service that counts lists, searches and lookups separately.
  case callsOfEachKind
  /// Records requested: each call costs the page size.
  case records
}
