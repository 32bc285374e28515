import Synchronization

/// Fetches the pages that a ``PaginationState`` decides on, some of them ahead of time.
///
/// Pages further ahead are predictions. A fetch is used only if its request is exactly the next one, so
/// a wrong prediction costs a request, but never order or completeness.
final class Prefetcher<Item: SourceRecord> {
  private struct Fetch {
    let request: PageRequest
    let task: Task<Result<Page<Item>, SourceError>, Never>
    let completion: Completion
  }

  /// True once a fetch has succeeded.
  private final class Completion: Sendable {
    let isDone = Atomic(false)
  }

  private let source: any DataSource<Item>
  private let wanted: Int
  /// Asked after a first page, if ever: a source may be made of many parts, and needs none for a page of the cache.
  private lazy var ahead = wanted > 0 && source.readsAhead ? wanted : 0
  private(set) var state: PaginationState<Item>
  private var inFlight: [Fetch] = []
  private var isOver = false

  init(source: any DataSource<Item>, ahead: Int, state: PaginationState<Item>) {
    self.source = source
    wanted = ahead
    self.state = state
  }

  deinit { cancel(inFlight) }

  var isNextReady: Bool { inFlight.first?.completion.isDone.load(ordering: .relaxed) ?? false }

  /// Returns when the fetch of the next page has ended; `nil` if it has not begun.
  var nextArrival: (@Sendable () async -> Void)? {
    guard let task = inFlight.first?.task else { return nil }
    return {
      await withTaskCancellationHandler {
        _ = await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  func next() async throws(SourceError) -> PaginationStep<Item>? {
    guard !isOver, let request = state.request else { return nil }
    isOver = true  // until the page has arrived: an error ends the iteration
    let page: Page<Item>
    do { page = try await fetched(request) } catch {
      cancel(inFlight)
      throw error
    }
    let step = state.take(page)
    isOver = step.end != nil
    prefetch(predicting: !isOver && isPredictable(page.next, after: request))
    return step
  }

  private func fetched(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    // A source that answers without suspending may never check for cancellation.
    guard !Task.isCancelled else { throw .cancelled }
    // `prefetch` left the fetch of this very request in front, if it left any.
    guard !inFlight.isEmpty else { return try await source.page(request) }
    let task = inFlight.removeFirst().task
    do {
      return try await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }.get()
    } catch let error where error.cause is LocalRateLimitError {
      // The prefetch may have been too far ahead for its deadline. Now it is this page's turn.
      return try await source.page(request)
    }
  }

  /// True if pages beyond the next one are prefetched, and the source predicted its cursor.
  private func isPredictable(_ next: PageCursor?, after request: PageRequest) -> Bool {
    ahead > 1 && next != nil && next == source.cursor(skipping: request.limit, from: request)
  }

  /// Keeps up to `ahead` pages in flight: the certain one, and predictions while they come true.
  private func prefetch(predicting: Bool) {
    let requests =
      isOver
      ? []
      : state.requests(
        atMost: ahead, after: predicting ? inFlight.map(\.request) : []
      ) { count, request in
        predicting ? source.cursor(skipping: count, from: request) : nil
      }
    var unused = inFlight
    inFlight = requests.map { request in
      guard let index = unused.firstIndex(where: { $0.request == request }) else {
        return start(request)
      }
      return unused.remove(at: index)
    }
    cancel(unused)
  }

  private func start(_ request: PageRequest) -> Fetch {
    // Unstructured, because it runs between two calls of `next`; `deinit` cancels it at the latest.
    let completion = Completion()
    let task = Task { [source] in
      let page = await Result { () async throws(SourceError) in try await source.page(request) }
      // A failed page may be fetched again, which takes time.
      if case .success = page { completion.isDone.store(true, ordering: .relaxed) }
      return page
    }
    return Fetch(request: request, task: task, completion: completion)
  }

  private func cancel(_ fetches: [Fetch]) { for fetch in fetches { fetch.task.cancel() } }
}
