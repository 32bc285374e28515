import AggregatorKit

/// A source on its way through one weather: its whole chain over a store of its own, what it was asked,
/// and what is wrong with its answers.
struct ScenarioRun<Source: Plugin> {
  typealias Item = Source.Item

  let plugin: Source
  let scenario: FaultScenario
  let baseline: Baseline<Item>
  let chain: any DataSource<Item>
  let store: SQLiteStore

  var breaches: [ScenarioViolation] = []
  /// Whether a call did not come to its end: then nothing else is asked.
  var isStuck = false
  /// Whether it was said that rows cannot be read.
  var saidUnreadable = false
  /// The records that were given as the service's own.
  var given: [Item.ID: Set<Item>] = [:]
  /// What was there before the weather: its first record was deleted then.
  var before: Page<Item>?

  let scenarioEnvironment: ScenarioEnvironment
  let maxWait: Duration
  let isLocalFirst: Bool

  init(
    of plugin: Source, through scenario: FaultScenario, in scenarioEnvironment: ScenarioEnvironment,
    _ baseline: Baseline<Item>,
    store: SQLiteStore, maxWait: Duration
  ) throws(SourceError) {
    self.plugin = plugin
    self.scenario = scenario
    self.baseline = baseline
    self.scenarioEnvironment = scenarioEnvironment
    self.store = store
    self.maxWait = maxWait
    isLocalFirst = plugin.policy.readOrder == .localFirst
    var environment = scenarioEnvironment.environment
    environment.store = store
    chain = try plugin.source(in: environment)
  }

  /// Who was deleted before the weather came.
  var deleted: Item.ID? { before?.records.first?.id }

  /// How many requests the weather has met.
  var strikes: Int { scenarioEnvironment.front.responder.count.strikes }

  // MARK: - The way

  /// The weather is there when the source is asked first.
  mutating func beginInWeather() async {
    scenarioEnvironment.front.responder.begin(scenario)
    let start = PageRequest(limit: Baseline<Item>.size)
    if let first = await page(start, "list, at first"), let next = first.next {
      _ = await page(start.after(next), "list, second page")
    }
    await restOfWeather()
  }

  /// The weather comes after the first page, of which one record is deleted.
  mutating func comeIntoWeather() async {
    let start = PageRequest(limit: Baseline<Item>.size)
    scenarioEnvironment.front.responder.begin(.fair)
    guard
      let page = await answer(
        "list, before", { chain async throws(SourceError) in try await chain.page(start) }),
      case .success(let before) = page, let first = before.records.first
    else {
      if !isStuck { note(.recovers, "list, before", "the service's first page", "none") }
      return
    }
    add(before.records, from: before.provenance)
    _ = try? await store.delete(
      [first.id.description], of: plugin.name, at: scenarioEnvironment.now())
    self.before = before
    scenarioEnvironment.age()
    scenarioEnvironment.front.responder.begin(scenario)
    if let next = before.next { _ = await self.page(start.after(next), "list, second page") }
    await restOfWeather()
  }

  private mutating func restOfWeather() async {
    if let deleted { await expectDeleted(deleted) }
    if let id = (baseline.item ?? baseline.list.last)?.id { await item(id) }
    if let query = try? Query(plugin.example.query) {
      _ = await page(PageRequest(matching: query, limit: Baseline<Item>.size), "search '\(query)'")
    }
    let bound = PaginationBound(items: 35, pages: 6)
    guard let walk = await walk(upTo: bound, "list") else { return }
    for step in walk.pages { judge(step.page, "list") }
    if let failure = walk.failure { judge(failure, "list") }
    expectStillThere(walk)
    if Set(walk.pages.map { $0.page.provenance.origin == .bundled }).count > 1 {
      note(.kept, "list", "one source for the whole walk", "the service's records and the bundle's")
    }
    let isFelt = strikes > 0
    if scenario.prospect == .unreadable, isFelt, !saidUnreadable {
      note(.reason, "list", "a count of unreadable rows", "none")
    }
  }
}

/// What a source is asked on its way, and whether that comes to its end.
extension ScenarioRun {
  mutating func page(_ request: PageRequest, _ place: String) async -> Page<Item>? {
    let outcome = await answer(place) { chain async throws(SourceError) in
      try await chain.page(request)
    }
    switch outcome {
    case .success(let page):
      judge(page, place)
      return page
    case .failure(let error): judge(error, place)
    case nil: break
    }
    return nil
  }

  mutating func item(_ id: Item.ID) async {
    let place = "show \(id)"
    switch await answer(place, { chain async throws(SourceError) in try await chain.item(id) }) {
    case .success(let found):
      if found.item.id != id { note(.kept, place, "'\(id)'", "'\(found.item.id)'") }
      judge([found.item], found.provenance, place)
    case .failure(let error):
      // Who looks for it in a list, or in the store, need not find it.
      let mayBeUnknown = isLocalFirst || scenario.prospect == .strange
      guard !mayBeUnknown || ![.notFound, .unsupported].contains(error.code) else { return }
      judge(error, place)
    case nil: break
    }
  }

  /// Asks for a record that is deleted.
  mutating func expectDeleted(_ id: Item.ID) async {
    let place = "show \(id)"
    let outcome = await answer(place) { chain async throws(SourceError) in try await chain.item(id)
    }
    switch outcome {
    case .success: note(.store, place, "that '\(id)' stays deleted", "it")
    case .failure(let error) where error.code != .notFound: judge(error, place)
    case .failure, nil: break
    }
  }

  /// A walk from the start; `nil` if it does not end.
  mutating func walk(upTo bound: PaginationBound, _ place: String) async -> CollectedPages<Item>? {
    let steps = bound.pages ?? 1
    return await ended(place, within: maxWait * steps) { chain in
      await CollectedPages(chain, from: PageRequest(limit: Baseline<Item>.size), upTo: bound)
    }
  }

  /// The outcome of a call; `nil` if it does not end, or lasts longer than it may.
  mutating func answer<Answer: Sendable>(
    _ place: String,
    _ call: @escaping @Sendable (any DataSource<Item>) async throws(SourceError) -> Answer
  ) async -> Result<Answer, SourceError>? {
    let (start, calls) = (
      scenarioEnvironment.clock.now, scenarioEnvironment.front.responder.count.calls
    )
    let outcome = await ended(place, within: maxWait) { chain in
      await Result { () async throws(SourceError) in try await call(chain) }
    }
    guard let outcome else { return nil }
    // A call that needs several pages of the service has a deadline for each.
    let count = scenarioEnvironment.front.responder.count.calls - calls + 1
    let (time, most) = (
      start.duration(to: scenarioEnvironment.clock.now), plugin.policy.deadline * count
    )
    if time > most + maxWait {
      note(.terminates, place, "an end within \(most)", "an end after \(time)")
    }
    return outcome
  }

  private mutating func ended<Answer: Sendable>(
    _ place: String, within time: Duration,
    _ call: @escaping @Sendable (any DataSource<Item>) async -> Answer
  ) async -> Answer? {
    guard !isStuck else { return nil }
    let answer = await within(time) { [chain] in await call(chain) }
    if answer == nil {
      isStuck = true
      note(.terminates, place, "an end", "none within \(time)")
    }
    return answer
  }
}
