public import AggregatorFoundation
import AggregatorText

/// A time to the second, stored as text in UTC, `2026-03-14T04:12:09Z`, so that it sorts.
///
/// As a property of a record it reads the times of services in any of the forms of ``Lenient``.
public struct DateTime: Codable, Hashable, Comparable, Sendable {
  public let date: Date

  public init(_ date: Date) {
    self.date = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
  }

  public init(from decoder: any Decoder) throws {
    guard let time = DateTime(lenient: decoder) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a time"))
    }
    self = time
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(date.iso8601)
  }

  public static func < (left: DateTime, right: DateTime) -> Bool { left.date < right.date }
}

extension DateTime: LenientDecodable {
  public init?(lenient decoder: any Decoder) {
    guard let date = Date(lenient: decoder) else { return nil }
    self.init(date)
  }
}

extension DateTime: FieldValue {
  public static var fieldKind: FieldKind { .text }
  public var json: JSON { .string(date.iso8601) }
}
