public import AggregatorCore

/// The start of a page, for a service whose pages have numbers.
///
/// It is the number of a page of the service, the page size that the number refers to, and the number of its
/// records to skip: the size stays the same from page to page, whatever limit a caller wants next.
///
/// ```swift
/// let first = PagePosition(size: request.limit, largest: 100)
/// let position = try first.opening(request.cursor, with: seal)
/// // … the request of page position.number, position.size records a page
/// let records = rows.elements.dropFirst(position.skip).prefix(request.limit)
/// let next = try position.next(after: records.endIndex, of: rows.elements.count, isLast: …)
///   .map { next throws(SourceError) in try seal.close(next) }
/// ```
///
/// ``RESTSource`` does all this for a usual service.
public struct PagePosition: Encodable, Hashable, Sendable {
  /// The number of the page, from 1.
  public private(set) var number = 1

  /// The page size of the service.
  public private(set) var size: Int

  /// The number of records of the page to skip, 0 or more.
  public private(set) var skip = 0

  private let largest: Int
  private let deepest: Int?

  private enum CodingKeys: String, CodingKey { case number = "p", size = "n", skip = "s" }

  private struct Opened: Decodable {
    let p, n, s: Int
  }

  private static let maxNumber = 1_000_000

  /// Creates the start of the first page.
  ///
  /// - Parameters:
  ///   - size: The page size to request, 1 or more, which `largest` bounds.
  ///   - largest: The largest page of the service.
  ///   - deepest: The number of records after which the service refuses further pages; `nil` for no limit.
  public init(size: Int, largest: Int, deepest: Int? = nil) {
    self.size = min(size, largest)
    self.largest = largest
    self.deepest = deepest
  }

  /// The position in a cursor; this one, the first page, for `nil`.
  ///
  /// - Throws: ``SourceError`` with code `invalidCursor` if another seal closed it, or it is damaged.
  public func opening(
    _ cursor: Cursor?, with seal: CursorSeal
  ) throws(SourceError) -> PagePosition {
    guard let opened = try seal.open(cursor, as: Opened.self) else { return self }
    var position = self
    (position.number, position.size, position.skip) = (opened.p, opened.n, opened.s)
    guard position.isValid else { throw .damaged(cursor) }
    return position
  }

  /// The start of the next page; `nil` at the end.
  ///
  /// - Parameters:
  ///   - end: The number of records of the reply that were skipped or returned.
  ///   - count: The number of records in the reply.
  ///   - size: The page size that the service used, if it says so; page numbers refer to it from then on.
  ///   - isLast: True if the service has no further page.
  public func next(
    after end: Int, of count: Int, size: Int? = nil, isLast: Bool
  ) -> PagePosition? {
    var next = self
    next.size = size ?? self.size
    if end < count {
      next.skip = end
    } else if isLast {
      return nil
    } else {
      next.number += 1
      next.skip = 0
    }
    return next.isValid ? next : nil
  }

  /// The position `count` records ahead, if all pages of the service are full; `nil` if there is none.
  ///
  /// It implements ``DataSource/cursor(skipping:from:)``.
  public func skipping(_ count: Int) -> PagePosition? {
    let (sum, overflow) = skip.addingReportingOverflow(count)
    guard isValid, !overflow, sum / size < Self.maxNumber else { return nil }
    var position = self
    position.number += sum / size
    position.skip = sum % size
    return position.isValid ? position : nil
  }

  /// `skip` may exceed the page size, because a service may send more records than it says.
  private var isValid: Bool {
    1...Self.maxNumber ~= number && 1...largest ~= size && 0...1_000_000 ~= skip
      && deepest.map { (number - 1) * size < $0 } ?? true
  }
}
