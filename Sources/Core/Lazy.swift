import Synchronization

/// A value that is made on first use, once; a failure is not kept.
package final class Lazy<Value: Sendable, Failure: Error>: Sendable {
  private let make: @Sendable () throws(Failure) -> Value
  private let made = Mutex<Value?>(nil)

  package init(_ make: @escaping @Sendable () throws(Failure) -> Value) { self.make = make }

  package func value() throws(Failure) -> Value {
    try made.withLock { made throws(Failure) in
      if let made { return made }
      let value = try make()
      made = value
      return value
    }
  }
}

/// A source that is made on first use, such as the operators that control the calls to a service.
///
/// Making a chain costs a command more than its answer from the store: Swift creates the type of each operator
/// at run time.
package struct LazySource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  private let source: Lazy<any DataSource<Item>, Never>

  package init(_ make: @escaping @Sendable () -> any DataSource<Item>) { source = Lazy(make) }

  package func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await source.value().page(request)
  }

  package func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await source.value().item(id, cachePolicy: cachePolicy)
  }

  package func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    source.value().cursor(skipping: count, from: request)
  }

  package var readsAhead: Bool { source.value().readsAhead }

  package var description: String { "\(source.value())" }
}
