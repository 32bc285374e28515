import Core
import Foundation

/// A source on its way through one weather: its whole chain over a store of its own, what it was asked,
/// and what is wrong with its answers.
struct Journey<Source: Plugin> {
  typealias Item = Source.Item

  let plugin: Source
  let weather: Weather
  let truth: Truth<Item>
  let chain: any DataSource<Item>
  let store: SQLiteStore

  private(set) var breaches: [WeatherBreach] = []
  /// Whether a call did not come to its end: then nothing else is asked.
  private(set) var isStuck = false
  /// Whether it was said that rows cannot be read.
  private var saidUnreadable = false
  /// The records that were given as the service's own.
  private var given: [Item.ID: Set<Item>] = [:]
  /// What was there before the weather: its first record was deleted then.
  private var before: Page<Item>?

  private let world: WeatherWorld
  private let patience: Duration
  private let isLocalFirst: Bool

  init(
    of plugin: Source, through weather: Weather, in world: WeatherWorld, _ truth: Truth<Item>,
    store: SQLiteStore, patience: Duration
  ) throws(SourceError) {
    self.plugin = plugin
    self.weather = weather
    self.truth = truth
    self.world = world
    self.store = store
    self.patience = patience
    isLocalFirst = plugin.policy.precedence == .localFirst
    var environment = world.environment
    environment.store = store
    chain = try plugin.source(in: environment)
  }

  /// How many requests the weather has met.
  var strikes: Int { world.front.desk.count.strikes }

  // MARK: - The way

  /// The weather is there when the source is asked first.
  mutating func beginInWeather() async {
    world.front.desk.begin(weather)
    let start = PageRequest(limit: Truth<Item>.size)
    if let first = await page(start, "list, at first"), let next = first.next {
      _ = await page(start.after(next), "list, second page")
    }
    await restOfWeather()
  }

  /// The weather comes after the first page, of which one record is deleted.
  mutating func comeIntoWeather() async {
    let start = PageRequest(limit: Truth<Item>.size)
    world.front.desk.begin(.fair)
    guard
      let page = await answer(
        "list, before", { chain async throws(SourceError) in try await chain.page(start) }),
      case .success(let before) = page, let first = before.records.first
    else {
      if !isStuck { note(.recovers, "list, before", "the service's first page", "none") }
      return
    }
    add(before.records, from: before.provenance)
    _ = try? await store.delete([first.id.description], of: plugin.name, at: world.now())
    self.before = before
    world.age()
    world.front.desk.begin(weather)
    if let next = before.next { _ = await self.page(start.after(next), "list, second page") }
    await restOfWeather()
  }

  private mutating func restOfWeather() async {
    if let id = (truth.item ?? truth.list.last)?.id { await item(id) }
    if let query = try? Query(plugin.example.query) {
      _ = await page(PageRequest(matching: query, limit: Truth<Item>.size), "search '\(query)'")
    }
    let bound = WalkBound(items: 35, pages: 6)
    guard let walk = await walk(upTo: bound, "list") else { return }
    for page in walk.pages { judge(page, "list") }
    if let failure = walk.failure { judge(failure, "list") }
    expectStillThere(walk.records)
    let isFelt = strikes > 0
    if weather.prospect == .unreadable, isFelt, !saidUnreadable {
      note(.reason, "list", "a count of unreadable rows", "none")
    }
  }

  // MARK: - Calls

  private mutating func page(_ request: PageRequest, _ place: String) async -> Page<Item>? {
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

  private mutating func item(_ id: Item.ID) async {
    let place = "show \(id)"
    switch await answer(place, { chain async throws(SourceError) in try await chain.item(id) }) {
    case .success(let found):
      if found.item.id != id { note(.kept, place, "'\(id)'", "'\(found.item.id)'") }
      judge([found.item], found.provenance, place)
    case .failure(let error):
      // Who looks for it in a list, or in the store, need not find it.
      let mayBeUnknown = isLocalFirst || weather.prospect == .strange
      guard !mayBeUnknown || ![.notFound, .unsupported].contains(error.code) else { return }
      judge(error, place)
    case nil: break
    }
  }

  /// A walk from the start; `nil` if it does not end.
  private mutating func walk(upTo bound: WalkBound, _ place: String) async -> WeatherWalk<Item>? {
    let steps = bound.pages ?? 1
    return await ended(place, within: patience * steps) { chain in
      await WeatherWalk(of: chain, upTo: bound)
    }
  }

  /// The outcome of a call; `nil` if it does not end, or lasts longer than it may.
  private mutating func answer<Answer: Sendable>(
    _ place: String,
    _ call: @escaping @Sendable (any DataSource<Item>) async throws(SourceError) -> Answer
  ) async -> Result<Answer, SourceError>? {
    let (start, calls) = (world.clock.now, world.front.desk.count.calls)
    let outcome = await ended(place, within: patience) { chain in
      await Result { () async throws(SourceError) in try await call(chain) }
    }
    guard let outcome else { return nil }
    // A call that needs several pages of the service has a deadline for each.
    let count = world.front.desk.count.calls - calls + 1
    let (time, most) = (start.duration(to: world.clock.now), plugin.policy.deadline * count)
    if time > most + patience {
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

  // MARK: - What is made of the answers

  private mutating func judge(_ page: Page<Item>, _ place: String) {
    judge(page.records, page.provenance, place)
    if page.unreadable.count > 0 {
      saidUnreadable = true
      if weather.prospect == .fair {
        note(.kept, place, "rows that can be read", page.unreadable.firstReason ?? "others")
      }
    }
  }

  private mutating func judge(_ records: [Item], _ provenance: Provenance, _ place: String) {
    if let reason = provenance.reason {
      judge(reason, place)
    } else if provenance.origin == .bundled {
      note(.reason, place, "why the bundle answered", "nothing")
    } else if weather.prospect == .failing, strikes > 0 {
      if provenance.origin == .live {
        note(.reason, place, "a failure, or another tier", "an answer as if of the service")
      } else if !isLocalFirst {
        note(.reason, place, "why the store answered", "nothing")
      }
    }
    add(records, from: provenance)
    for record in records {
      if record.id == before?.records.first?.id {
        note(.store, place, "that '\(record.id)' stays deleted", "it")
      }
      switch provenance.origin {
      case .live where !isTrue(record):
        note(.kept, place, "'\(record.id)' as in fair weather, or not at all", "\(record)")
      case .stored where !isOfService(record):
        note(.store, place, "'\(record.id)' as the service gave it", "\(record)")
      default: break
      }
    }
  }

  private mutating func judge(_ error: SourceError, _ place: String) {
    if error.code == .malformed { saidUnreadable = true }
    if let most = weather.wait, error.code == .rateLimited, let wait = error.retryAfter, wait > most
    {
      note(.reason, place, "a wait of \(most) at most", "\(wait)")
    }
    // Nothing is stored where nothing came.
    let isEmpty = isLocalFirst && error.code == .nothingStored
    guard !weather.codes.contains(error.code), !isEmpty else { return }
    let names = weather.codes.map(\.description).sorted().joined(separator: ", ")
    note(.reason, place, names.isEmpty ? "an answer" : names, "\(error.code): \(error)")
  }

  private mutating func add(_ records: [Item], from provenance: Provenance) {
    guard provenance.origin == .live else { return }
    for record in records { given[record.id, default: []].insert(record) }
  }

  /// Whether the service gave it, then or ever.
  private func isOfService(_ record: Item) -> Bool {
    given[record.id]?.contains(record) == true || isTrue(record)
  }

  /// Whether the service can have said that.
  private func isTrue(_ record: Item) -> Bool {
    // Of several records with one id, a source gives the first; another one, where that is not there.
    let isOneOfMany = plugin.policy.repeatsRecords && !weather.suspended.isEmpty
    return truth.holds(record) || isOneOfMany && truth.knows(record.id)
  }

  /// Expects a walk to have what was there before, where nothing newer could be had.
  private mutating func expectStillThere(_ records: [Item]) {
    guard weather.prospect == .failing, let before else { return }
    let ids = Set(records.map(\.id))
    for record in before.records.dropFirst() where !ids.contains(record.id) {
      note(.kept, "list", "'\(record.id)', which is stored", "it is not given")
    }
  }

  private mutating func note(
    _ promise: WeatherPromise, _ place: String, _ expected: String, _ found: String
  ) {
    let breach = WeatherBreach(
      promise: promise, place: place, expected: expected, found: found.oneLine(atMost: 200))
    // More would only repeat what the first ones say.
    guard breaches.count(where: { $0.promise == promise }) < 5, !breaches.contains(breach) else {
      return
    }
    breaches.append(breach)
  }
}

// MARK: - Afterwards

extension Journey {
  /// Looks through the store.
  mutating func inspectStore() async {
    guard !isStuck else { return }
    do throws(SourceError) {
      for fault in try await store.faults() { note(.store, "the file", "no fault", fault) }
      try await store.checkIndex()
      let all = try await store.records(of: plugin.name, matching: [], after: 0, limit: 10_000)
      for stored in all.records {
        let record = try? JSONDecoder().decode(Item.self, from: stored.json)
        guard let record, isOfService(record) else {
          let text = String(decoding: stored.json, as: UTF8.self)
          note(.store, "the records", "what the service gave", text)
          continue
        }
      }
      for id in given.keys where try await store.record(id.description, of: plugin.name) == nil {
        note(.store, "the records", "'\(id)', which was given", "it is not stored")
      }
      guard let id = before?.records.first?.id.description else { return }
      if try await !store.deleted(among: [id], of: plugin.name).contains(id) {
        note(.store, "what is deleted", "'\(id)'", "it is not deleted any more")
      }
    } catch {
      note(.store, "the file", "a store in order", "\(error.code): \(error)")
    }
  }

  /// Expects the service's own answers after the weather.
  mutating func expectRecovery() async {
    guard !isStuck else { return }
    world.front.desk.begin(.fair)
    world.age()
    let place = "list, afterwards"
    let stored = (try? await store.status(of: plugin.name).records) ?? 0
    let bound = WalkBound(items: isLocalFirst ? stored + 15 : 30, pages: 100)
    guard let walk = await walk(upTo: bound, place) else { return }
    if let failure = walk.failure {
      return note(.recovers, place, "an answer", "\(failure.code): \(failure)")
    }
    let answer =
      isLocalFirst ? walk.pages.first { $0.provenance.origin != .stored } : walk.pages.first
    guard let provenance = answer?.provenance, provenance.origin == .live,
      provenance.reason == nil
    else {
      let reason = answer?.provenance.reason.map { " (\($0.code): \($0))" } ?? ""
      let origin = answer?.provenance.origin.rawValue ?? "nothing"
      return note(.recovers, place, "the service's answer", origin + reason)
    }
    for record in walk.records where !isOfService(record) {
      note(.recovers, place, "'\(record.id)' as in fair weather", "\(record)")
    }
    guard !isLocalFirst, !plugin.policy.repeatsRecords else { return }
    let deleted = before?.records.first?.id
    let expected = truth.list.filter { $0.id != deleted }.prefix(30).map(\.id)
    if walk.records.map(\.id) != expected {
      note(.recovers, place, "\(expected)", "\(walk.records.map(\.id))")
    }
  }
}
