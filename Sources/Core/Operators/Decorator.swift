/// An operator: a source that adds behavior to a `base`.
///
/// It passes on the cache policy of each call. By default it leaves cursors and single records as they are, and its
/// description is that of `base` with its label.
public protocol Decorator<Base>: DataSource, CustomStringConvertible {
  associatedtype Base: DataSource

  var base: Base { get }

  /// The operator's name in the description of a chain: `retry(3)`.
  var label: String { get }
}

extension Decorator {
  public func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: request)
  }

  public func isInMemory(_ request: PageRequest) -> Bool { base.isInMemory(request) }

  public var readsAhead: Bool { base.readsAhead }

  public var pageSize: Int? { base.pageSize }

  public var replacements: [AsyncStream<Void>] { base.replacements }

  /// The chain as it would be written in Swift, one operator a line.
  public var description: String { "\(base)\n  .\(label)" }
}

extension Decorator where Item == Base.Item {
  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }
}

/// An operator that treats every call alike: it controls when, whether and how often `base` is called,
/// and leaves requests and results unchanged.
public protocol Interceptor<Base>: Decorator where Item == Base.Item {
  /// Makes one call.
  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: nonisolated(nonsending) @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer
}

extension Interceptor {
  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await intercept(CallKind(request), cachePolicy: request.cachePolicy) {
      () async throws(SourceError) in
      try await base.page(request)
    }
  }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await intercept(.show, cachePolicy: cachePolicy) { () async throws(SourceError) in
      try await base.item(id, cachePolicy: cachePolicy)
    }
  }
}

/// A kind of call to a source; services count and limit each kind separately.
public enum CallKind: String, Hashable, Sendable, CaseIterable {
  /// A page of all records.
  case list
  /// A page of the records that match a query.
  case search
  /// One record by its id.
  case show

  public init(_ request: PageRequest) { self = request.query == nil ? .list : .search }
}
