/// One item of a data source: a country, a hero, a product.
///
/// A record's `id` prints as text and reads back from it, so that a person can type it.
public protocol Record: Identifiable, Codable, Hashable, Sendable
where ID: LosslessStringConvertible & Codable & Sendable {
  /// This record with what only `known`, an earlier form of the same record, tells.
  ///
  /// Services send a record in a short form in lists and a long one on its own. Detail that is absent
  /// here must not erase detail in `known`. Records that come in one form keep the default, `self`.
  ///
  /// - Parameter known: An earlier form of the record with the same `id`.
  /// - Returns: This record, completed.
  func merged(over known: Self) -> Self
}

extension Record {
  /// This record as it is: it comes in one form only.
  public func merged(over known: Self) -> Self { self }
}
