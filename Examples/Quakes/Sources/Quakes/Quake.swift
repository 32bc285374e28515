public import AggregatorKit

/// An earthquake; its time is in UTC: `2026-03-14T04:12:09Z`.
public struct Quake: Record {
  public let id: String
  public let place: String?
  public let time: String?
}
