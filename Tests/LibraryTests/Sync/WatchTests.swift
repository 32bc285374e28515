import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// A watch syncs, reports news, and waits; its clock is the test's.
extension SyncTests {
  private struct Stop: Error {}

  /// Runs `rounds`, each of which says what the service has, and returns the news and failures as text.
  private func watch(
    _ rounds: [@Sendable () async throws -> Void], failing failures: Set<Int> = []
  ) async throws -> [String] {
    let notes = RecordStore("notes", in: store, text: Note.text)
    // Not the clock of the syncs, on which their timeouts sleep.
    let clock = ManualClock()
    let left = Mutex((rounds: rounds[...], number: 0, reports: 0))
    let texts = Mutex<[String]>([])
    let watch = Watch(notes, every: .seconds(60), on: clock)
    let running = Task {
      try await watch.run {
        let round = left.withLock { left in
          left.number += 1
          return left.rounds.popFirst()
        }
        guard let round else { throw Stop() }
        try await round()
      } report: { news in
        let number = left.withLock { left in
          left.reports += 1
          return left.reports
        }
        if failures.contains(number) { throw SourceError.because(.busy) }
        switch news {
        case .began:
          let count = try await store.status(of: "notes").records
          texts.withLock { $0.append("began with \(count)") }
        case .changes(let mark):
          let page = try await notes.changes(since: .mark(mark), limit: 100)
          let changes = page?.changes.map { change in
            switch change.change {
            case .added(let note): "+\(note.id)"
            case .changed(_, let note): "~\(note.id)"
            case .removed(let note): "-\(note.id)"
            }
          }
          texts.withLock { $0.append(changes?.joined(separator: " ") ?? "unknown") }
        }
      } failed: { error in
        texts.withLock { $0.append("failed: \(error.code)") }
      }
    }
    for _ in rounds.indices {
      await clock.sleepers(atLeast: 1)
      #expect(clock.untilNextWake == .seconds(60))
      clock.advance(by: .seconds(60))
    }
    await #expect(throws: Stop.self) { try await running.value }
    return texts.withLock { $0 }
  }

  @Test func `the first sync is counted, and later ones report changes`() async throws {
    let news = try await watch([
      { try await sync(service(1...30)) },
      { try await sync(service(1...30)) },
      { try await sync(service((1...31).filter { $0 != 4 }, changed: [7])) },
      { try await sync(service(1...31, changed: [7])) },
    ])
    #expect(news == ["began with 30", "", "-4 ~7 +31", "+4"])
  }

  @Test func `a source that was synced before reports changes at once`() async throws {
    try await sync(service(1...30))
    #expect(try await watch([{ try await sync(service(1...31)) }]) == ["+31"])
  }

  @Test func `a first sync that is interrupted is resumed, and then counted`() async throws {
    let news = try await watch([
      { try await sync(service(1...30), upTo: 1) },
      { try await sync(service(1...30)) },
    ])
    #expect(news == ["began with 30"])
  }

  @Test func `a change that another process makes between two rounds is news`() async throws {
    try await sync(service(1...30))
    let store = store
    let today = today
    let news = try await watch([
      {
        try await sync(service(1...30))
      },
      {
        let json = Data(#"{"id":2,"title":"theirs"}"#.utf8)
        let entry = StoreEntry(id: "2", json: json) { FoldedText("theirs") }
        _ = try await store.save(StoreBatch([entry]), of: "notes", at: today.now())
      },
    ])
    #expect(news == ["", "~2"])
  }

  @Test func `a round that fails is reported, and the next one has its news`() async throws {
    try await sync(service(1...30))
    let news = try await watch(
      [
        { throw SourceError.because(.unreachable) },
        { try await sync(service(1...31)) },
        { try await sync(service(1...32)) },
      ], failing: [1])
    #expect(news == ["failed: unreachable", "failed: busy", "+31 +32"])
  }

  @Test func `an unbounded source is watched by runs`() async throws {
    let news = try await watch([
      {
        _ = try await syncing(service(1...90), isEndless: true).run(upTo: 1, jobs: 1, waits: false)
        { _ in }
      },
      {
        _ = try await syncing(service(1...90), isEndless: true).run(upTo: 1, jobs: 1, waits: false)
        { _ in }
      },
    ])
    #expect(news == ["began with 10", (11...20).map { "+\($0)" }.joined(separator: " ")])
  }
}
