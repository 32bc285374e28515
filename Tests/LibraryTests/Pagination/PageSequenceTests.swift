import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WalkTests {
  @Test(arguments: [0, 1, 8], [1, 7, 100])
  func `returns every page in order and marks the last one`(
    ahead: Int, size: Int
  ) async throws {
    var ids: [Int] = []
    var ends: [PaginationEnd?] = []
    for try await step in notebook(50).pages(size: size, ahead: ahead) {
      ids += step.items.map(\.id)
      ends.append(step.end)
    }
    #expect(ids == Array(1...50))
    #expect(ends.count == (50 + size - 1) / size)
    #expect(ends.last == .exhausted)
    #expect(ends.dropLast().allSatisfy { $0 == nil })
  }

  @Test func `pages through matches from a cursor`() async throws {
    let query = try SearchQuery("1")
    let start = try await notebook(50).page(PageRequest(matching: query, limit: 3)).next
    var ids: [Int] = []
    for try await step in notebook(50).pages(matching: query, after: start, size: 4) {
      ids += step.items.map(\.id)
    }
    #expect(ids == Array(12...19) + [21, 31, 41])
  }

  @Test(arguments: [0, 1, 8])
  func `sends one request for one page`(ahead: Int) async throws {
    for bound in [PaginationBound(items: 10), PaginationBound(pages: 1)] {
      let base = ScriptedSource(over: notebook(50))
      for try await step in base.pages(size: 10, upTo: bound, ahead: ahead) {
        #expect(step.items.count == 10)
      }
      #expect(base.callCount == 1)
    }
  }

  @Test(arguments: [(0, 0), (1, 1), (8, 1)])
  func `prefetches the one page that is certain`(ahead: Int, flights: Int) async throws {
    let base = ScriptedSource<Note> { request throws(SourceError) in
      let place = request.cursor?.place ?? 0
      return .notes([place], next: .place(place + 1))
    }
    let walk = base.pages(size: 1, ahead: ahead).makeAsyncIterator()
    for page in 1...5 {
      _ = try await walk.next()
      if flights > 0 { await base.calls(atLeast: page + flights) }
      #expect(base.callCount == page + flights)
    }
  }

  @Test func `keeps eight pages in flight where they can be addressed`() async throws {
    let gate = Gate()
    let notes = notebook(1000)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        if request.cursor != nil { try await gate.pass() }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let walk = base.pages(size: 10, ahead: 8).makeAsyncIterator()
    var ids = try await walk.next()?.items.map(\.id) ?? []
    await gate.holds(8)
    #expect(base.callCount == 9)
    gate.open()
    while let step = try await walk.next() { ids += step.items.map(\.id) }
    #expect(ids == Array(1...1000))
    #expect(base.mostInFlight == 8)
    // Every page once, and no more guesses than can be in flight beyond the end.
    #expect(Set(base.requests).count == base.callCount)
    #expect((100...107).contains(base.callCount))
  }

  /// The ways in which a source may predict its cursors.
  enum Guessing: CaseIterable { case right, wrong, same, sometimes, never }

  @Test(arguments: Guessing.allCases)
  func `keeps order and completeness for any prediction`(guessing: Guessing) async throws {
    let notes = notebook(200)
    // Pages are short now and then, as a service's are.
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let first = try await notes.page(request.after(request.cursor)).records.first?.id ?? 0
        return try await notes.page(
          PageRequest(after: request.cursor, limit: first % 5 == 4 ? 3 : request.limit))
      },
      skip: { count, request in
        switch guessing {
        case .right: notes.cursor(skipping: count, from: request)
        case .wrong: notes.cursor(skipping: count + 1, from: request)
        case .same: notes.cursor(skipping: request.limit, from: request)
        case .sometimes: count > 20 ? nil : notes.cursor(skipping: count, from: request)
        case .never: nil
        }
      })
    var ids: [Int] = []
    for try await step in base.pages(size: 10, ahead: 8) { ids += step.items.map(\.id) }
    #expect(ids == Array(1...200))
  }

  @Test(arguments: [0, 1, 8])
  func `returns the pages before a failure, then ends`(ahead: Int) async throws {
    let notes = notebook(50)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let page = try await notes.page(request)
        if page.records.first?.id == 31 { throw .because(.serverError) }
        return page
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let walk = base.pages(size: 10, ahead: ahead).makeAsyncIterator()
    var ids: [Int] = []
    var failure: SourceError?
    do throws(SourceError) {
      while let step = try await walk.next() { ids += step.items.map(\.id) }
    } catch { failure = error }
    #expect(failure?.code == .serverError)
    #expect(ids == Array(1...30))
    #expect(try await walk.next() == nil)
  }

  @Test(arguments: [0, 1])
  func `predicts no cursor if it prefetches at most the next page`(ahead: Int) async throws {
    let notes = notebook(50)
    let predictions = Counter()
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in try await notes.page(request) },
      skip: { count, request in
        predictions.add()
        return notes.cursor(skipping: count, from: request)
      })
    for try await _ in base.pages(size: 10, ahead: ahead) {}
    #expect((base.callCount, predictions.value) == (5, 0))
  }

  /// Holds every page but the first.
  private func holding(_ gate: Gate) -> ScriptedSource<Note> {
    let notes = notebook(1000)
    return ScriptedSource(
      page: { request throws(SourceError) in
        if request.cursor != nil { try await gate.pass() }
        return try await notes.page(request)
      }, skip: { notes.cursor(skipping: $0, from: $1) })
  }

  @Test func `cancels calls in flight when its iterator is released`() async throws {
    let gate = Gate()
    let base = holding(gate)
    for try await _ in base.pages(size: 10, ahead: 8) {
      await gate.holds(8)
      break
    }
    await base.ends(atLeast: 9)
    #expect(base.cancellations == 8)
  }

  @Test func `cancels calls in flight when a page fails`() async throws {
    let failing = Gate()
    let others = Gate()
    let notes = notebook(1000)
    let base = ScriptedSource<Note>(
      page: { request throws(SourceError) in
        let page = try await notes.page(request)
        switch page.records.first?.id {
        case 1: return page
        case 11:
          try await failing.pass()
          throw .because(.serverError)
        default:
          try await others.pass()
          return page
        }
      }, skip: { notes.cursor(skipping: $0, from: $1) })
    let walk = base.pages(size: 10, ahead: 8).makeAsyncIterator()
    _ = try await walk.next()
    await others.holds(7)
    failing.open()
    var failure: SourceError?
    do throws(SourceError) { _ = try await walk.next() } catch { failure = error }
    #expect(failure?.code == .serverError)
    await base.ends(atLeast: 9)
    #expect(base.cancellations == 7)
    #expect(try await walk.next() == nil)
  }

  @Test(arguments: [0, 1])
  func `ends promptly when its task is cancelled`(ahead: Int) async {
    let gate = Gate()
    let base = holding(gate)
    let walking = Task { () -> SourceError? in
      do throws(SourceError) {
        for try await _ in base.pages(size: 10, ahead: ahead) {}
        return nil
      } catch { return error }
    }
    await gate.holds(1)
    walking.cancel()
    #expect(await walking.value?.code == .cancelled)
  }

  @Test func `ends when its task is cancelled even if its source never waits`() async {
    let steps = Counter()
    let walking = Task { () -> SourceError? in
      do throws(SourceError) {
        for try await _ in notebook(1000).pages(size: 10, ahead: 0) {
          steps.add()
          withUnsafeCurrentTask { $0?.cancel() }
        }
        return nil
      } catch { return error }
    }
    #expect(await walking.value?.code == .cancelled)
    #expect(steps.value == 1)
  }

  @Test func `starts over for every iterator`() async throws {
    let walk = notebook(20).pages(size: 10)
    for _ in 0..<2 {
      var ids: [Int] = []
      for try await step in walk { ids += step.items.map(\.id) }
      #expect(ids == Array(1...20))
    }
  }
}
