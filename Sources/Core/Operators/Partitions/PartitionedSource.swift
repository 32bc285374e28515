public import AggregatorFoundation
import AggregatorText
import Synchronization

/// The lists of all partitions as one, in the order of the partitions.
///
/// The records of a partition have IDs of ``Partition/recordID(_:)``. Each page is one of a single partition, and costs one
/// call of its source. The last page of a partition leads to the first of the next one, also if it is empty. A partition
/// that the service refuses (`rejected` or `notFound`) is left out, with a warning that names it. A page has no total.
///
/// A cursor is that of the partition's source with a prefix, which has the position of the partition and a checksum of its
/// value: sealing the cursor again would cost a third of its length. The cursor of a partition that is no longer in the list
/// is invalid.
public struct PartitionedSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  private let places: PartitionPlaces
  private let list: any PartitionList
  private let pages: any DataSource<Item>
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - name: The name of the source, for cursors.
  ///   - source: Returns the source of the records of a partition.
  public init(
    _ name: String, for list: some PartitionList,
    now: @escaping @Sendable () -> Date = { Date() },
    _ source: @escaping @Sendable (Partition) throws(SourceError) -> any DataSource<Item>
  ) {
    self.init(
      name, for: list, over: PartitionPages(name, for: list, source), now: now)
  }

  /// - Parameter pages: A ``PartitionPages`` of the same name and list, below operators that leave cursors as they are.
  package init(
    _ name: String, for list: any PartitionList, over pages: any DataSource<Item>,
    now: @escaping @Sendable () -> Date
  ) {
    places = PartitionPlaces(name: name)
    self.list = list
    self.pages = pages
    self.now = now
  }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    guard !Task.isCancelled else { throw .cancelled }
    let query = request.query
    var cursor = request.cursor
    var warnings: [Warning] = []
    var position = try cursor.map { cursor throws(SourceError) in try places.place(of: cursor) }
    if position?.isAfter ?? true {
      let slice = try await next(after: position?.position ?? 0, request)
      warnings = slice.warnings
      guard let partition = slice.partitions.first else {
        return Page([], provenance: Provenance(.live, fetchedAt: now()), warnings: warnings)
      }
      cursor = places.cursor(at: partition, for: query)
      position = try cursor.map { cursor throws(SourceError) in try places.place(of: cursor) }
    }
    var page = try await pages.refusable(
      [.rejected, .notFound], request.after(cursor), of: list, at: position, now: now())
    // They are those of a partition.
    (page.total, page.reportedTotal) = (nil, nil)
    if page.next == nil, let position {
      page.endsPartition = true
      do throws(SourceError) {
        let slice = try await next(after: position.position, request)
        warnings += slice.warnings
        page.next = slice.partitions.first.flatMap { places.cursor(at: $0, for: query) }
      } catch {
        guard error.code != .cancelled else { throw error }
        // The records of this page are none the less. The next call says what has failed.
        page.next = places.cursor(after: position.position)
      }
    }
    page.warnings = warnings + page.warnings
    return page
  }

  private func next(
    after position: Int64, _ request: PageRequest
  ) async throws(SourceError) -> PartitionSlice {
    try await list.partitions(after: position, limit: 1, cachePolicy: request.cachePolicy)
  }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await pages.item(id, cachePolicy: cachePolicy)
  }

  /// The operators below it, and that of each partition.
  public var description: String { "\(pages)\n  .partitioned()" }

  public var readsAhead: Bool { pages.readsAhead }

  public var pageSize: Int? { pages.pageSize }
}

/// The pages of all partitions: the cursor of a request says of which one.
///
/// Operators that treat all calls of a service alike, such as its rate limit, belong between it and the
/// ``PartitionedSource``.
package struct PartitionPages<Item: SourceRecord>: DataSource, CustomStringConvertible {
  private let places: PartitionPlaces
  private let list: any PartitionList
  private let source: @Sendable (Partition) throws(SourceError) -> any DataSource<Item>
  private let recent = RecentPartitions<Item>()

  package init(
    _ name: String, for list: any PartitionList,
    _ source: @escaping @Sendable (Partition) throws(SourceError) -> any DataSource<Item>
  ) {
    places = PartitionPlaces(name: name)
    self.list = list
    self.source = source
  }

  package func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    guard let cursor = request.cursor else { throw .damaged(nil) }
    let place = try places.place(of: cursor)
    let partition =
      if let known = recent.partition(at: place.position) { known } else {
        try await list.partition(at: place.position)
      }
    guard let partition, !place.isAfter,
      place.checksum == places.checksum(of: partition.value, request.query)
    else { throw .damaged(cursor) }
    let source = try recent.source(of: partition, source)
    var page = try await source.page(request.after(place.cursor))
    page.next = try page.next.map { next throws(SourceError) in
      guard let next = places.cursor(at: partition, for: request.query, next) else {
        throw SourceError.positionTooLong
      }
      return next
    }
    return page
  }

  package func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    guard let value = Partition.value(ofRecord: id.description) else {
      throw .notFound(id, in: places.name)
    }
    return try await source(Partition(position: 0, value: value)).item(id, cachePolicy: cachePolicy)
  }

  package func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    guard let cursor = request.cursor, let place = try? places.place(of: cursor),
      let partition = recent.partition(at: place.position),
      let source = try? recent.source(of: partition, source),
      let ahead = source.cursor(skipping: count, from: request.after(place.cursor))
    else { return nil }
    return places.cursor(at: partition, for: request.query, ahead)
  }

  package func isInMemory(_ request: PageRequest) -> Bool {
    guard let cursor = request.cursor, let place = try? places.place(of: cursor),
      let partition = recent.partition(at: place.position)
    else { return false }
    let source = try? recent.source(of: partition, source)
    return source?.isInMemory(request.after(place.cursor)) ?? false
  }

  package var description: String { (try? source(.sample)).map { "\($0)" } ?? places.name }

  package var readsAhead: Bool { (try? source(.sample))?.readsAhead ?? true }

  package var pageSize: Int? { (try? source(.sample))?.pageSize }
}

/// The sources of the partitions that were read last: some keep a page that is being cut.
private final class RecentPartitions<Item: SourceRecord>: Sendable {
  private struct Entry {
    let partition: Partition
    let source: any DataSource<Item>
  }

  /// As many as any number of jobs reads at once.
  private static var maxCount: Int { 256 }

  private let entries = Mutex<[Int64: Entry]>([:])

  func partition(at position: Int64) -> Partition? {
    entries.withLock { $0[position]?.partition }
  }

  func source(
    of partition: Partition,
    _ make: (Partition) throws(SourceError) -> any DataSource<Item>
  ) throws(SourceError) -> any DataSource<Item> {
    if let entry = entries.withLock({ $0[partition.position] }), entry.partition == partition {
      return entry.source
    }
    let entry = Entry(partition: partition, source: try make(partition))
    entries.withLock { entries in
      if entries.count >= Self.maxCount { entries.removeAll(keepingCapacity: true) }
      entries[partition.position] = entry
    }
    return entry.source
  }
}

extension DataSource {
  /// A page of a partition; an empty one with a warning for an error with one of the codes.
  package func refusable(
    _ codes: Set<SourceError.Code>, _ request: PageRequest, of list: any PartitionList,
    at place: PartitionPlaces.Place?, now: Date
  ) async throws(SourceError) -> Page<Item> {
    do throws(SourceError) { return try await page(request) } catch {
      guard codes.contains(error.code), let place,
        let partition = try await list.partition(at: place.position)
      else { throw error }
      return Page(
        [], provenance: Provenance(.live, fetchedAt: now),
        warnings: [
          Warning(.incomplete, "\(partition.value.oneLine(atMost: 80)): \(error.message)")
        ])
    }
  }
}

/// The cursors of a source with partitions.
package struct PartitionPlaces: Sendable {
  package struct Place {
    package let position: Int64
    /// True for what follows the partition at the position, which was not known yet.
    let isAfter: Bool
    let checksum: Substring
    /// The place in the list of the partition; `nil` for its start.
    let cursor: PageCursor?
  }

  private static let checksumLength = 5

  let name: String

  package init(name: String) { self.name = name }

  func checksum(of value: String?, _ query: SearchQuery?) -> String {
    [name, query.map { "+\($0.text)" } ?? "-", value ?? ""].joined(separator: "\0").fnv1a
      .base36(digits: Self.checksumLength)
  }

  /// `nil` if it would be too long.
  package func cursor(at partition: Partition, for query: SearchQuery?, _ cursor: PageCursor? = nil)
    -> PageCursor?
  {
    let head = String(partition.position, radix: 36) + checksum(of: partition.value, query)
    return PageCursor("p\(head)\(cursor.map { ".\($0)" } ?? "")")
  }

  func cursor(after position: Int64) -> PageCursor? {
    PageCursor("a\(String(position, radix: 36))\(checksum(of: nil, nil))")
  }

  package func place(of cursor: PageCursor) throws(SourceError) -> Place {
    let parts = cursor.description.split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let head = parts[0].dropFirst().dropLast(Self.checksumLength)
    let isAfter = parts[0].first == "a"
    let inner = parts.dropFirst().first.map { PageCursor(String($0)) }
    guard isAfter || parts[0].first == "p", let position = Int64(head, radix: 36), position >= 0,
      !isAfter || inner == nil && parts[0].hasSuffix(checksum(of: nil, nil)),
      inner.map({ $0 != nil }) ?? true
    else { throw .damaged(cursor) }
    return Place(
      position: position, isAfter: isAfter, checksum: parts[0].suffix(Self.checksumLength),
      cursor: inner ?? nil)
  }
}
