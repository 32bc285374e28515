/// Stands where a source would be that cannot be asked: no key, or no network allowed.
///
/// Every call fails with the reason, so that a `fallback` answers and can say why.
public struct UnavailableSource<Item: Record>: DataSource, CustomStringConvertible {
  private let reason: SourceError

  /// A source that cannot be asked.
  ///
  /// - Parameter reason: Why.
  public init(_ reason: SourceError) { self.reason = reason }

  /// Fails.
  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> { throw reason }

  /// Fails.
  public func item(_ id: Item.ID) async throws(SourceError) -> LookupResult<Item> { throw reason }

  /// The reason.
  public var description: String { "unavailable: \(reason.message)" }
}
