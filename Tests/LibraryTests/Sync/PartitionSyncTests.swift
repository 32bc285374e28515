import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorCore

/// A sync of a list that lies below another one reads, resumes and judges each part by itself.
@Suite(.timeLimit(.minutes(10)))
struct PartitionSyncTests {
  let directory: StoreDirectory
  let store: SQLiteStore
  let today = Today()
  let service = NestedService()

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  @discardableResult
  private func sync(
    _ plugin: LeavesPlugin? = nil, into other: (any SourceStore)? = nil, upTo pages: Int? = nil,
    jobs: Int = 1, full: Bool = false
  ) async throws -> SyncResult {
    let store = other ?? store
    var sync = try (plugin ?? LeavesPlugin(service)).sync(
      into: store, in: service.environment(store: store, now: today.now))
    sync.readsEverything = full
    return await sync.run(upTo: pages, jobs: jobs, waits: false) { _ in }
  }

  private func stored() async throws -> [String: String] {
    let leaves = try await store.found(of: "leaves").map { json in
      try JSONDecoder().decode(NestedService.Leaf.self, from: Data(json.utf8))
    }
    return Dictionary(uniqueKeysWithValues: leaves.map { ($0.id, $0.title) })
  }

  /// Lets cached parents become old.
  private func waitForParents() { today.turn(by: 100) }

  @Test(arguments: [1, 4])
  func `reads the lists of all parents, and names the one that is refused`(jobs: Int) async throws {
    for number in 0..<35 {
      service.add("org/r\(number)", leaves: number % 7 == 3 ? 0 : number % 5 * 2)
    }
    service.refuse(["org/r9"])
    let result = try await sync(jobs: jobs)
    #expect(result.failure == nil && !result.isComplete)
    #expect(result.inconclusiveReason == "org/r9: leaves refused the request (403)")
    let expected = service.leaves.filter { !$0.key.hasPrefix("org%2Fr9/") }
    #expect(try await stored() == expected)
    #expect(result.added == expected.count)
    #expect(Set(service.requests).count == service.requests.count)
    // 8 leaves are 3 pages.
    #expect(service.requests.contains("org/r34 6"))
    service.refuse([])
    waitForParents()
    let next = try await sync(jobs: jobs)
    #expect(next.isComplete && next.added == service.leaves.count - expected.count)
    #expect(try await stored() == service.leaves)
  }

  @Test(arguments: [SourceError.Code.serverError, .tooLarge])
  func `one list that cannot be read keeps no other from being read`(
    code: SourceError.Code
  ) async throws {
    for path in ["a", "b", "c"] { service.add(path, leaves: 5) }
    service.beforeRequest { request throws(SourceError) in
      if request == "b 3" { throw SourceError(code, "leaves failed (500)") }
    }
    let result = try await sync()
    #expect(result.failure == nil && !result.isComplete)
    #expect(result.inconclusiveReason == "b: leaves failed (500)")
    #expect(try await stored().count == 13)
    service.beforeRequest(nil)
    waitForParents()
    #expect(try await sync().isComplete)
    #expect(try await stored() == service.leaves)
  }

  @Test(arguments: [
    SourceError.Code.unreachable, .connectionLost, .timedOut, .rateLimited, .malformed,
  ])
  func `a failure that concerns all lists ends the sync where it is`(
    code: SourceError.Code
  ) async throws {
    for path in ["a", "b", "c"] { service.add(path, leaves: 5) }
    service.beforeRequest { request throws(SourceError) in
      if request == "b 3" { throw SourceError(code, "no leaves") }
    }
    #expect(try await sync().failure?.code == code)
    #expect(!service.requests.contains("c 0"))
    service.beforeRequest(nil)
    service.forgetRequests()
    #expect(try await sync().isComplete)
    #expect(service.requests.first == "b 3")
  }

  @Test func `removes what one parent no longer has, whatever happens to another`() async throws {
    for path in ["a", "b", "c"] { service.add(path, leaves: 5) }
    try await sync()
    service.refuse(["a"])
    service.remove(1, in: "a")
    service.remove(1, in: "b")
    waitForParents()
    let result = try await sync()
    #expect(!result.isComplete && result.removedUpstream == 1)
    var expected = service.leaves
    expected["a/1"] = "leaf"
    #expect(try await stored() == expected)
  }

  @Test func `removes what belonged to a parent that is gone, after confirmation if it was much`()
    async throws
  {
    for (path, count) in [("a", 5), ("a/b", 5), ("many", 20), ("z", 1)] {
      service.add(path, leaves: count)
    }
    try await sync()
    for path in ["a", "many"] { service.remove(path) }
    waitForParents()
    let first = try await sync()
    #expect(first.removedUpstream == 5 && !first.isComplete && first.needsConfirmation)
    #expect(first.inconclusiveReason?.hasPrefix("many: it is gone") == true)
    waitForParents()
    let second = try await sync()
    #expect(second.removedUpstream == 20 && second.isComplete)
    #expect(try await stored() == service.leaves)
    waitForParents()
    #expect(try await sync().removedUpstream == 0)
  }

  @Test func `keeps what belongs to a parent that is deleted here`() async throws {
    for path in ["a", "b"] { service.add(path, leaves: 2) }
    try await sync()
    let folders = FoldersPlugin(service: service).recordStore(in: store)
    try await folders.delete(1)
    waitForParents()
    service.forgetRequests()
    let result = try await sync()
    #expect(result.isComplete && result.removedUpstream == 0)
    #expect(service.requests == ["folders 0", "b 0"])
    #expect(try await stored().count == 4)
  }

  @Test func `goes on where an earlier run has ended, at any page`() async throws {
    for number in 0..<12 { service.add("r\(number)", leaves: number % 4 * 3) }
    var runs = 0
    repeat {
      let result = try await sync(upTo: 1)
      #expect(result.failure == nil)
      runs += 1
      if result.isComplete { break }
    } while runs < 100
    #expect(try await stored() == service.leaves)
    // Parents are fresh, so no request was made twice.
    #expect(Set(service.requests).count == service.requests.count)
  }

  @Test func `loses nothing if a run fails at any request`() async throws {
    for number in 0..<6 { service.add("r\(number)", leaves: number % 3 * 4) }
    // Each fails once: if every second one did, the same could fail in each run.
    let failed = Mutex(Set<String>())
    service.beforeRequest { request throws(SourceError) in
      guard failed.withLock({ !$0.insert(request).inserted }) else {
        throw SourceError(.serverError, "down")
      }
    }
    var runs = 1
    while try await !sync(jobs: 2).isComplete, runs < 60 { runs += 1 }
    let stored = try await stored()
    #expect(runs < 60 && stored == service.leaves, "\(runs) runs, \(service.requests)")
  }

  /// A store that refuses some saves of leaves, as if the process were killed before them.
  private func store(
    before isKilled: @escaping @Sendable (StoreBatch) -> Bool
  ) -> FlawedStore {
    FlawedStore(save: { base, batch, source, date throws(SourceError) in
      guard source != "leaves" || !isKilled(batch) else { throw SourceError(.storage, "killed") }
      return try await base.save(batch, of: source, at: date)
    })
  }

  @Test func `a refused list is named after a kill, too`() async throws {
    for path in ["a", "b"] { service.add(path, leaves: 2) }
    service.refuse(["a"])
    let kills = Atomic(true)
    // The end of the first list is stored, and that it was read is not.
    let store = store(before: { [service] batch in
      batch.decision != nil && service.requests.contains("a 0") && kills.load(ordering: .relaxed)
    })
    #expect(try await sync(into: store).failure?.message == "killed")
    kills.store(false, ordering: .relaxed)
    let rest = try await sync(into: store)
    #expect(rest.failure == nil && !rest.isComplete)
    #expect(rest.inconclusiveReason == "a: leaves refused the request (403)")
    #expect(service.requests == ["folders 0", "a 0", "b 0"])
  }

  @Test func `a pass that ends twice does not confirm its own removals`() async throws {
    for (path, count) in [("a", 2), ("many", 20)] { service.add(path, leaves: count) }
    let kills = Atomic(false)
    // The end of a pass drops its pages with its checkpoint.
    let store = store(before: { batch in
      batch.update.map { $0.to == nil && $0.replacesPages } ?? false
        && kills.load(ordering: .relaxed)
    })
    try await sync(into: store)
    service.remove("many")
    waitForParents()
    kills.store(true, ordering: .relaxed)
    #expect(try await sync(into: store).failure?.message == "killed")
    kills.store(false, ordering: .relaxed)
    service.forgetRequests()
    let again = try await sync(into: store)
    #expect(again.removedUpstream == 0 && again.needsConfirmation && !again.isComplete)
    #expect(service.requests.isEmpty)
    waitForParents()
    let next = try await sync(into: store)
    #expect(next.removedUpstream == 20 && next.isComplete)
  }

  @Test func `a clock that was ahead settles no day`() async throws {
    var plugin = LeavesPlugin(service)
    let first = today.now().addingTimeInterval(-86_400).day
    plugin.partitions = .days(since: first)
    today.turn(by: 30 * 86_400)
    #expect(try await sync(plugin).isComplete)
    today.turn(by: -30 * 86_400)
    service.set(1, in: first)
    #expect(try await sync(plugin).added == 1)
  }

  @Test func `asks each parent for what has changed since its own last sync`() async throws {
    for path in ["a", "b", "c"] { service.add(path, leaves: 2, at: 100) }
    let plugin = LeavesPlugin(service, incremental: true)
    #expect(try await sync(plugin).kind == .full)
    service.set(1, in: "b", "changed", at: 500)
    service.add("d", leaves: 2, at: 500)
    waitForParents()
    service.forgetRequests()
    let second = try await sync(plugin)
    #expect(second.isComplete && second.kind == .incremental)
    #expect((second.added, second.changed) == (2, 1))
    let since = " since \(NestedService.mark(90))"
    #expect(service.requests == ["folders 0", "a 0\(since)", "b 0\(since)", "c 0\(since)", "d 0"])
    #expect(try await stored() == service.leaves)
    service.forgetRequests()
    waitForParents()
    try await sync(plugin)
    #expect(service.requests.contains("b 0 since \(NestedService.mark(490))"))
    service.remove(0, in: "a")
    waitForParents()
    #expect(try await sync(plugin).removedUpstream == 0)
    waitForParents()
    #expect(try await sync(plugin, full: true).removedUpstream == 1)
    #expect(try await stored() == service.leaves)
  }

  @Test func `reads each day once, and the last ones again`() async throws {
    var plugin = LeavesPlugin(service)
    plugin.partitions = .days(since: today.now().addingTimeInterval(-89 * 86_400).day)
    #expect(try await sync(plugin).isComplete)
    #expect(service.requests.count == 90)
    service.forgetRequests()
    today.turn(by: 86_400)
    #expect(try await sync(plugin).isComplete)
    // Yesterday was not over then.
    let day = today.now()
    #expect(service.requests == [day.addingTimeInterval(-86_400).day, day.day].map { "\($0) 0" })
    plugin.partitions = .days(
      since: day.addingTimeInterval(-90 * 86_400).day, lookback: .seconds(3 * 86_400))
    try await sync(plugin)
    service.forgetRequests()
    today.turn(by: 86_400)
    try await sync(plugin)
    #expect(service.requests.count == 4, "\(service.requests)")
  }

  @Test func `keeps the records of a parent that a rule leaves out`() async throws {
    for path in ["a", "b"] { service.add(path, leaves: 3) }
    try await sync()
    service.remove(0, in: "a")
    service.remove(0, in: "b")
    service.skip(["a"])
    waitForParents()
    let result = try await sync()
    #expect(result.isComplete && result.removedUpstream == 1)
    #expect(try await stored().keys.sorted() == ["a/0", "a/1", "a/2", "b/1", "b/2"])
  }

  @Test func `says that parents could not be brought up to date`() async throws {
    for path in ["a", "b"] { service.add(path, leaves: 2) }
    try await sync()
    service.remove("a")
    service.set(5, in: "b")
    waitForParents()
    service.beforeRequest { request throws(SourceError) in
      if request.hasPrefix("folders") { throw SourceError(.unreachable, "no route") }
    }
    let result = try await sync()
    #expect(!result.isComplete && result.failure == nil)
    #expect(result.inconclusiveReason?.contains("no route") == true)
    #expect(result.added == 1 && result.removedUpstream == 0)
  }

  @Test func `gives up if the first lists are all refused`() async throws {
    for number in 0..<30 { service.add("r\(number)", leaves: 1) }
    service.refuse(Set((0..<30).map { "r\($0)" }))
    let result = try await sync()
    #expect(result.failure?.code == .rejected)
    #expect(service.requests.count < 20)
  }

  /// Changes anything between any two requests; two quiet syncs later everything is as the service has it.
  @Test(arguments: 0..<20)
  func `comes to the state of the service, whatever changes meanwhile`(seed: UInt64) async throws {
    let generator = Mutex(SeededGenerator(seed))
    for number in 0..<5 { service.add("r\(number)", leaves: 4) }
    service.beforeRequest { [service] _ throws(SourceError) in
      generator.withLock { generator in
        let path = "r\(Int.random(in: 0..<8, using: &generator))"
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: service.remove(path)
        case 1:
          service.remove(path)
          service.add(path)
        case 2: service.remove(Int.random(in: 0..<6, using: &generator), in: path)
        case 3: service.refuse(generator.next() % 2 == 0 ? [path] : [])
        default:
          service.set(Int.random(in: 0..<9, using: &generator), in: path, "\(generator.next())")
        }
      }
    }
    for round in 0..<6 {
      waitForParents()
      try await sync(upTo: round % 2 == 0 ? nil : 3, jobs: round % 3 + 1)
    }
    service.beforeRequest(nil)
    service.refuse([])
    for _ in 0..<3 {
      waitForParents()
      try await sync()
    }
    #expect(try await stored() == service.leaves)
  }
}

extension Date {
  fileprivate var day: String { String(iso8601.prefix(10)) }
}
