public import Core

/// An e-mail address, in lower case however it was typed or sent.
public struct EmailAddress: Hashable, Sendable, LosslessStringConvertible, FieldValue {
  /// The most characters that an address can have (RFC 5321, section 4.5.3.1.3, without brackets).
  private static let longest = 254

  /// The address in lower case.
  public let description: String

  /// Reads an address.
  ///
  /// - Parameter description: Text around one `@`, without white space, of at most 254 bytes.
  public init?(_ description: String) {
    let parts = description.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      description.utf8.count <= Self.longest, !description.contains(where: \.isWhitespace)
    else { return nil }
    self.description = description.lowercased()
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
