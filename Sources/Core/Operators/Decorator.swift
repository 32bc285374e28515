/// An operator: a source that adds behavior to a `base`.
///
/// By default it leaves cursors as they are, and its description is that of `base` with its label.
package protocol Decorator<Base>: DataSource, CustomStringConvertible {
  associatedtype Base: DataSource

  var base: Base { get }

  /// The operator's name in the description of a chain: `retry(3)`.
  var label: String { get }
}

extension Decorator {
  package func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    base.cursor(skipping: count, from: request)
  }

  package var readsAhead: Bool { base.readsAhead }

  /// The chain as it would be written in Swift, one operator a line.
  package var description: String { "\(base)\n  .\(label)" }
}

/// An operator that treats every call alike: it controls when, whether and how often `base` is called,
/// and leaves requests and results unchanged.
protocol Interceptor<Base>: Decorator where Item == Base.Item {
  /// Makes one call.
  func intercept<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer
}

extension Interceptor {
  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await intercept(CallKind(request)) { () async throws(SourceError) in
      try await base.page(request)
    }
  }

  func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> {
    try await intercept(.show) { () async throws(SourceError) in try await base.item(id) }
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
