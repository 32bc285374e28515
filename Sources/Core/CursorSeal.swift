import Foundation

/// Turns a source's own position into a ``Cursor`` and back.
///
/// A seal is bound to a source and a query: it opens only what the same seal closed. A source keeps its
/// position as a small `Codable` value and never writes token code:
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
/// A token is `c` and the position as base64url JSON, a dot, and nine base-36 digits: four that digest
/// source and query and five that check the whole. They tell accidents, not attackers: positions are
/// read as hostile input all the same.
public struct CursorSeal: Sendable {
  private let scope: UInt64

  /// The seal of a source and a query.
  ///
  /// - Parameters:
  ///   - source: The source's name. Two tiers of one source, such as its service and its bundled data,
  ///     have different names, so that neither opens the other's cursors.
  ///   - query: The query, or `nil`.
  public init(_ source: String, for query: Query?) {
    scope = [source, query?.text].map { $0.map { "+\($0)" } ?? "-" }.joined(separator: "\0").fnv1a
  }

  /// The cursor of `position`.
  ///
  /// - Parameter position: Where to go on. Keep it small: a cursor has at most 512 characters.
  /// - Returns: The sealed cursor.
  /// - Throws: ``SourceError`` with code `malformed` if the position is too long.
  public func close(_ position: some Encodable) throws(SourceError) -> Cursor {
    guard let json = try? CanonicalJSON.bytes(of: position) else {
      throw SourceError(.malformed, "the position cannot be written down")
    }
    let payload = "c" + json.base64URL
    guard let cursor = Cursor(joining: [payload, seal(of: payload)]) else {
      throw .positionTooLong
    }
    return cursor
  }

  /// The position in `cursor`.
  ///
  /// - Parameters:
  ///   - cursor: A cursor, or `nil` for the start.
  ///   - type: The type that was closed.
  /// - Returns: The position; `nil` for `nil`.
  /// - Throws: ``SourceError`` with code `invalidCursor` if another seal closed it, or it is damaged.
  public func open<Position: Decodable>(
    _ cursor: Cursor?, as type: Position.Type = Position.self
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

  private func seal(of payload: some StringProtocol) -> String {
    // The check covers the payload alone, so that a token that is whole but foreign can be told so.
    scope.base36(digits: 4) + String(payload).fnv1a.base36(digits: 5)
  }
}

extension SourceError {
  /// A token that is not, or no longer, what a source made.
  ///
  /// - Parameter cursor: The cursor that cannot be followed.
  /// - Returns: An error with code `invalidCursor`.
  public static func damaged(_ cursor: Cursor?) -> SourceError {
    damaged(cursor?.description ?? "")
  }

  /// Text that is no token at all.
  ///
  /// - Parameter token: The text.
  /// - Returns: An error with code `invalidCursor`.
  public static func damaged(_ token: String) -> SourceError {
    SourceError(
      .invalidCursor, "the cursor '\(token)' is damaged or outdated",
      remedy: "start again without it")
  }

  /// A position that does not fit into a token.
  static var positionTooLong: SourceError {
    SourceError(.malformed, "the service's own position is too long to keep")
  }

  /// A token that counts in pages of another size than are asked for now.
  public static var resized: SourceError {
    SourceError(
      .invalidCursor, "the cursor was made with another page size",
      remedy: "set the page size as it was, or start again without the cursor")
  }

  fileprivate static var foreign: SourceError {
    SourceError(
      .invalidCursor, "the cursor was made by another source or for another query",
      remedy: "use it with the same source and query, or start again without it")
  }
}

extension UInt64 {
  fileprivate func base36(digits: Int) -> String {
    let text = String(self, radix: 36)
    return String((String(repeating: "0", count: digits) + text).suffix(digits))
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
