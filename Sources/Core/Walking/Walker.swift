import Synchronization

/// One walk under way: the pages in flight, and the course that says what to do with them.
///
/// Pages further ahead are guesses. A flight is used only if it asks for exactly what the course asks
/// for, so a wrong guess costs a request and never order or completeness.
final class Walker<Item: Record> {
  private struct Flight {
    let request: PageRequest
    let task: Task<Result<Page<Item>, SourceError>, Never>
    let landing: Landing
  }

  /// Whether a flight's page has come.
  private final class Landing: Sendable {
    let isHere = Atomic(false)
  }

  private let source: any DataSource<Item>
  private let ahead: Int
  private var course: Course<Item>
  private var flights: [Flight] = []
  private var isOver = false

  init(source: any DataSource<Item>, ahead: Int, course: Course<Item>) {
    self.source = source
    self.ahead = ahead
    self.course = course
  }

  deinit { callBack(flights) }

  /// Whether the next page has come already.
  var isNextHere: Bool { flights.first?.landing.isHere.load(ordering: .relaxed) ?? false }

  func next() async throws(SourceError) -> WalkStep<Item>? {
    guard !isOver, let request = course.request else { return nil }
    isOver = true  // until this page has come: a failure ends the walk
    let page: Page<Item>
    do { page = try await landing(request) } catch {
      callBack(flights)
      throw error
    }
    let step = course.take(page)
    isOver = step.end != nil
    let guess = source.cursor(skipping: request.limit, from: request)
    launch(guessing: guess != nil && guess == page.next)
    return step
  }

  private func landing(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    // A source that answers without waiting may never look.
    guard !Task.isCancelled else { throw .cancelled }
    // `launch` left the flight of this very request in front, if it left any.
    guard !flights.isEmpty else { return try await source.page(request) }
    let task = flights.removeFirst().task
    do {
      return try await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }.get()
    } catch let error where error.cause is NotAsked {
      // A guess may have been too far ahead for its deadline. Now it is this page's turn.
      return try await source.page(request)
    }
  }

  /// Keeps up to `ahead` pages in flight: the certain one, and guesses while they come true.
  private func launch(guessing: Bool) {
    let requests = course.requests(atMost: ahead, after: guessing ? flights.map(\.request) : []) {
      count, request in
      guessing ? source.cursor(skipping: count, from: request) : nil
    }
    var flying = flights
    flights = requests.map { request in
      guard let place = flying.firstIndex(where: { $0.request == request }) else {
        return depart(request)
      }
      return flying.remove(at: place)
    }
    callBack(flying)
  }

  private func depart(_ request: PageRequest) -> Flight {
    // Unstructured, because it runs between two calls of `next`; `deinit` ends it at the latest.
    let landing = Landing()
    let task = Task { [source] in
      let page = await Result { () async throws(SourceError) in try await source.page(request) }
      // After a failure it may be asked for again, and that takes time.
      if case .success = page { landing.isHere.store(true, ordering: .relaxed) }
      return page
    }
    return Flight(request: request, task: task, landing: landing)
  }

  /// Ends flights that nobody needs.
  private func callBack(_ flights: [Flight]) { for flight in flights { flight.task.cancel() } }
}
