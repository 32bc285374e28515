import AggregatorKit
import AggregatorSourceTesting
import Dispatch
import Foundation
import Synchronization
import Testing

/// Work that a caller on the main actor must not wait for: decoding, encoding and searching.
@Suite(.timeLimit(.minutes(10)))
struct ConcurrentTests {
  private let directory: StoreDirectory
  private let recordStore: RecordStore<Slow>

  init() throws {
    directory = try StoreDirectory()
    recordStore = RecordStore("slow", in: directory.store()) { FoldedText($0.id) }
  }

  /// A service that decodes a reply, and a cache that is always or never fresh.
  private func cached(for freshness: Duration = .seconds(60)) -> some DataSource<Slow> {
    ScriptedSource<Slow>(
      page: { _ throws(SourceError) in
        Page(try Self.decoded(), provenance: Provenance(.live))
      },
      item: { _ throws(SourceError) in
        LookupResult(try Self.decoded()[0], provenance: Provenance(.live))
      }
    ).coalesced().cached(in: recordStore, freshFor: freshness)
  }

  private static func decoded() throws(SourceError) -> [Slow] {
    try HTTPResponse(status: 200, body: Data(#"[{"id":"a"},{"id":"b"}]"#.utf8)).decoded(by: "it")
  }

  @Test func `does not decode, encode or search on the caller's actor`() async throws {
    let log = CodingLog()
    try await Slow.$log.withValue(log) { try await callAll() }
    let counts = log.counts.withLock(\.self)
    #expect(counts.elsewhere > 20)
    #expect(counts.onCaller == 0)
  }

  @Caller private func callAll() async throws {
    #expect(Caller.isCurrent)
    for freshness in [60, 60, 0] {
      let source = cached(for: .seconds(freshness))
      _ = try await source.page(PageRequest())
      _ = try await source.item("a")
    }
    let stored = recordStore.records
    _ = try await stored.page(PageRequest())
    _ = try await stored.page(PageRequest(matching: try SearchQuery("a")))
    _ = try await stored.item("b")
    let growing = cached().growing(in: recordStore, by: 2)
    _ = try await growing.page(PageRequest(limit: 10))
    _ = try await growing.item("b")
    let bundled = BundledSource<Slow>(
      "slow", json: #"[{"id":"a"},{"id":"b"}]"#, fields: Slow.fields)
    _ = try await bundled.page(PageRequest(matching: try SearchQuery("b")))
    let other = BundledSource<Slow>("slow", json: #"[{"id":"a"}]"#, fields: Slow.fields)
    _ = try await other.item("a")
    let scanning = cached().searchingLocally(upTo: 100, by: 10, as: "slow") { item in
      Slow.note()
      return FoldedText(item.id)
    }
    _ = try await scanning.page(PageRequest(matching: try SearchQuery("b")))
    _ = await UpstreamLoader(
      base: cached(for: .zero), recordStore: recordStore, size: 2, collection: "other",
      now: { .day() }
    ).take(1) { _ in }
  }
}

/// A record that notes the actor of its coding.
private struct Slow: SourceRecord {
  let id: String

  static let fields: [Field<Slow>] = [
    Field("id", "ID", .text, about: "The ID.", isSearchable: true) { item in
      note()
      return .string(item.id)
    }
  ]

  @TaskLocal static var log: CodingLog?

  static func note() {
    log?.counts.withLock { counts in
      if Caller.isCurrent { counts.onCaller += 1 } else { counts.elsewhere += 1 }
    }
  }

  init(from decoder: any Decoder) throws {
    Self.note()
    id = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .id)
  }

  func encode(to encoder: any Encoder) throws {
    Self.note()
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(id, forKey: .id)
  }

  private enum Key: CodingKey { case id }
}

private final class CodingLog: Sendable {
  let counts = Mutex((onCaller: 0, elsewhere: 0))
}

/// An actor like the main actor, whose thread can be told: the main actor's cannot in a test.
@globalActor private actor Caller {
  static let shared = Caller()

  private let executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// True in a job of this actor.
  static var isCurrent: Bool { Thread.current.threadDictionary["caller"] != nil }

  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "caller")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async {
        Thread.current.threadDictionary["caller"] = true
        job.runSynchronously(on: self.asUnownedSerialExecutor())
        Thread.current.threadDictionary["caller"] = nil
      }
    }
  }
}
