/// An item of a data source: a country, a hero, a product.
///
/// A record's `id` converts to text and back, so that a person can type it.
public protocol Record: Identifiable, Codable, Hashable, Sendable
where ID: LosslessStringConvertible & Codable & Sendable {
  /// Completes this record with details that only `known`, an earlier form of the record, has.
  ///
  /// Services send a short form of a record in lists and a long form on its own. Details that are
  /// absent here must not erase those in `known`. Records with a single form keep the default, `self`.
  func merged(over known: Self) -> Self
}

extension Record {
  public func merged(over known: Self) -> Self { self }
}
