import AggregatorCore
import AggregatorKit
import AggregatorSourceTesting
import AggregatorStore
import Foundation
import Testing

@testable import AggregatorSQLite

/// The matches of a search that a store in SQLite ranks once for all of its pages.
@Suite(.timeLimit(.minutes(10)))
struct RecentMatchesTests {
  private static func search(_ text: String) throws -> RankedSearch {
    RankedSearch(try SearchQuery(text), for: Note.self)
  }

  private func save(_ titles: [String], from first: Int, in store: SQLiteStore) async throws {
    let entries = try titles.enumerated().map { index, title in
      let note = Note(first + index, title)
      return StoreEntry(id: "\(note.id)", json: try JSONEncoder().encode(note)) {
        Note.text(note)
      }
    }
    _ = try await store.save(
      StoreBatch(entries), of: "notes", at: Date(timeIntervalSince1970: 0))
  }

  private func remembered(in store: SQLiteStore) async throws -> [RankedSearch] {
    try await store.read { connection throws(SQLiteFailure) in
      connection.recentMatches.searches.map { $0.search }
    } ?? []
  }

  /// Asks for the matches of a search.
  private func isKnown(
    _ text: String, in source: Int64 = 1, at version: Int64 = 7, _ recent: inout RecentMatches
  ) throws -> Bool {
    recent.matches(of: try Self.search(text), in: source, at: version) != nil
  }

  @Test func `the same search of a source has the same matches in one version`() throws {
    var recent = RecentMatches()
    var answers = [try isKnown("lamp", &recent)]
    recent.add(RankedMatches([(position: 3, rank: .word)]), of: try Self.search("lamp"), in: 1)
    let known = recent.matches(of: try Self.search("lamp"), in: 1, at: 7)
    #expect(known?.total == 1)
    answers.append(try isKnown("lamp", in: 2, &recent))
    answers.append(try isKnown("lamps", &recent))
    answers.append(try isKnown("lamp", &recent))
    answers.append(try isKnown("lamp", at: 8, &recent))
    answers.append(try isKnown("lamp", &recent))
    #expect(answers == [false, false, false, true, false, false])
  }

  @Test func `the search that was used least recently goes first`() throws {
    var recent = RecentMatches()
    for number in 0...RecentMatches.limit {
      _ = try isKnown("lamp \(number)", &recent)
      recent.add(RankedMatches([]), of: try Self.search("lamp \(number)"), in: 1)
      let isFirstKnown = try isKnown("lamp 0", &recent)
      #expect(isFirstKnown)
    }
    #expect(recent.searches.count == RecentMatches.limit)
    let isSecondKnown = try isKnown("lamp 1", &recent)
    #expect(!isSecondKnown)
  }

  @Test func `a page sees what another process has changed since the one before it`() async throws {
    let directory = try StoreDirectory()
    let (store, other) = (directory.store(), directory.store())
    try await save(["a lamp", "the lamp", "my lamp", "old lamp"], from: 1, in: store)
    let records = RecordStore<Note>("notes", in: store, text: Note.text).records
    let query = try SearchQuery("lamp")
    let first = try await records.page(PageRequest(matching: query, limit: 1))
    #expect(first.records.map(\.id) == [1])
    let second = try await records.page(PageRequest(matching: query, after: first.next, limit: 1))
    #expect(second.records.map(\.id) == [2])
    #expect(try await remembered(in: store) == [try Self.search("lamp")])

    _ = try await other.delete(["3"], of: "notes", at: Date(timeIntervalSince1970: 0))
    let third = try await records.page(PageRequest(matching: query, after: second.next, limit: 1))
    #expect(third.records.map(\.id) == [4])
    #expect(try await remembered(in: store) == [try Self.search("lamp")])

    try await save(["Lamp"], from: 5, in: other)
    #expect(try await records.everyID(matching: query, limit: 2) == [5, 1, 2, 4])
    _ = try await store.restore(["3"], of: "notes")
    #expect(try await records.everyID(matching: query, limit: 2) == [5, 1, 2, 3, 4])
  }
}
