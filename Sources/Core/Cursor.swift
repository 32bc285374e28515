/// A sealed, printable token that says where a walk goes on.
///
/// It starts with a letter, is made of `A-Z a-z 0-9 . _ -`, and has at most 512 characters, so that it
/// can be pasted into a shell unquoted. What is inside is the business of the source that made it; see
/// ``CursorSeal``.
public struct Cursor: Hashable, Sendable, LosslessStringConvertible {
  /// The most characters that a token can have.
  public static let maximumLength = 512

  /// The token.
  public let description: String

  /// A cursor from its token.
  ///
  /// - Parameter description: The token. `nil` if it is empty, too long, does not start with a letter,
  ///   or holds other characters. That it is *genuine* is found out by the source that opens it.
  public init?(_ description: String) {
    let bytes = description.utf8
    guard bytes.count <= Self.maximumLength, let first = bytes.first, first.isASCIILetter,
      bytes.allSatisfy(\.isCursorCharacter)
    else { return nil }
    self.description = description
  }

  /// Used by ``CursorSeal`` and the tags of `fallback`, which build only valid tokens.
  package init?(joining parts: some Sequence<some StringProtocol>) {
    self.init(parts.joined(separator: "."))
  }
}

extension Cursor: Codable {
  /// Reads a token, as part of another source's position; one that is none is an error.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cursor = Cursor(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no cursor")
    }
    self = cursor
  }

  /// Writes the token.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension UInt8 {
  fileprivate var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }
  fileprivate var isCursorCharacter: Bool {
    isASCIILetter || self &- 0x30 < 10 || self == 0x2E || self == 0x5F || self == 0x2D
  }
}
