import AggregatorFoundation
import AggregatorText

/// An opaque, printable token for the position of the next page.
///
/// It starts with a letter, consists of `A-Z a-z 0-9 . _ -`, and has at most 512 characters, so that it can be pasted
/// into a shell unquoted. Only the source that made a cursor can open it; see ``CursorSeal``.
public struct PageCursor: Hashable, Sendable, LosslessStringConvertible {
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
      bytes.allSatisfy({ $0.isASCIIAlphanumeric || "._-".utf8.contains($0) })
    else { return nil }
    self.description = description
  }

  /// Joins the parts of a token with dots.
  package init?(joining parts: some Sequence<some StringProtocol>) {
    self.init(parts.joined(separator: "."))
  }
}

extension PageCursor: Codable {
  /// Reads a token that is part of another source's position.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let cursor = PageCursor(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "invalid cursor")
    }
    self = cursor
  }

  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

/// Converts a source's own position to a ``PageCursor`` and back.
///
/// A cursor is opaque text: the position, a checksum, and a digest of source and query. So a seal, which
/// is bound to a source and a query, opens only the cursors that it closed. A source keeps its position as
/// a small `Codable` value and never writes token code:
///
/// ```swift
/// func page(_ request: PageRequest) async throws(SourceError) -> Page<Hero> {
///   let seal = CursorSeal("heroes", for: request.query)
///   let offset = try seal.openOffset(request.cursor)
///   …
///   return Page(records, next: try seal.close(offset + records.count), …)
/// }
/// ```
///
/// A token is `c` and the position as base64url JSON, a dot, and nine base-36 digits: a four-digit
/// digest of source and query, and a five-digit checksum of the payload. They detect accidents, not
/// attacks: treat an opened position as untrusted input.
public struct CursorSeal: Sendable {
  private static let validOffsets = 0...1_000_000_000

  private let scope: UInt64

  /// Give the tiers of one source, such as its service and its bundled data, different names, so that
  /// neither opens the other's cursors.
  public init(_ source: String, for query: SearchQuery?) {
    scope = [source, query?.text].map { $0.map { "+\($0)" } ?? "-" }.joined(separator: "\0").fnv1a
  }

  /// Seals a position, which must be small: a cursor has at most 512 characters.
  ///
  /// - Throws: ``SourceError`` with code `malformed` if the position is too long.
  public func close(_ position: some Encodable) throws(SourceError) -> PageCursor {
    guard let json = try? CanonicalJSON.bytes(of: position) else {
      throw SourceError(.malformed, "cannot encode the cursor's position")
    }
    let payload = "c" + json.base64URL
    guard let cursor = PageCursor(joining: [payload, seal(of: payload)]) else {
      throw .positionTooLong
    }
    return cursor
  }

  /// Opens a cursor; `nil`, the start, for `nil`.
  ///
  /// - Throws: ``SourceError`` with code `invalidCursor` if another seal closed it, or it is damaged.
  public func open<Position: Decodable>(
    _ cursor: PageCursor?, as type: Position.Type = Position.self
  ) throws(SourceError) -> Position? {
    guard let cursor else { return nil }
    let parts = cursor.description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].first == "c" else { throw .damaged(cursor) }
    let expected = seal(of: parts[0])
    guard parts[1].suffix(5) == expected.suffix(5) else { throw .damaged(cursor) }
    guard parts[1] == expected else { throw .foreign }
    guard let json = Data(base64URL: parts[0].dropFirst()),
      let position = try? JSONText(json)?.read(Position.self)
    else { throw .damaged(cursor) }
    return position
  }

  /// Opens the cursor of a source that counts records from the start.
  ///
  /// - Returns: The number of records before the page, 0 to 10⁹; 0 for `nil`.
  /// - Throws: ``SourceError`` with code `invalidCursor` if another seal closed it, or it is damaged.
  public func openOffset(_ cursor: PageCursor?) throws(SourceError) -> Int {
    let offset = try open(cursor, as: Int.self) ?? 0
    guard Self.validOffsets ~= offset else { throw .damaged(cursor) }
    return offset
  }

  /// Implements ``DataSource/cursor(skipping:from:)`` for a source that counts records from the start.
  ///
  /// - Returns: `nil` if `cursor` cannot be opened, or the offset exceeds 10⁹.
  public func offset(skipping count: Int, from cursor: PageCursor?) -> PageCursor? {
    guard let offset = try? openOffset(cursor) else { return nil }
    let (sum, overflow) = offset.addingReportingOverflow(count)
    return !overflow && Self.validOffsets ~= sum ? try? close(sum) : nil
  }

  private func seal(of payload: some StringProtocol) -> String {
    // The checksum excludes the scope, to distinguish a foreign token from a damaged one.
    scope.base36(digits: 4) + String(payload).fnv1a.base36(digits: 5)
  }
}

extension SourceError {
  /// An error with code `invalidCursor` for a token that its source cannot, or can no longer, open.
  public static func damaged(_ cursor: PageCursor?) -> SourceError {
    damaged(cursor?.description ?? "")
  }

  /// An error with code `invalidCursor` for text that is not a token.
  public static func damaged(_ token: String) -> SourceError {
    SourceError(
      .invalidCursor, "invalid cursor \"\(token)\": damaged or outdated",
      remedy: "start over without a cursor")
  }

  package static var positionTooLong: SourceError {
    SourceError(.malformed, "the service's page position is too long for a cursor")
  }

  /// An error with code `invalidCursor` for a token that counts in pages of another size.
  public static var resized: SourceError {
    SourceError(
      .invalidCursor, "the cursor was made with a different page size",
      remedy: "restore the page size, or start over without a cursor")
  }

  fileprivate static var foreign: SourceError {
    SourceError(
      .invalidCursor, "the cursor belongs to a different source or query",
      remedy: "use it with the same source and query, or start over without a cursor")
  }
}

extension BinaryInteger {
  /// The number in so many digits, or more if it needs them.
  package func text(radix: Int = 10, digits: Int) -> String {
    let text = String(self, radix: radix)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

extension UInt64 {
  package func base36(digits: Int) -> String {
    String(text(radix: 36, digits: digits).suffix(digits))
  }
}

extension Data {
  /// Base64url without padding (RFC 4648, section 5).
  fileprivate var base64URL: String {
    String(
      base64EncodedString().compactMap { character -> Character? in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      })
  }

  fileprivate init?(base64URL text: some StringProtocol) {
    let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    self.init(base64Encoded: String(standard) + String(repeating: "=", count: -standard.count & 3))
  }
}
