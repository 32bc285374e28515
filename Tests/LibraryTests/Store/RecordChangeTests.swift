import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// The differences of typed records.
@Suite(.timeLimit(.minutes(10)))
struct RecordChangeTests {
  private let directory: StoreDirectory
  private let store: SQLiteStore
  private let today = Today()

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private var cards: RecordStore<Card> { RecordStore("cards", in: store, text: Card.text) }

  /// Saves a card as a live source does: by fetching it alone, or in a list.
  private func fetch(_ card: Card, alone: Bool = false) async throws {
    today.turn(by: 1)
    let base = ScriptedSource<Card>(
      page: { _ in Page([card], provenance: Provenance(.live)) },
      item: { _ in LookupResult(card, provenance: Provenance(.live)) })
    let source = base.cached(
      in: cards, freshFor: .seconds(0), now: today.now)
    if alone {
      _ = try await source.item(card.id)
    } else {
      _ = try await source.page(PageRequest())
    }
  }

  private func changes(since mark: HistoryMark) async throws -> [RecordChange<Card>] {
    try #require(try await cards.changes(since: .mark(mark), limit: 10)).changes.map(\.change)
  }

  private func mark() async throws -> HistoryMark {
    try #require(try await store.status(of: "cards").history).mark
  }

  @Test func `details that become known are no change`() async throws {
    try await fetch(Card(1))
    let start = try await mark()
    try await fetch(Card(1, detail: "known"), alone: true)
    #expect(try await store.status(of: "cards").history?.count == 0)
    // Nor is a list that leaves them out.
    try await fetch(Card(1))
    #expect(try await changes(since: start) == [])
  }

  @Test func `a change is shown without the details that became known with it`() async throws {
    try await fetch(Card(1, "old"))
    let start = try await mark()
    try await fetch(Card(1, "new", detail: "known"), alone: true)
    #expect(
      try await changes(since: start)
        == [.changed(from: Card(1, "old", detail: "known"), to: Card(1, "new", detail: "known"))])
  }

  @Test func `a change is shown without the details that became known later`() async throws {
    try await fetch(Card(1, "old"))
    let start = try await mark()
    try await fetch(Card(1, "new"))
    try await fetch(Card(1, "new", detail: "known"), alone: true)
    #expect(
      try await changes(since: start)
        == [.changed(from: Card(1, "old", detail: "known"), to: Card(1, "new", detail: "known"))])
  }

  @Test func `a detail that changes is a change`() async throws {
    try await fetch(Card(1, detail: "old"), alone: true)
    let start = try await mark()
    try await fetch(Card(1))
    try await fetch(Card(1, detail: "new"), alone: true)
    #expect(
      try await changes(since: start)
        == [.changed(from: Card(1, detail: "old"), to: Card(1, detail: "new"))])
  }

  @Test func `a value that changed back is no difference`() async throws {
    try await fetch(Card(1, "one"))
    let start = try await mark()
    try await fetch(Card(1, "two"))
    let middle = try await mark()
    try await fetch(Card(1, "one"))
    #expect(try await changes(since: start) == [])
    #expect(
      try await changes(since: middle) == [.changed(from: Card(1, "two"), to: Card(1, "one"))])
  }

  @Test func `an earlier form that cannot be read is no difference`() async throws {
    try await fetch(Card(1, "one"))
    let start = try await mark()
    try await fetch(Card(1, "two"))
    try directory.database().execute("UPDATE changes SET json = '{}'")
    #expect(try await changes(since: start) == [])
  }

  @Test func `the history of a record has each change, the latest first`() async throws {
    try await fetch(Card(1, "one", detail: "old"), alone: true)
    try await fetch(Card(1, "two"))
    try await fetch(Card(1, "two"))
    try await fetch(Card(1, "two", detail: "new"), alone: true)
    let history = try #require(try await cards.history(of: 1, limit: 10))
    #expect(
      history.changes.map(\.change) == [
        .changed(from: Card(1, "two", detail: "old"), to: Card(1, "two", detail: "new")),
        .changed(from: Card(1, "one", detail: "old"), to: Card(1, "two", detail: "old")),
      ])
    #expect(history.changes.map(\.date) == [today.now(), today.now().addingTimeInterval(-2)])
    #expect(history.isComplete)
    #expect(try await cards.history(of: 1, limit: 1)?.isComplete == false)
    #expect(try await cards.history(of: 2, limit: 1) == nil)
    try directory.database().execute(
      "UPDATE changes SET json = '{}' WHERE number = (SELECT max(number) FROM changes)")
    let unreadable = try #require(try await cards.history(of: 1, limit: 10))
    #expect(unreadable.changes.isEmpty && !unreadable.isComplete)
  }
}
