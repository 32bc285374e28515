/// A stand-in for a source that cannot be used, such as one without its API key or in offline mode.
///
/// Every call fails with the same error, so that a `fallback` answers and reports it.
public struct UnavailableSource<Item: Record>: DataSource, CustomStringConvertible {
  private let reason: SourceError

  public init(_ reason: SourceError) { self.reason = reason }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> { throw reason }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> { throw reason }

  public var description: String { "unavailable: \(reason.message)" }
}
