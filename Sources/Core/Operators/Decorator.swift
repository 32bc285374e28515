/// An operator that treats every call alike: it decides when, whether and how often its base is asked,
/// and leaves requests and answers as they are.
protocol Decorator<Base>: DataSource, CustomStringConvertible where Item == Base.Item {
  associatedtype Base: DataSource

  var base: Base { get }

  /// What this operator is called in the description of a chain: `retry(3)`.
  var label: String { get }

  /// Makes one call.
  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer
}

extension Decorator {
  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await around(CallKind(request)) { () async throws(SourceError) in
      try await base.page(request)
    }
  }

  func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> {
    try await around(.show) { () async throws(SourceError) in try await base.item(id) }
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    base.cursor(skipping: count, from: request)
  }

  var description: String { chained(base, label) }
}

/// A chain as it would be written in Swift, one operator a line.
package func chained(_ base: some DataSource, _ label: String) -> String { "\(base)\n  .\(label)" }
