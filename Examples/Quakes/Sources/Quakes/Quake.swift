public import AggregatorKit

/// An earthquake, as the service sends it.
public struct Quake: SourceRecord {
  public let id: String
  public let place: String?
  /// The service writes it in any time zone.
  public let occurredAt: DateTime?
}
