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
    #expect(try await store.faults() == [])
  }

  @Test func `a record that upstream has again is listed again`() async throws {
    try await sync(service(1...30))
    try await sync(service(2...30))
    let result = try await sync(service(1...30))
    #expect((result.added, result.changed, result.same, result.removedUpstream) == (0, 1, 29, 0))
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
          page.unreadable = Unreadable(count: 1, firstReason: "row 3: id is missing")
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
    #expect(result.isComplete && result.removedUpstream == 0)
    #expect(result.doubt != nil)
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
          let entry = StoreEntry(id: "99", json: json) { Folded("note 99") }
          _ = try await store.save(StoreBatch([entry]), of: "notes", at: today.now())
        }
        today.turn(by: 1)
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let result = try await sync(base)
    #expect((result.removedUpstream, result.doubt) == (1, nil))
    #expect(try await storedIDs() == (1...30).filter { $0 != 7 } + [99])
  }

  @Test func `pages cached earlier do not bring removed records back`() async throws {
    let all = service(1...5)
    func listed(_ base: any DataSource<Note>) async throws -> [Int] {
      let plugin = NotesPlugin(over: base, .liveFirst(freshFor: .seconds(86_400)))
      let environment = PluginEnvironment(
        settings: Settings(), transport: TrappingTransport(), store: store, clock: clock,
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
    #expect(result.isComplete && result.doubt == nil)
  }
}
