import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ItemsTests {
  /// The numbers that come, and the failure that ends them.
  private func walk(
    _ items: some AsyncSequence<Note, SourceError>
  ) async -> (ids: [Int], failure: SourceError?) {
    var ids: [Int] = []
    do throws(SourceError) {
      for try await item in items { ids.append(item.id) }
      return (ids, nil)
    } catch { return (ids, error) }
  }

  @Test func `returns every record once`() async {
    let (ids, failure) = await walk(notebook(250).items(size: 7))
    #expect(ids == Array(1...250))
    #expect(failure == nil)
  }

  @Test func `returns matching records`() async {
    let (ids, failure) = await walk(notebook(30).items(matching: "  NOTE 2 "))
    // Names that begin so come first.
    #expect(ids == [2] + Array(20...29) + [12])
    #expect(failure == nil)
  }

  @Test(arguments: ["", " ", "\t\n\u{3000}"])
  func `rejects blank text as a usage error`(text: String) async {
    let base = ScriptedSource(over: notebook(3))
    let (ids, failure) = await walk(base.items(matching: text))
    #expect(ids.isEmpty)
    #expect(failure?.code == .invalidRequest)
    #expect(base.callCount == 0)
  }

  @Test(arguments: [1, 5, 20, 21])
  func `stops at its bound`(most: Int) async {
    let base = ScriptedSource(over: notebook(100))
    let (ids, failure) = await walk(base.items(size: 10, upTo: PaginationBound(items: most)))
    #expect(ids == Array(1...most))
    #expect(failure == nil)
    #expect(base.callCount == (most + 9) / 10)
  }

  @Test func `reports a stalled source after all its records`() async throws {
    let circle = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes([place], next: .place(place % 3 + 1))
    }
    let (ids, failure) = await walk(circle.items())
    #expect(ids == [0, 1, 2, 3])
    #expect(failure?.code == .noProgress)
    #expect(failure?.message == "pagination stopped: pages repeat in a cycle of 3")
  }

  @Test func `reports a stall once`() async throws {
    let emptyPages = ScriptedSource<Note> { request throws(SourceError) in
      .notes([], next: .place((request.cursor?.place ?? 0) + 1))
    }
    var iterator = emptyPages.items().makeAsyncIterator()
    var failure: SourceError?
    do throws(SourceError) { _ = try await iterator.next(isolation: nil) } catch { failure = error }
    #expect(failure?.code == .noProgress)
    #expect(try await iterator.next() == nil)
  }

  @Test func `returns the records before a failure`() async {
    let base = ScriptedSource<Note>(pages: [
      .success(.notes(1...3, next: .place(3))), .failure(.because(.connectionLost)),
    ])
    let (ids, failure) = await walk(base.items(size: 3))
    #expect(ids == [1, 2, 3])
    #expect(failure?.code == .connectionLost)
  }

  @Test @MainActor func `serves the main actor`() async throws {
    var sum = 0
    for try await item in notebook(100_000).items(size: 10_000) {
      MainActor.assertIsolated()
      sum += item.id
    }
    #expect(sum == 5_000_050_000)
  }
}
