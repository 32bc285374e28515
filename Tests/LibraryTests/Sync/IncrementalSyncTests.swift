import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorCore

/// A sync that asks only for what has changed loses nothing, whatever changes meanwhile and wherever it ends.
@Suite(.timeLimit(.minutes(10)))
struct IncrementalSyncTests {
  let directory: StoreDirectory
  let store: SQLiteStore
  let clock = ManualClock()
  let today = Today()

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func syncing(_ plugin: TimestampedPlugin) throws -> Sync<Note> {
    try plugin.sync(
      into: store,
      in: PluginEnvironment(
        settings: SourceSettings(), transport: TrappingTransport(), store: store, clock: clock,
        now: today.now))
  }

  @discardableResult
  private func sync(
    _ plugin: TimestampedPlugin, upTo pages: Int? = nil, full: Bool = false
  ) async throws -> SyncResult {
    var sync = try syncing(plugin)
    sync.readsEverything = full
    let result = await sync.run(upTo: pages, jobs: 1, waits: false) { _ in }
    #expect(result.failure == nil)
    return result
  }

  private func stored() async throws -> [Note] {
    try await store.found(of: "notes").map { json in
      try JSONDecoder().decode(Note.self, from: Data(json.utf8))
    }.sorted { $0.id < $1.id }
  }

  /// Notes that changed one after the other, `step` seconds apart.
  private func service(
    _ count: Int, _ order: ChangeTracking.Order? = .ascending,
    _ quirks: Set<TimestampedService.Quirk> = [], step: Double = 60
  ) -> TimestampedService {
    let service = TimestampedService(order, quirks)
    for id in 1...count { service.set(id, at: Double(id) * step) }
    return service
  }

  private static let orders: [ChangeTracking.Order?] = [.ascending, .descending, nil]

  // MARK: - Requests

  @Test(arguments: orders)
  func `asks for what has changed with one or two requests`(
    order: ChangeTracking.Order?
  ) async throws {
    let service = service(10_000, order)
    let plugin = TimestampedPlugin(service, size: 100)
    let first = try await sync(plugin)
    #expect(first.kind == .full && first.added == 10_000 && first.isComplete)
    service.forgetRequests()
    for id in 10_001...10_003 { service.set(id, at: 600_100 + Double(id)) }
    service.set(7, "changed", at: 600_200)
    let second = try await sync(plugin)
    #expect(second.kind == .incremental && second.isComplete)
    #expect((second.added, second.changed, second.removedUpstream) == (3, 1, 0))
    #expect(second.changedSince == TimestampedService.mark(600_000))
    #expect(second.lastFull == today.now())
    #expect(service.requests.count <= 2, "\(service.requests)")
    #expect(try await stored() == service.notes)
    // The next one begins where this one has ended.
    let third = try await sync(plugin)
    #expect(third.changedSince == TimestampedService.mark(610_103))
    #expect(service.requests.last?.since == TimestampedService.mark(610_103 - 3600))
  }

  @Test func `sees late changes within the lookback, and older ones in a full sync`() async throws {
    let service = service(100)
    let plugin = TimestampedPlugin(service, lookback: 600)
    try await sync(plugin)
    service.set(1, "within", at: 6000 - 600)
    service.set(2, "too late", at: 6000 - 601)
    let incremental = try await sync(plugin)
    #expect(incremental.changed == 1)
    #expect(try await stored().prefix(2).map(\.title) == ["within", "note 2"])
    let full = try await sync(plugin, full: true)
    #expect(full.kind == .full && full.changed == 1 && full.lastFull == nil)
    #expect(try await stored() == service.notes)
  }

  @Test func `finds removed records only in a full sync, which becomes due`() async throws {
    let service = service(100)
    let plugin = TimestampedPlugin(service, full: 7)
    try await sync(plugin)
    service.remove(3)
    today.turn(by: 6.9 * 86_400)
    let incremental = try await sync(plugin)
    #expect(incremental.kind == .incremental && incremental.removedUpstream == 0)
    #expect(try await stored().count == 100)
    today.turn(by: 0.1 * 86_400)
    let full = try await sync(plugin)
    #expect(full.kind == .full && full.removedUpstream == 1)
    #expect(try await stored() == service.notes)
    service.remove(4)
    #expect(try await sync(plugin, full: true).removedUpstream == 1)
  }

  @Test func `reads everything until a full sync was complete`() async throws {
    let service = service(100)
    let plugin = TimestampedPlugin(service)
    #expect(try await sync(plugin, upTo: 3).isComplete == false)
    #expect(try await sync(plugin).kind == .full)
    #expect(try await sync(plugin).kind == .incremental)
    // An interrupted full sync is continued before changes are enough again.
    #expect(try await sync(plugin, upTo: 3, full: true).isComplete == false)
    let rest = try await sync(plugin)
    #expect(rest.kind == .full && rest.earlierPages == 3 && rest.isComplete)
    #expect(try await sync(plugin).kind == .incremental)
  }

  @Test func `reads everything of a service whose records have no marks`() async throws {
    let service = service(30, .ascending, [.withoutMarks])
    let plugin = TimestampedPlugin(service)
    for _ in 0..<2 {
      let result = try await sync(plugin)
      #expect(result.kind == .full && result.isComplete)
      #expect(result.fullReason == "no record has the time of a change before now")
    }
  }

  @Test(arguments: [ChangeTracking.Order.ascending, nil])
  func `notices that a service ignores the parameter`(order: ChangeTracking.Order?) async throws {
    let service = service(200, order, [.ignoresParameter])
    let plugin = TimestampedPlugin(service)
    try await sync(plugin)
    service.set(5, "changed", at: 12_060)
    service.remove(6)
    service.forgetRequests()
    let result = try await sync(plugin)
    #expect(result.kind == .full && result.isComplete)
    #expect((result.changed, result.removedUpstream) == (1, 1))
    #expect(
      result.fullReason
        == "the service ignores updated_since: it sent records that had not changed")
    #expect(service.requests.count == 21)
    #expect(try await stored() == service.notes)
  }

  @Test func `a list in descending order is read until it is older than what is stored`()
    async throws
  {
    // As one that has no parameter.
    let service = service(1000, .descending, [.ignoresParameter])
    let plugin = TimestampedPlugin(service, lookback: 60)
    try await sync(plugin)
    for id in 1...25 { service.set(id, "changed", at: 60_100 + Double(id)) }
    service.forgetRequests()
    let result = try await sync(plugin)
    #expect(result.kind == .incremental && result.changed == 25 && result.isComplete)
    #expect(service.requests.count == 3)
    #expect(try await stored() == service.notes)
  }

  @Test(arguments: [ChangeTracking.Order.ascending, .descending])
  func `a list that is not in its declared order is read to its end`(
    order: ChangeTracking.Order
  ) async throws {
    let service = service(300, order, [.ignoresOrder])
    let plugin = TimestampedPlugin(service)
    try await sync(plugin)
    // By number, the change with the latest time comes first.
    for id in 1...45 { service.set(id, "changed", at: 20_000 - Double(id)) }
    let result = try await sync(plugin)
    #expect(result.changed == 45 && result.isComplete)
    #expect(try await stored() == service.notes)
    service.set(50, "again", at: 30_000)
    try await sync(plugin)
    #expect(try await stored() == service.notes)
  }

  @Test func `rows that cannot be read keep the mark, also after an interruption`() async throws {
    let service = service(100)
    let plugin = TimestampedPlugin(service)
    try await sync(plugin)
    for id in 200..<240 { service.set(id, at: 7000 + Double(id)) }
    service.damage(7205)
    #expect(try await sync(plugin, upTo: 2).isComplete == false)
    let rest = try await sync(plugin)
    #expect(!rest.isComplete && rest.inconclusiveReason == "1 row could not be read")
    service.damage(nil)
    let mended = try await sync(plugin)
    #expect(mended.isComplete && mended.changedSince == TimestampedService.mark(6000))
    #expect(try await stored() == service.notes)
  }

  // MARK: - Equal times, clocks

  @Test(arguments: [[], [TimestampedService.Quirk.excludesEqual]])
  func `equal times at the edge of a page lose nothing`(
    quirks: [TimestampedService.Quirk]
  ) async throws {
    let service = service(20, .ascending, Set(quirks))
    let plugin = TimestampedPlugin(service)
    try await sync(plugin)
    // Three pages at one time, and pages whose edges are within a second.
    for id in 100..<135 { service.set(id, at: 5000) }
    for id in 200..<240 { service.set(id, at: 5010 + Double(id / 7)) }
    let result = try await sync(plugin)
    #expect(result.added == 75 && result.isComplete)
    #expect(try await stored() == service.notes)
    // One that has the very last time comes later.
    service.set(300, at: 5010 + Double(239 / 7))
    #expect(try await sync(plugin).added == 1)
  }

  @Test(arguments: [-10_000, -3, 3, 10_000] as [Double], [0, 400 * 86_400] as [Double])
  func `a wrong clock loses nothing`(days: Double, ahead: Double) async throws {
    let service = service(50)
    let plugin = TimestampedPlugin(service)
    today.turn(by: days * 86_400)
    // A record of the far future, which is no time to ask from.
    service.set(51, at: 40_000 * 86_400)
    try await sync(plugin)
    for round in 1...5 {
      service.set(round, "round \(round)", at: ahead + 4000 + Double(round) * 5000)
      let result = try await sync(plugin)
      #expect(result.isComplete)
      #expect(try await stored() == service.notes, "round \(round)")
    }
  }

  // MARK: - Ends and changes at any moment

  @Test(arguments: orders)
  func `goes on after an end at any page, and repeats one page at most`(
    order: ChangeTracking.Order?
  ) async throws {
    let service = service(20, order)
    let plugin = TimestampedPlugin(service)
    try await sync(plugin)
    for id in 100..<200 { service.set(id, at: 4000 + Double(id) * 60) }
    service.forgetRequests()
    var (last, runs) = (SyncResult(), 0)
    repeat {
      last = try await sync(plugin, upTo: 1)
      runs += 1
    } while !last.isComplete && runs < 30
    #expect(last.kind == .incremental && last.isComplete)
    #expect(try await stored() == service.notes)
    // Each page is asked again from its last second on, so it brings nine others.
    #expect(runs <= 14, "\(service.requests)")
    #expect(service.requests.count == runs)
  }

  /// Updates and new records happen between any two requests, and syncs end at any page.
  ///
  /// Removals happen, too, where they move no record past the reader: elsewhere, one that comes with a new record
  /// cannot be noticed.
  @Test(arguments: orders, 0..<12 as Range<UInt64>)
  func `loses nothing whatever happens`(
    order: ChangeTracking.Order?, seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed)
    let quirks: [Set<TimestampedService.Quirk>] = [[], [.excludesEqual], [.ignoresOrder]]
    let service = service(60, order, quirks[Int(seed % 3)], step: 7)
    let plugin = TimestampedPlugin(service, size: Int(random.next() % 7) + 3, lookback: 30)
    try await sync(plugin)
    let events = Events(
      random, step: seed % 2 == 0 ? 20 : 2, from: 600, removing: order == .ascending)
    service.beforeRequest { [today] service in
      let event = events.next()
      today.turn(by: event.wait)
      for (id, removes) in event.changes {
        if removes { service.remove(id) } else { service.set(id, event.title, at: event.time) }
      }
    }
    for _ in 0..<6 { try await sync(plugin, upTo: Int(random.next() % 12) + 1) }
    service.beforeRequest { _ in }
    today.turn(by: 100)
    // It ends what was interrupted, and may not see what has changed on the pages before.
    try await sync(plugin)
    let last = try await sync(plugin)
    #expect(last.isComplete)
    let known = Set(try await stored())
    #expect(service.notes.filter { !known.contains($0) } == [], "\(service.requests)")
  }
}

/// Changes at random that happen before each request.
private final class Events: Sendable {
  struct Event {
    let wait: Double
    let time: Double
    let title: String
    var changes: [(id: Int, removes: Bool)] = []
  }

  private struct State {
    var random: SeededGenerator
    var time: Double
  }

  private let state: Mutex<State>
  private let step: UInt64
  private let removes: Bool

  init(_ random: SeededGenerator, step: UInt64, from time: Double, removing removes: Bool) {
    state = Mutex(State(random: random, time: time))
    self.step = step
    self.removes = removes
  }

  func next() -> Event {
    state.withLock { state in
      let wait = Double(state.random.next() % step)
      state.time += wait
      var event = Event(wait: wait, time: state.time, title: "at \(state.time)")
      for _ in 0..<(state.random.next() % 4) {
        event.changes.append(
          (Int(state.random.next() % 70) + 1, state.random.next() % 8 == 0 && removes))
      }
      return event
    }
  }
}
