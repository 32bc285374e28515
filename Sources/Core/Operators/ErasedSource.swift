/// A source that passes everything on to another one, whose type it hides.
private protocol Forwarding: DataSource, CustomStringConvertible {
  var base: any DataSource<Item> { get }
}

extension Forwarding {
  package func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await base.page(request)
  }

  package func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }

  package func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: request)
  }

  package func isInMemory(_ request: PageRequest) -> Bool { base.isInMemory(request) }

  package var readsAhead: Bool { base.readsAhead }

  package var pageSize: Int? { base.pageSize }

  package var replacements: [AsyncStream<Void>] { base.replacements }

  package var description: String { "\(base)" }
}

/// A source that is made on first use, such as the operators that control the calls to a service.
///
/// Making a chain costs a command more than its answer from the store: Swift creates the type of each operator
/// at run time.
package struct LazySource<Item: SourceRecord>: Forwarding {
  private let source: Lazy<any DataSource<Item>, Never>
  fileprivate var base: any DataSource<Item> { source.value() }

  package init(_ make: @escaping @Sendable () -> any DataSource<Item>) { source = Lazy(make) }
}

/// A source of a type that depends on its records alone.
///
/// Without it each operator of a chain has the types of all those before it in its own, which Swift looks up by their
/// names, and each time among all conformances of the program.
package struct ErasedSource<Item: SourceRecord>: Forwarding {
  let base: any DataSource<Item>
}

extension DataSource {
  /// This source without its type.
  package var erased: ErasedSource<Item> { ErasedSource(base: self) }
}
