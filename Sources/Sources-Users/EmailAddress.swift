public import AggregatorKit

/// An e-mail address, in lower case however it was typed or sent.
public struct EmailAddress: Hashable, Sendable, LosslessStringConvertible, FieldValue {
  /// The most characters that an address can have (RFC 5321, section 4.5.3.1.3, without brackets).
  private static let longest = 254

  /// The address in lower case.
  public let description: String

  /// Reads an address.
  ///
  /// - Parameter description: Text around one `@`, without white space, of at most 254 bytes, also in
  ///   lower case.
  public init?(_ description: String) {
    let bytes = description.utf8
    let sign = UInt8(ascii: "@")
    guard bytes.count <= Self.longest, let place = bytes.firstIndex(of: sign),
      place > bytes.startIndex, bytes.index(after: place) < bytes.endIndex,
      bytes.lastIndex(of: sign) == place
    else { return nil }
    // Nearly all addresses are ASCII, of which a byte tells as much as a character does.
    let hasSpace =
      bytes.allSatisfy { $0 < 0x80 }
      ? bytes.contains { $0 == 0x20 || 0x09...0x0D ~= $0 }
      : description.contains(where: \.isWhitespace)
    guard !hasSpace else { return nil }
    let lower = description.lowercased()
    // A letter may be longer in lower case, as İ is.
    guard lower.utf8.count <= Self.longest else { return nil }
    self.description = lower
  }

  /// Text.
  public static var fieldKind: FieldKind { .text }

  /// The address.
  public var json: JSON { .string(description) }
}

extension EmailAddress: Codable {
  /// Reads the text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let address = EmailAddress(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the text is no e-mail address")
    }
    self = address
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
