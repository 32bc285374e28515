import Synchronization

extension DataSource {
  /// Shares one call among identical calls, with the same cache policy, that are in flight at the same time.
  ///
  /// A caller that is cancelled returns at once; the shared call is cancelled with the last caller.
  public func coalesced() -> some DataSource<Item> { Coalesced(base: self) }
}

struct Coalesced<Base: DataSource>: Decorator {
  let base: Base
  private let pages = SingleFlight<PageRequest, Page<Base.Item>>()
  private let items = SingleFlight<Lookup, LookupResult<Base.Item>>()
  var label: String { "coalesced()" }

  private struct Lookup: Hashable {
    let id: Base.Item.ID
    let cachePolicy: CachePolicy
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await pages.answer(to: request, base.page)
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await items.answer(to: Lookup(id: id, cachePolicy: cachePolicy)) {
      lookup throws(SourceError) in
      try await base.item(lookup.id, cachePolicy: lookup.cachePolicy)
    }
  }
}

/// Makes one call for all callers with the same key at the same time.
package final class SingleFlight<Key: Hashable & Sendable, Answer: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Result<Answer, SourceError>, Never>

  private struct SharedCall {
    /// Distinguishes this call from a later one with the same key.
    let number: Int
    var task: Task<Void, Never>?
    var waiters: [Int: Waiter] = [:]
  }

  private struct State {
    var inFlight: [Key: SharedCall] = [:]
    var lastNumber = 0

    mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  package init() {}

  /// The answer of the one call for `key`, which is made if none is in flight.
  package func answer(
    to key: Key, _ call: @escaping @Sendable (Key) async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    guard !Task.isCancelled else { throw .cancelled }
    let number = state.withLock { $0.nextNumber() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        join(key, as: number, waiter, call)
        // The cancellation handler may have run before the waiter was added.
        if Task.isCancelled { leave(key, number) }
      }
    } onCancel: {
      leave(key, number)
    }
    return try result.get()
  }

  private func join(
    _ key: Key, as caller: Int, _ waiter: Waiter,
    _ call: @escaping @Sendable (Key) async throws(SourceError) -> Answer
  ) {
    state.withLock { state in
      if state.inFlight[key] == nil {
        let number = state.nextNumber()
        state.inFlight[key] = SharedCall(number: number)
        // Unstructured, because it outlives the caller that started it: it ends with its answer, or when
        // the last caller leaves and cancels it.
        state.inFlight[key]?.task = Task { [self] in
          finish(key, number, await Result { () async throws(SourceError) in try await call(key) })
        }
      }
      state.inFlight[key]?.waiters[caller] = waiter
    }
  }

  private func leave(_ key: Key, _ caller: Int) {
    let (waiter, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
      guard let waiter = state.inFlight[key]?.waiters.removeValue(forKey: caller) else {
        return (nil, nil)
      }
      guard state.inFlight[key]?.waiters.isEmpty == true else { return (waiter, nil) }
      return (waiter, state.inFlight.removeValue(forKey: key)?.task)
    }
    abandoned?.cancel()
    waiter?.resume(returning: .failure(.cancelled))
  }

  private func finish(_ key: Key, _ number: Int, _ result: Result<Answer, SourceError>) {
    let waiters = state.withLock { state in
      state.inFlight[key]?.number == number
        ? state.inFlight.removeValue(forKey: key)?.waiters : nil
    }
    for waiter in waiters?.values ?? [:].values { waiter.resume(returning: result) }
  }
}
