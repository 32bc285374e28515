public import AggregatorCore
import AggregatorSettings
public import AggregatorStore
import Foundation

extension Plugin {
  /// The whole chain of this source: the service, politely asked, the store, and who answers in their
  /// place.
  ///
  /// The order matters, innermost first:
  ///
  /// 1. `rateLimited`, or `respectingRetryAfter` without a rate, is next to the service, so that retries and every slice count.
  /// 2. `circuitBreaker` sees every attempt, and a retry ends when it opens.
  /// 3. `retry` is inside `timeout`: the deadline is for a page with its retries.
  /// 4. `coalesced` shares what is left; a shared call keeps its own deadline.
  /// 5. `cached` keeps what the service gave, in pages of the service: one kept page answers for every
  ///    slice and every local search. Or `growing`, for a collection that grows.
  /// 6. `sliced` and `searchingLocally` shape pages above all that, so that each of their upstream pages
  ///    is kept, retried, limited and timed apart.
  /// 7. `fallback` comes late: by then a failure is final. The store first, then the bundled data.
  /// 8. `hidingDeleted` is last, because nobody may bring back what was deleted.
  ///
  /// - Parameters:
  ///   - environment: Everything that the source may touch.
  ///   - reading: Which tiers may answer.
  ///   - deadline: How long one page may take, with its retries; the policy's own by default.
  /// - Returns: The chain. Build it once and keep it: what is in flight is shared within it.
  /// - Throws: ``SourceError`` with code `badSettings`; any other failure to set up the service is what
  ///   the service's calls fail with, so that others can answer.
  public func source(
    in environment: PluginEnvironment, reading: CachePolicy = .normal, deadline: Duration? = nil
  ) throws(SourceError) -> any DataSource<Item> {
    let service = try service(
      in: environment, reading: reading, deadline: deadline ?? policy.deadline)
    var chain: any DataSource<Item>
    switch (policy.readOrder, environment.store.map(recordStore)) {
    case (.localFirst, let recordStore?):
      chain = service.growing(
        in: recordStore, by: try upstreamPageSize(in: environment),
        of: collection(in: environment.settings),
        growing: reading.mayAskService ? reading.growth : .never, now: environment.now)
      chain = backed(chain, by: bundled, for: reading).hidingDeleted(in: recordStore)
    case (.liveFirst(let freshness), let recordStore?):
      chain = service.cached(
        in: recordStore, freshFor: freshness, of: try scope(in: environment.settings),
        reading,
        now: environment.now)
      chain = try shaped(chain, in: environment)
      chain = backed(chain, by: recordStore.records, for: reading)
      chain = backed(chain, by: bundled, for: reading).hidingDeleted(in: recordStore)
    case (_, nil):
      chain = backed(try shaped(service, in: environment), by: bundled, for: reading)
    }
    return chain.observed(by: environment.observer, as: name)
  }

  /// A source with another that stands in for it, if it may.
  private func backed(
    _ first: some DataSource<Item>, by second: some DataSource<Item>, for reading: CachePolicy
  ) -> any DataSource<Item> {
    reading.mayFallBack ? first.fallback(to: second) : first.withoutFallback()
  }

  /// The service alone, politely asked: nothing stored or bundled answers in its place.
  ///
  /// - Parameters:
  ///   - environment: Everything that the source may touch.
  ///   - deadline: How long one page may take, with its retries.
  /// - Returns: The service, whose calls fail if it cannot be set up.
  /// - Throws: ``SourceError`` with code `badSettings`.
  public func live(
    in environment: PluginEnvironment, deadline: Duration? = nil
  ) throws(SourceError) -> any DataSource<Item> {
    let service = try service(
      in: environment, reading: .refresh, deadline: deadline ?? policy.deadline)
    return try shaped(service, in: environment).observed(by: environment.observer, as: name)
  }

  /// This source's part of a store.
  ///
  /// - Parameter store: The store.
  /// - Returns: Its records, searched by the searchable fields.
  public func recordStore(in store: any Store) -> RecordStore<Item> {
    RecordStore(name, in: store, text: searchableText)
  }

  /// What searches look into: the fields that are searched, and no others, for copying a field costs more
  /// than reading it.
  private var searchableText: @Sendable (Item) -> Folded {
    { [fields = fields.filter(\.isSearchable)] in fields.searchableText(of: $0) }
  }

  /// The service, politely asked; or why it cannot be.
  func service(
    in environment: PluginEnvironment, reading: CachePolicy, deadline: Duration
  ) throws(SourceError) -> any DataSource<Item> {
    guard reading.mayAskService else {
      return UnavailableSource<Item>(SourceError(.offline, "the network is not to be used"))
    }
    let clock = environment.clock
    var chain: any DataSource<Item>
    do { chain = try remote(in: environment) } catch let error where error.allowsFallback {
      return UnavailableSource<Item>(error)
    }
    let sharedState = try sharedState(in: environment)
    if let setting = policy.rate, let rate = try environment.settings.rate(setting) {
      let cost = try cost(in: environment)
      chain = chain.rateLimited(by: rate, cost: cost, clock: clock, sharing: sharedState)
    } else {
      chain = chain.respectingRetryAfter(clock: clock, sharing: sharedState)
    }
    if let breaker = policy.breaker {
      chain = chain.circuitBreaker(
        breaker, passing: reading.refreshes, clock: clock, sharing: sharedState)
    }
    return chain.retry(policy.retry, clock: clock, random: environment.random)
      .timeout(deadline, clock: clock)
      .coalesced()
  }

  /// Where processes that ask the same address share what it asks of them; `nil` without a store.
  func sharedState(in environment: PluginEnvironment) throws(SourceError) -> SharedState? {
    let scope = try scope(in: environment.settings)
    return environment.store.map {
      SharedState(of: "\(name) \(scope)", in: $0, now: environment.now)
    }
  }

  /// As how many a call counts against the rate.
  func cost(in environment: PluginEnvironment) throws(SourceError) -> Int {
    policy.rateUnit == .records ? try upstreamPageSize(in: environment) : 1
  }

  /// Pages and search where the service has none of its own.
  private func shaped(
    _ source: any DataSource<Item>, in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Item> {
    var chain = source
    if policy.upstreamPageSize != nil {
      let size = try upstreamPageSize(in: environment)
      chain = chain.sliced(upstream: size, as: name, clock: environment.clock)
    }
    if let bound = policy.localSearchBound {
      let size = try upstreamPageSize(in: environment)
      chain = chain.searchingLocally(
        upTo: bound, by: size, as: name, text: searchableText)
    }
    return chain
  }

  func upstreamPageSize(in environment: PluginEnvironment) throws(SourceError) -> Int {
    try policy.upstreamPageSize?.value(in: environment.settings) ?? policy.largestPage
  }

  /// What tells a collection of the service from others: all that is set, but not how fast it is asked,
  /// or by whom.
  ///
  /// - Parameters:
  ///   - settings: What is set.
  ///   - bySize: Whether another page size makes it another collection.
  /// - Returns: A few letters and digits.
  func collection(in settings: Settings, bySize: Bool = true) -> String {
    let telling = self.settings.filter { setting in
      switch setting.form {
      case .rate, .secret: false
      case .count: bySize
      default: true
      }
    }
    let texts = telling.map { "\($0.key)=\(settings.text($0) ?? "")" }
    return String(texts.joined(separator: " ").fnv1a, radix: 36)
  }

  /// What tells this service from others of its kind: its addresses.
  private func scope(in settings: Settings) throws(SourceError) -> String {
    var addresses: [String] = []
    for setting in self.settings where setting.form == .url {
      addresses.append(try settings.url(setting).absoluteString)
    }
    return String(addresses.joined(separator: " ").fnv1a, radix: 36)
  }
}
