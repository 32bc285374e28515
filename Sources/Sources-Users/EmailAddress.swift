public import AggregatorKit

/// An email address, always in lower case.
public struct EmailAddress: RecordID, FieldValue {
  /// The longest address, in bytes (RFC 5321, section 4.5.3.1.3, without brackets).
  private static let maxLength = 254

  public let description: String

  /// Parses text with a single `@` inside and without white space, of at most 254 bytes, also in
  /// lower case.
  public init?(_ description: String) {
    let bytes = description.utf8
    let sign = UInt8(ascii: "@")
    guard bytes.count <= Self.maxLength, let at = bytes.firstIndex(of: sign),
      at > bytes.startIndex, bytes.index(after: at) < bytes.endIndex,
      bytes.lastIndex(of: sign) == at
    else { return nil }
    // Fast path: nearly all addresses are ASCII.
    let hasSpace =
      bytes.allSatisfy { $0 < 0x80 }
      ? bytes.contains { $0 == 0x20 || 0x09...0x0D ~= $0 }
      : description.contains(where: \.isWhitespace)
    guard !hasSpace else { return nil }
    let lower = description.lowercased()
    // Some letters, such as İ, are longer in lower case.
    guard lower.utf8.count <= Self.maxLength else { return nil }
    self.description = lower
  }

  public static var fieldKind: FieldKind { .text }

  public var json: JSON { .string(description) }
}

extension EmailAddress: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let address = EmailAddress(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "invalid email address")
    }
    self = address
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
