import AggregatorCore
import AggregatorText

/// A position in a cached listing.
///
/// Its token is that of the source below with a prefix: `g`, the generation, a checksum and, inside a
/// page, the number of records to skip and the page's size, as in `g0k3f91x2-5-20.cMjA.6gq0wxyz1`. A
/// prefix costs less of a cursor's 512 characters than sealing the token again.
struct CachedPosition {
  struct Slice: Equatable {
    /// The number of records to skip.
    var skip: Int
    var size: Int
  }

  static let generationLength = 5
  private static let checksumLength = 3

  /// The start of the page; `nil` for the first.
  var cursor: PageCursor?

  /// `nil` if the position is not from a page, but was predicted.
  var generation: String?

  /// The part of the page; `nil` for all of it.
  var slice: Slice?

  /// The position that a request begins at.
  ///
  /// - Throws: ``SourceError`` with code `invalidCursor` if the cursor is damaged, or of another query.
  init(_ request: PageRequest, in source: String) throws(SourceError) {
    guard let cursor = request.cursor else { return }
    let token = /g([0-9a-z]{5})[0-9a-z]{3}(?:-([0-9]{1,7})-([0-9]{1,7}))?(?:\.(.+))?/
    guard let match = cursor.description.wholeMatch(of: token)?.output else {
      self.cursor = cursor
      return
    }
    generation = String(match.1)
    if let skip = match.2.flatMap({ Int($0) }), let size = match.3.flatMap({ Int($0) }), size > 0 {
      slice = Slice(skip: skip, size: size)
    }
    self.cursor = match.4.flatMap { PageCursor(String($0)) }
    guard self.token(for: request.query, in: source) == cursor else { throw .damaged(cursor) }
  }

  /// The request for the page.
  func upstream(of request: PageRequest) -> PageRequest {
    request.after(cursor, limit: slice?.size)
  }

  /// The same position in a page of `size` records that belongs to a generation.
  func inGeneration(_ generation: String?, pageSize size: Int) -> CachedPosition {
    var position = self
    position.generation = generation
    position.slice = Slice(skip: slice?.skip ?? 0, size: size)
    return position
  }

  /// The cursor; `nil` for the start, and if it would be too long.
  func token(for query: SearchQuery?, in source: String) -> PageCursor? {
    guard let generation else { return cursor }
    guard slice != nil || cursor != nil else { return nil }
    let parts = [slice.map { "-\($0.skip)-\($0.size)" } ?? "", cursor.map { ".\($0)" } ?? ""]
    let checked = [source, query.map { "+\($0.text)" } ?? "-", generation] + parts
    let checksum = checked.joined(separator: "\0").fnv1a.base36(digits: Self.checksumLength)
    return PageCursor("g\(generation)\(checksum)\(parts.joined())")
  }
}
