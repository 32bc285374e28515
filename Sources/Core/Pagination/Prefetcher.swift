import Synchronization

/// One walk under way: the pages in flight, and the course that says what to do with them.
///
/// Pages further ahead are guesses. A flight is used only if it asks for exactly what the course asks
/// for, so a wrong guess costs a request and never order or completeness.
final class Prefetcher<Item: Record> {
  private struct Flight {
    let request: PageRequest
    let task: Task<Result<Page<Item>, SourceError>, Never>
    let completion: Landing
  }

  /// Whether a flight's page has come.
  private final class Landing: Sendable {
    let isHere = Atomic(false)
  }

  private let source: any DataSource<Item>
  private let ahead: Int
  private var state: PaginationState<Item>
  private var inFlight: [Flight] = []
  private var isOver = false

  init(source: any DataSource<Item>, ahead: Int, state: PaginationState<Item>) {
    self.source = source
    self.ahead = ahead
    self.state = state
  }

  deinit { cancel(inFlight) }

  /// Whether the next page has come already.
  var isNextHere: Bool { inFlight.first?.completion.isHere.load(ordering: .relaxed) ?? false }

  func next() async throws(SourceError) -> PaginationStep<Item>? {
    guard !isOver, let request = state.request else { return nil }
    isOver = true  // until this page has come: a failure ends the walk
    let page: Page<Item>
    do { page = try await completion(request) } catch {
      cancel(inFlight)
      throw error
    }
    let step = state.take(page)
    isOver = step.end != nil
    let guess = source.cursor(skipping: request.limit, from: request)
    launch(guessing: guess != nil && guess == page.next)
    return step
  }

  private func completion(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    // A source that answers without waiting may never look.
    guard !Task.isCancelled else { throw .cancelled }
    // `launch` left the flight of this very request in front, if it left any.
    guard !inFlight.isEmpty else { return try await source.page(request) }
    let task = inFlight.removeFirst().task
    do {
      return try await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }.get()
    } catch let error where error.cause is LocalRateLimitError {
      // A guess may have been too far ahead for its deadline. Now it is this page's turn.
      return try await source.page(request)
    }
  }

  /// Keeps up to `ahead` pages in flight: the certain one, and guesses while they come true.
  private func launch(guessing: Bool) {
    let requests = state.requests(atMost: ahead, after: guessing ? inFlight.map(\.request) : []) {
      count, request in
      guessing ? source.cursor(skipping: count, from: request) : nil
    }
    var running = inFlight
    inFlight = requests.map { request in
      guard let place = running.firstIndex(where: { $0.request == request }) else {
        return start(request)
      }
      return running.remove(at: place)
    }
    cancel(running)
  }

  private func start(_ request: PageRequest) -> Flight {
    // Unstructured, because it runs between two calls of `next`; `deinit` ends it at the latest.
    let completion = Landing()
    let task = Task { [source] in
      let page = await Result { () async throws(SourceError) in try await source.page(request) }
      // After a failure it may be asked for again, and that takes time.
      if case .success = page { completion.isHere.store(true, ordering: .relaxed) }
      return page
    }
    return Flight(request: request, task: task, completion: completion)
  }

  /// Ends flights that nobody needs.
  private func cancel(_ inFlight: [Flight]) { for page in inFlight { page.task.cancel() } }
}
