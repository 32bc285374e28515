import AggregatorKit
import AggregatorSourceTesting
import Synchronization
import Testing

struct TransformingTests {
  private let source = ScriptedSource(over: notebook(10))

  @Test func `map converts records, and keeps everything else`() async throws {
    let cards = source.map { Card($0.id, $0.title.uppercased()) }
    let plain = try await source.page(PageRequest(limit: 4))
    let page = try await cards.page(PageRequest(limit: 4))
    #expect(page.records.map(\.title) == ["NOTE 1", "NOTE 2", "NOTE 3", "NOTE 4"])
    #expect((page.next, page.total) == (plain.next, 10))
    let last = try await cards.page(PageRequest(after: page.next, limit: 40))
    #expect(last.records.map(\.id) == Array(5...10))
    #expect(try await cards.item(7).item == Card(7, "NOTE 7"))
    #expect("\(cards)" == "scripted\n  .map()")
  }

  @Test func `filter leaves out records, and counts them as hidden`() async throws {
    let even = source.filter(as: "even notes") { $0.id.isMultiple(of: 2) }
    let page = try await even.page(PageRequest(limit: 4))
    #expect((page.records.map(\.id), page.hidden, page.total) == ([2, 4], 2, nil))
    let whole = try await even.page(PageRequest(limit: 10))
    #expect((whole.records.map(\.id), whole.total) == ([2, 4, 6, 8, 10], 5))
    #expect(try await even.everyID(limit: 3) == [2, 4, 6, 8, 10])
    #expect(try await even.item(4).item == Note(4))
    let failure = await #expect(throws: SourceError.self) { try await even.item(3) }
    #expect((failure?.code, failure?.message) == (.notFound, #"even notes record "3" not found"#))
  }

  @Test func `operators pass on the cache policy`() async throws {
    let policies = Policies(base: notebook(4))
    let chain = policies.map { $0 }.filter(as: "notes") { _ in true }
      .merging(policies, as: "both").cachePolicy(.reload)
    let page = try await chain.page(PageRequest(limit: 2))
    _ = try await chain.page(PageRequest(after: page.next, limit: 2, cachePolicy: .offline))
    _ = try await chain.item(1, cachePolicy: .offline)
    #expect(policies.seen.values == [.reload, .reload, .reload])
  }

  @Test func `operators pass on the replacements of each source below them`() {
    let source = ReplaceableSource(notebook(4))
    let chain = source.map { $0 }.filter(as: "notes") { _ in true }.fallback(to: source)
      .merging(source, as: "both").cachePolicy(.reload)
    #expect(chain.replacements.count == 3 && notebook(4).replacements.isEmpty)
    #expect(ReplaceableSource(chain).replacements.count == 4)
  }
}

struct MergingTests {
  private let first = ScriptedSource(over: notebook(5))
  private let second = ScriptedSource(
    over: BundledSource("more", items: (101...103).map { Note($0) }, fields: Note.fields))

  @Test(arguments: [
    (1, [1, 101, 2, 102, 3, 103, 4, 5]), (2, [1, 2, 101, 102, 3, 4, 103, 5]),
    (10, [1, 2, 3, 4, 5, 101, 102, 103]),
  ])
  func `lists pages of both in turn`(limit: Int, ids: [Int]) async throws {
    let both = first.merging(second, as: "all")
    #expect(try await both.everyID(limit: limit) == ids)
  }

  @Test func `knows the total once both have named theirs`() async throws {
    let both = first.merging(second, as: "all")
    let page = try await both.page(PageRequest(limit: 2))
    #expect(page.total == nil)
    #expect(try await both.page(PageRequest(after: page.next, limit: 2)).total == 8)
  }

  @Test func `leaves out records that both have, in an iteration`() async throws {
    var ids: [Int] = []
    for try await note in first.merging(notebook(7), as: "all").items(size: 2) {
      ids.append(note.id)
    }
    #expect(ids.sorted() == Array(1...7))
  }

  @Test func `looks up in the one that knows the record`() async throws {
    let both = first.merging(second, as: "all")
    #expect(try await both.item(102).item == Note(102))
    #expect(try await both.item(3).item == Note(3))
    #expect((first.ids, second.ids) == ([102, 3], [102]))
    let failure = await #expect(throws: SourceError.self) { try await both.item(4711) }
    #expect(failure?.code == .notFound)
  }

  @Test func `a failure of one is a failure, and the same page can be asked for again`()
    async throws
  {
    let pages: [Result<Page<Note>, SourceError>] = [
      .failure(.because(.unreachable)), .success(.notes([9])),
    ]
    let both = first.merging(ScriptedSource(pages: pages), as: "all")
    let page = try await both.page(PageRequest(limit: 5))
    let second = PageRequest(after: page.next, limit: 5)
    #expect(await both.failure(of: second)?.code == .unreachable)
    #expect(try await both.page(second).records == [Note(9)])
  }

  @Test func `refuses cursors of others`() async throws {
    let both = first.merging(second, as: "all")
    let own = try await first.page(PageRequest(limit: 2)).next
    #expect(await both.failure(of: PageRequest(after: own))?.code == .invalidCursor)
    let next = try await both.page(PageRequest(limit: 2)).next
    let search = PageRequest(matching: try SearchQuery("note"), after: next)
    #expect(await both.failure(of: search)?.code == .invalidCursor)
  }
}

/// An operator that notes the policies of calls.
private struct Policies: Interceptor {
  let base: BundledSource<Note>
  let seen = Log<CachePolicy>()
  var label: String { "policies()" }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    seen.add(cachePolicy)
    return try await call()
  }
}

private final class Log<Value: Sendable>: Sendable {
  private let all = Mutex<[Value]>([])
  var values: [Value] { all.withLock(\.self) }
  func add(_ value: Value) { all.withLock { $0.append(value) } }
}
