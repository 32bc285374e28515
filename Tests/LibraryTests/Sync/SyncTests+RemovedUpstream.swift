import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Records that a complete pass did not see.
extension SyncTests {
  @Test func `reports records missing from a complete pass as removed upstream`() async throws {
    try await sync(service(1...30))
    let gone: Set = [3, 14, 30]
    let rest = (1...30).filter { !gone.contains($0) }
    let partial = try await sync(service(rest), upTo: 2)
    #expect((partial.removedUpstream, partial.isComplete) == (0, false))
    #expect(try await storedIDs().count == 30)
    let complete = try await sync(service(rest))
    #expect((complete.removedUpstream, complete.isComplete) == (3, true))
    #expect(try await storedIDs() == rest)
    let status = try await store.status(of: "notes")
    #expect((status.records, status.removedUpstream) == (27, 3))
    #expect(try await store.inconsistencies() == [])
  }

  @Test func `a record that upstream has again is listed again`() async throws {
    try await sync(service(1...30))
    try await sync(service(2...30))
    let result = try await sync(service(1...30))
    #expect(
      (result.added, result.changed, result.unchanged, result.removedUpstream) == (0, 1, 29, 0))
    #expect(try await storedIDs() == Array(1...30))
    #expect(try await store.status(of: "notes").removedUpstream == 0)
  }

  @Test func `leaves deletions unchanged`() async throws {
    try await sync(service(1...30))
    _ = try await store.delete(["3", "4"], of: "notes", at: .day())
    let result = try await sync(service(4...30))
    #expect(result.removedUpstream == 3)
    let status = try await store.status(of: "notes")
    #expect((status.records, status.hidden, status.removedUpstream) == (26, 1, 3))
    #expect(try await storedIDs() == Array(5...30))
    #expect(try await store.restore(["3", "4"], of: "notes").count == 2)
    #expect(try await storedIDs() == Array(4...30))
  }

  /// The ways in which a service can make a pass untrustworthy.
  enum Doubt: CaseIterable { case badRow, shrinks, sendsLess, sendsNothing, repeatsRow }

  @Test(arguments: Doubt.allCases)
  func `reports nothing as removed after an untrustworthy pass`(doubt: Doubt) async throws {
    try await sync(service(1...30))
    let rest = service(doubt == .sendsNothing ? 0..<0 : 11..<31)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        var page = try await rest.page(request)
        switch doubt {
        case .badRow where request.cursor == nil:
          page.unreadable = UnreadableRows(count: 1, firstReason: "row 3: id is missing")
        case .shrinks where request.cursor == nil: page.total = 21
        case .sendsLess: page.total = 40
        // A row was inserted before the current page: a record repeats, and another is left out.
        case .repeatsRow where request.cursor != nil && page.records.first?.id == 21:
          page.records[0] = Note(20)
        default: break
        }
        return page
      }, skip: { rest.cursor(skipping: $0, from: $1) })
    let result = try await sync(base)
    #expect(!result.isComplete && result.removedUpstream == 0)
    #expect(result.inconclusiveReason != nil)
    #expect(try await storedIDs().count == 30)
  }

  @Test func `does not report records added during the pass as removed`() async throws {
    try await sync(service(1...30))
    let notes = service((1...30).filter { $0 != 7 })
    let store = store
    let today = today
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        if request.cursor != nil {
          // Another process lists a record inserted before the current page.
          let json = Data(#"{"id":99,"title":"note 99"}"#.utf8)
          let entry = StoreEntry(id: "99", json: json) { FoldedText("note 99") }
          _ = try await store.save(StoreBatch([entry]), of: "notes", at: today.now())
        }
        today.turn(by: 1)
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let result = try await sync(base)
    #expect((result.removedUpstream, result.inconclusiveReason) == (1, nil))
    #expect(try await storedIDs() == (1...30).filter { $0 != 7 } + [99])
  }

  @Test func `marks many missing records only if the next pass misses them too`() async throws {
    try await sync(service(1...100))
    let first = try await sync(service(1...88))
    #expect(!first.isComplete && first.needsConfirmation && first.removedUpstream == 0)
    #expect(
      first.inconclusiveReason == "12 of 100 known records are missing; sync again to confirm it")
    #expect(try await storedIDs() == Array(1...100))
    let second = try await sync(service(1...88))
    #expect(
      (second.removedUpstream, second.inconclusiveReason, second.needsConfirmation) == (
        12, nil, false
      ))
    #expect(try await storedIDs() == Array(1...88))
    #expect(try directory.database().texts("SELECT count(*) FROM seen") == ["0"])
  }

  @Test func `marks few missing records, and many among more`() async throws {
    try await sync(service(1...100))
    #expect(try await sync(service(1...90)).removedUpstream == 10)
    try await sync(service(1...1000))
    #expect(try await sync(service(1...900)).removedUpstream == 100)
  }

  @Test func `a next pass that has the records again marks nothing`() async throws {
    try await sync(service(1...100))
    #expect(try await sync(service(1...20)).needsConfirmation)
    let whole = try await sync(service(1...99))
    #expect((whole.removedUpstream, whole.inconclusiveReason) == (1, nil))
    // Others are missing now.
    #expect(try await sync(service(51...99)).needsConfirmation)
    #expect(try await sync(service(1...50)).needsConfirmation)
    #expect(try await storedIDs() == Array(1...99))
  }

  @Test func `an empty service removes nothing, however often`() async throws {
    try await sync(service(1...30))
    for _ in 1...3 {
      let result = try await sync(service(0..<0))
      #expect(
        result.needsConfirmation && result.inconclusiveReason == "the service sent no records")
    }
    #expect(try await storedIDs() == Array(1...30))
  }

  @Test(arguments: [0, 20, 30])
  func `asks again for an empty page where more records are known`(position: Int) async throws {
    try await sync(service(1...40))
    let notes = service(1...40)
    let isOdd = Mutex(true)
    let base = ScriptedSource<Note>(page: { request throws(SourceError) in
      let page = try await notes.page(request)
      guard page.records.first?.id == position + 1,
        isOdd.withLock({ isOdd in
          defer { isOdd = false }
          return isOdd
        })
      else { return page }
      return .notes([])
    })
    let result = try await sync(base)
    #expect((result.unchanged, result.removedUpstream, result.inconclusiveReason) == (40, 0, nil))
    #expect(result.isComplete && result.pages == 4)
    #expect(base.callCount == 5)
  }

  @Test func `asks once for an empty last page if no more records are known`() async throws {
    let notes = service(1...20)
    let base = ScriptedSource<Note>(page: { request throws(SourceError) in
      if request.cursor == .place(2) { return .notes([]) }
      var page = try await notes.page(request)
      page.total = nil
      if page.next == nil { page.next = .place(2) }
      return page
    })
    for _ in 1...2 { #expect(try await sync(base).isComplete) }
    #expect(base.callCount == 6)
  }

  @Test func `marks records that were first seen while the clock was ahead`() async throws {
    today.turn(by: 365 * 86_400)
    try await sync(service(1...30))
    today.turn(by: -365 * 86_400)
    let result = try await sync(service(2...30))
    #expect((result.removedUpstream, result.inconclusiveReason) == (1, nil))
    #expect(try await storedIDs() == Array(2...30))
  }

  // MARK: - Services that list only their first records

  @Test(arguments: [1, 4], [(10, 40), (10, 35), (7, 40), (100, 40)])
  func `reports records beyond the depth of the service`(
    jobs: Int, sizes: (size: Int, depth: Int)
  ) async throws {
    try await sync(service(1...100))
    let notes = service(1...100)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let page = try await notes.page(request)
        guard page.records.last.map({ $0.id <= sizes.depth }) ?? true else {
          throw .because(.rejected)
        }
        return page
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let result = try await syncing(base, by: sizes.size, depth: sizes.depth)
      .run(upTo: nil, jobs: jobs, waits: false) { _ in }
    #expect((result.unchanged, result.failure?.code) == (sizes.depth, nil))
    #expect((result.reachedDepth, result.total, result.isComplete) == (sizes.depth, 100, false))
    #expect(result.removedUpstream == 0)
    #expect(try await storedIDs() == Array(1...100))
  }

  @Test func `resumes at the depth of the service, and completes a shorter list`() async throws {
    let deep = try syncing(service(1...100), depth: 40)
    _ = await deep.run(upTo: 2, jobs: 1, waits: false) { _ in }
    let result = await deep.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.pages, result.reachedDepth, result.isComplete) == (2, 40, false))
    for count in [39, 40] {
      let all = try await syncing(service(1...count), depth: 40)
        .run(upTo: nil, jobs: 1, waits: false) { _ in }
      #expect((all.reachedDepth, all.isComplete) == (nil, true))
    }
  }

  @Test func `pages cached earlier do not bring removed records back`() async throws {
    let all = service(1...5)
    func listed(_ base: any DataSource<Note>) async throws -> [Int] {
      let plugin = NotesPlugin(over: base, .liveFirst(freshFor: .seconds(86_400)))
      let environment = PluginEnvironment(
        settings: SourceSettings(), transport: TrappingTransport(), store: store, clock: clock,
        now: today.now)
      return try await plugin.source(in: environment).page(PageRequest(limit: 5)).records.map(\.id)
    }
    #expect(try await listed(all) == [1, 2, 3, 4, 5])
    let rest = service([1, 2, 4, 5, 6])
    try await sync(rest)
    #expect(try await listed(rest) == [1, 2, 4, 5, 6])
  }

  @Test func `resumes with another page size`() async throws {
    let base = service(1...60)
    try await sync(base, upTo: 2)
    let result = try await syncing(base, by: 20).run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect((result.added, result.pages, result.earlierPages) == (40, 2, 2))
    #expect(result.isComplete && result.inconclusiveReason == nil)
  }
}
