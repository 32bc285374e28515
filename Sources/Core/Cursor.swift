/// An opaque, printable token for the position of the next page.
///
/// It starts with a letter, consists of `A-Z a-z 0-9 . _ -`, and has at most 512 characters, so that it
/// can be pasted into a shell unquoted. Only the source that made a cursor can open it; see
/// ``CursorSeal``.
public struct Cursor: Hashable, Sendable, LosslessStringConvertible {
  /// The maximum number of characters in a token.
  public static let maximumLength = 512

  public let description: String

  /// Creates a cursor from its token; `nil` if the token is empty, too long, does not start with a
  /// letter, or contains other characters.
  ///
  /// The source that opens the cursor checks that it is genuine.
  public init?(_ description: String) {
    let bytes = description.utf8
    guard bytes.count <= Self.maximumLength, let first = bytes.first, first.isASCIILetter,
      bytes.allSatisfy(\.isCursorCharacter)
    else { return nil }
    self.description = description
  }

  /// Joins the parts of a token with dots.
  package init?(joining parts: some Sequence<some StringProtocol>) {
    self.init(parts.joined(separator: "."))
  }
}

extension Cursor: Codable {
  /// Reads a token that is part of another source's position.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cursor = Cursor(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "invalid cursor")
    }
    self = cursor
  }

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
