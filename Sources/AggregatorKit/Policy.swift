public import AggregatorCore
public import AggregatorSettings

/// How a source is treated: how long to wait, how often to ask, how to page.
public struct Policy: Sendable {
  /// How long one page may take, with its retries.
  public var deadline: Duration

  /// When failures are tried again.
  public var retry: RetryPolicy

  /// When a failing service is left alone; `nil` for never.
  public var breaker: BreakerPolicy?

  /// The setting that bounds how often each kind of call is made; `nil` for no bound.
  public var rate: Setting?

  /// The most records that one page of the service can have.
  public var largestPage: Int

  /// The one page size that upstream is asked for; `nil` passes the caller's own on.
  ///
  /// For services that know one size only; see ``DataSource/sliced(upstream:as:keptFor:clock:)``.
  public var upstreamPageSize: UpstreamPageSize?

  /// How many records a sync asks for at a time; `nil` for as many as upstream's pages have.
  public var syncPageSize: UpstreamPageSize?

  /// What the rate counts.
  public var rateUnit: RateUnit

  /// How many records one search looks at, at most; `nil` where the service searches itself.
  ///
  /// See ``DataSource/searchingLocally(upTo:by:as:text:)``.
  public var localSearchBound: Int?

  /// Who is asked first.
  public var readOrder: ReadOrder

  /// Whether the service never comes to an end, so that every walk needs a bound.
  public var isEndless: Bool

  /// Whether the service gives a record again in a later page; whoever walks leaves it out.
  public var repeatsRecords: Bool

  /// A policy.
  ///
  /// - Parameters:
  ///   - deadline: How long one page may take, with its retries; 15 seconds by default.
  ///   - retry: When failures are tried again; three attempts by default.
  ///   - breaker: When a failing service is left alone; after five failures for 30 s by default.
  ///   - rate: The setting that bounds how often each kind of call is made.
  ///   - rateUnit: What the rate counts; calls by default.
  ///   - largestPage: The most records that one page of the service can have; 100 by default.
  ///   - upstreamPageSize: The one page size that upstream is asked for.
  ///   - syncPageSize: How many records a sync asks for at a time.
  ///   - localSearchBound: For a service without search: how many records one call looks at.
  ///   - precedence: Who is asked first; by default the service, unless it was asked a minute ago.
  ///   - isEndless: Whether the service never comes to an end; not by default.
  ///   - repeatsRecords: Whether the service gives a record again in a later page; not by default.
  public init(
    deadline: Duration = .seconds(15), retry: RetryPolicy = .standard,
    breaker: BreakerPolicy? = .standard, rate: Setting? = nil, rateUnit: RateUnit = .calls,
    largestPage: Int = 100, upstreamPageSize: UpstreamPageSize? = nil,
    syncPageSize: UpstreamPageSize? = nil, localSearchBound: Int? = nil,
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
    self.localSearchBound = localSearchBound
    self.readOrder = readOrder
    self.isEndless = isEndless
    self.repeatsRecords = repeatsRecords
  }
}

/// Who of a service and a store is asked first.
public enum ReadOrder: Hashable, Sendable {
  /// The service; what it said stays true for a while, and is better than nothing after that.
  case liveFirst(freshFor: Duration)
  /// The store, which grows when it comes to its end.
  case localFirst
}

/// The one page size that upstream is asked for.
public enum UpstreamPageSize: Hashable, Sendable {
  /// Always this many records.
  case fixed(Int)
  /// As many as a setting of the form `count` says.
  case setting(Setting)

  /// The number of records.
  ///
  /// - Parameter settings: What has been set.
  /// - Returns: 1 or more.
  /// - Throws: ``SourceError`` with code `badSettings` if the setting makes no sense.
  func value(in settings: Settings) throws(SourceError) -> Int {
    switch self {
    case .fixed(let size): size
    case .setting(let setting): try settings.count(setting)
    }
  }
}

/// What a rate counts.
public enum RateUnit: Hashable, Sendable {
  /// Calls.
  case calls
  /// Records asked for: as many as a page of upstream has.
  case records
}
