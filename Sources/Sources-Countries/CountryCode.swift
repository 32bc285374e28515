public import AggregatorKit

/// A country's code as in ISO 3166-1 alpha-2: two letters, upper-case however they were typed.
public struct CountryCode: Hashable, Sendable, LosslessStringConvertible, FieldValue {
  /// The two letters, upper-case.
  public let description: String

  /// Reads a code.
  ///
  /// - Parameter description: Two ASCII letters in any case.
  public init?(_ description: String) {
    guard description.utf8.count == 2,
      description.utf8.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 })
    else { return nil }
    self.description = description.uppercased()
  }

  /// Text.
  public static var fieldKind: FieldKind { .text }

  /// The two letters.
  public var json: JSON { .string(description) }
}

extension CountryCode: Codable {
  /// Reads the two letters.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let code = CountryCode(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "'\(text)' is no two-letter code")
    }
    self = code
  }

  /// Writes the two letters.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
