import AggregatorKit
import AggregatorLaws

/// Exercises the whole chain of a source, over a store of its own, in one scenario, and collects
/// the broken guarantees.
struct ScenarioRun<Source: Plugin> {
  typealias Item = Source.Item

  let plugin: Source
  let scenario: FaultScenario
  let baseline: Baseline<Item>
  let chain: any DataSource<Item>
  let store: SQLiteStore

  var violations: [ScenarioViolation] = []
  /// True if a call did not end: then no further calls are made.
  var hasHung = false
  var reportedUnreadable = false
  /// The records that were returned as live.
  var delivered: [Item.ID: Set<Item>] = [:]
  /// The page that was fetched before the fault; its first record is then deleted.
  var initialPage: Page<Item>?

  let scenarioEnvironment: ScenarioEnvironment
  let maxWait: Duration

  var isLocalFirst: Bool { plugin.policy.readOrder == .localFirst }

  var deleted: Item.ID? { initialPage?.records.first?.id }

  var faultsInjected: Int { scenarioEnvironment.proxy.handler.count.faultsInjected }

  mutating func runFaultFromStart() async {
    scenarioEnvironment.proxy.handler.begin(scenario)
    let start = PageRequest(limit: Baseline<Item>.size)
    if let first = await page(start, "list, first page"), let next = first.next {
      _ = await page(start.after(next), "list, second page")
    }
    await exerciseChain()
  }

  /// Starts without the fault, deletes a record of the first page, then injects the fault.
  mutating func runFaultAfterFirstPage() async {
    let start = PageRequest(limit: Baseline<Item>.size)
    scenarioEnvironment.proxy.handler.begin(.noFault)
    guard
      let page = await answer(
        "list, before the fault", { chain async throws(SourceError) in try await chain.page(start) }
      ),
      case .success(let initialPage) = page, let first = initialPage.records.first
    else {
      if !hasHung {
        violated(.recovers, "list, before the fault", "the service's first page", "none")
      }
      return
    }
    add(initialPage.records, from: initialPage.provenance)
    _ = try? await store.delete(
      [first.id.description], of: plugin.name, at: scenarioEnvironment.now())
    self.initialPage = initialPage
    scenarioEnvironment.expireEverything()
    scenarioEnvironment.proxy.handler.begin(scenario)
    if let next = initialPage.next { _ = await self.page(start.after(next), "list, second page") }
    await exerciseChain()
  }

  private mutating func exerciseChain() async {
    if let deleted { await expectDeleted(deleted) }
    if let id = (baseline.item ?? baseline.list.last)?.id { await item(id) }
    if let query = try? SearchQuery(plugin.example.query) {
      _ = await page(
        PageRequest(matching: query, limit: Baseline<Item>.size), "search \"\(query)\"")
    }
    let bound = PaginationBound(items: 35, pages: 6)
    guard let walk = await walk(upTo: bound, "list") else { return }
    for step in walk.pages { judge(step.page, "list") }
    if let failure = walk.failure { judge(failure, "list") }
    expectInitialRecords(walk)
    if Set(walk.pages.map { $0.page.provenance.origin == .bundled }).count > 1 {
      violated(.recordsIntact, "list", "one origin for all pages", "live and bundled pages")
    }
    let hasEffect = faultsInjected > 0
    if scenario.expectation == .unreadable, hasEffect, !reportedUnreadable {
      violated(.failuresReported, "list", "a count of unreadable rows", "none")
    }
  }

  mutating func page(_ request: PageRequest, _ label: String) async -> Page<Item>? {
    let outcome = await answer(label) { chain async throws(SourceError) in
      try await chain.page(request)
    }
    switch outcome {
    case .success(let page):
      judge(page, label)
      return page
    case .failure(let error): judge(error, label)
    case nil: break
    }
    return nil
  }

  mutating func item(_ id: Item.ID) async {
    let label = "show \(id)"
    switch await answer(label, { chain async throws(SourceError) in try await chain.item(id) }) {
    case .success(let found):
      if found.item.id != id {
        violated(.recordsIntact, label, "\"\(id)\"", "\"\(found.item.id)\"")
      }
      judge([found.item], found.provenance, label)
    case .failure(let error):
      // Sources that look it up in a list or in the store may not find it.
      let mayBeUnknown = isLocalFirst || scenario.expectation == .inconsistent
      guard !mayBeUnknown || ![.notFound, .unsupported].contains(error.code) else { return }
      judge(error, label)
    case nil: break
    }
  }

  mutating func expectDeleted(_ id: Item.ID) async {
    let label = "show \(id)"
    let outcome = await answer(label) { chain async throws(SourceError) in try await chain.item(id)
    }
    switch outcome {
    case .success:
      violated(.storeConsistent, label, "error notFound for a deleted record", "the record")
    case .failure(let error) where error.code != .notFound: judge(error, label)
    case .failure, nil: break
    }
  }

  /// Fetches pages from the start; `nil` if that does not end.
  mutating func walk(upTo bound: PaginationBound, _ label: String) async -> CollectedListing<Item>?
  {
    let steps = bound.pages ?? 1
    return await ended(label, within: maxWait * steps) { chain in
      await CollectedListing(chain, from: PageRequest(limit: Baseline<Item>.size), upTo: bound)
    }
  }

  /// The outcome of a call; `nil` if it does not end, or exceeds its deadline.
  mutating func answer<Answer: Sendable>(
    _ label: String,
    _ call: @escaping @Sendable (any DataSource<Item>) async throws(SourceError) -> Answer
  ) async -> Result<Answer, SourceError>? {
    let (start, calls) = (
      scenarioEnvironment.clock.now, scenarioEnvironment.proxy.handler.count.calls
    )
    let outcome = await ended(label, within: maxWait) { chain in
      await Result { () async throws(SourceError) in try await call(chain) }
    }
    guard let outcome else { return nil }
    // A call that needs several pages of the service has a deadline for each.
    let count = scenarioEnvironment.proxy.handler.count.calls - calls + 1
    let (time, maxTime) = (
      start.duration(to: scenarioEnvironment.clock.now), plugin.policy.deadline * count
    )
    if time > maxTime + maxWait {
      violated(.terminates, label, "at most \(maxTime)", "\(time)")
    }
    return outcome
  }

  private mutating func ended<Answer: Sendable>(
    _ label: String, within time: Duration,
    _ call: @escaping @Sendable (any DataSource<Item>) async -> Answer
  ) async -> Answer? {
    guard !hasHung else { return nil }
    let answer = await RunningCheck.named(label) {
      await within(time) { [chain] in await call(chain) }
    }
    if answer == nil {
      hasHung = true
      violated(.terminates, label, "an end", "no end within \(time)")
    }
    return answer
  }
}
