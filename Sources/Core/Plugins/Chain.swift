extension Plugin {
  /// The whole chain of this source: the service, politely asked, and who answers in its place.
  ///
  /// The order matters, innermost first:
  ///
  /// 1. `rateLimited` is next to the service, so that retries and every slice count.
  /// 2. `circuitBreaker` sees every attempt, and a retry ends when it opens.
  /// 3. `retry` is inside `timeout`: the deadline is for a page with its retries.
  /// 4. `coalesced` shares what is left; a shared call keeps its own deadline.
  /// 5. `sliced` and `searchingLocally` shape pages above all that, so that each of their upstream pages
  ///    is retried, limited and timed apart.
  /// 6. `fallback` comes last: by then a failure is final.
  ///
  /// - Parameters:
  ///   - environment: Everything that the source may touch.
  ///   - reading: Which tiers may answer.
  ///   - deadline: How long one page may take, with its retries; the policy's own by default.
  /// - Returns: The chain. Build it once and keep it: rates and breakers live in it.
  /// - Throws: ``SourceError`` with code `badSettings`; any other failure to set up the service is what
  ///   the service's calls fail with, so that others can answer.
  public func source(
    in environment: PluginEnvironment, reading: Reading = .normal, deadline: Duration? = nil
  ) throws(SourceError) -> any DataSource<Item> {
    let live = try live(in: environment, reading: reading, deadline: deadline ?? policy.deadline)
    let answering = !reading.mayFallBack ? live : live.fallback(to: bundled)
    return answering.observed(by: environment.observer, as: name)
  }

  private func live(
    in environment: PluginEnvironment, reading: Reading, deadline: Duration
  ) throws(SourceError) -> any DataSource<Item> {
    guard reading.mayAskService else {
      return UnavailableSource<Item>(SourceError(.offline, "the network is not to be used"))
    }
    let clock = environment.clock
    var chain: any DataSource<Item>
    do { chain = try remote(in: environment) } catch let error where error.allowsFallback {
      return UnavailableSource<Item>(error)
    }
    let size = try policy.upstreamPageSize?.value(in: environment.settings)
    if let setting = policy.rate, let rate = try environment.settings.rate(setting) {
      let cost = policy.rateUnit == .records ? size ?? policy.largestPage : 1
      chain = chain.rateLimited(by: rate, cost: cost, clock: clock)
    }
    if let breaker = policy.breaker, !reading.passesBreaker {
      chain = chain.circuitBreaker(breaker, clock: clock)
    }
    chain = chain.retry(policy.retry, clock: clock, random: environment.random)
      .timeout(deadline, clock: clock)
      .coalesced()
    if let size {
      chain = chain.sliced(upstream: size, as: name, clock: clock)
    }
    if let bound = policy.localSearchBound {
      chain = chain.searchingLocally(upTo: bound, by: size ?? policy.largestPage, as: name) {
        [fields] in fields.searchableText(of: $0)
      }
    }
    return chain
  }
}
