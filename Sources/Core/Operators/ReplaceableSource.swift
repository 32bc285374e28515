import Synchronization

/// A source whose place another one can take while it is in use, such as one with a new key, URL or store.
///
/// Calls that are in flight go on with the source that they began with. A `PagedList`, a `SearchSession` or a `RecordDetail` of
/// it, or of operators above it, loads once more after each replacement.
public final class ReplaceableSource<Item: SourceRecord>: DataSource {
  private struct State {
    var base: any DataSource<Item>
    var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastObserver = 0
  }

  private let state: Mutex<State>

  public init(_ base: any DataSource<Item>) { state = Mutex(State(base: base)) }

  private var base: any DataSource<Item> { state.withLock(\.base) }

  /// Makes another source the one of all calls that follow.
  ///
  /// Only its cursors are valid then.
  public func replace(with base: any DataSource<Item>) {
    let observers = state.withLock { state in
      state.base = base
      return Array(state.observers.values)
    }
    for observer in observers { observer.yield() }
  }

  /// Several replacements that nobody has waited for are one.
  ///
  /// The last streams are those of the present source.
  public var replacements: [AsyncStream<Void>] {
    let (replacements, observer) = AsyncStream<Void>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = observer
      return state.lastObserver
    }
    observer.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.observers.removeValue(forKey: number) }
    }
    return [replacements] + base.replacements
  }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await base.page(request)
  }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }

  public func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: request)
  }

  public var readsAhead: Bool { base.readsAhead }

  public var pageSize: Int? { base.pageSize }
}
