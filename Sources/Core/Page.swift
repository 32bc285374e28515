public import AggregatorFoundation

/// A request for one page of a ``DataSource``.
public struct PageRequest: Hashable, Sendable {
  /// The search; `nil` requests all records.
  public var query: SearchQuery?

  /// The position, from an earlier ``Page/next``; `nil` for the start.
  public var cursor: PageCursor?

  /// The maximum number of records, 1 or more.
  public var limit: Int

  public var cachePolicy: CachePolicy

  /// Set to compare the page with the one that was read last; a source may ignore it.
  package var comparison: PageComparison?

  public init(
    matching query: SearchQuery? = nil, after cursor: PageCursor? = nil, limit: Int = 20,
    cachePolicy: CachePolicy = .normal
  ) {
    precondition(limit > 0, "a page of \(limit) records")
    self.query = query
    self.cursor = cursor
    self.limit = limit
    self.cachePolicy = cachePolicy
  }

  /// The same request at another position, and with another limit unless it is `nil`.
  public func after(_ cursor: PageCursor?, limit: Int? = nil) -> PageRequest {
    var request = self
    request.cursor = cursor
    request.limit = limit ?? self.limit
    request.comparison = nil
    return request
  }
}

/// Compares the response of a page with the one from which the page was read last, so that it need not be sent or read again.
package final class PageComparison: Hashable, Sendable {
  /// A digest of all that decides which records are read, besides the request and the response.
  package let seed: UInt64

  /// Returns the page that was read last from the response to a request, by the digest of the request; `nil` if there is none.
  package let lastRead: @Sendable (UInt64) async throws(SourceError) -> LastRead?

  package init(
    seed: UInt64, lastRead: @escaping @Sendable (UInt64) async throws(SourceError) -> LastRead?
  ) {
    self.seed = seed
    self.lastRead = lastRead
  }

  package static func == (one: PageComparison, other: PageComparison) -> Bool { one === other }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A page as it was read last.
package struct LastRead: Sendable {
  package let digest: PageDigest

  /// Returns the number of its records if the store has all of them as they were saved with it; otherwise `nil`.
  package let recordCount: @Sendable () async throws(SourceError) -> Int?

  package init(
    _ digest: PageDigest,
    recordCount: @escaping @Sendable () async throws(SourceError) -> Int?
  ) {
    self.digest = digest
    self.recordCount = recordCount
  }
}

/// The digests of a request, and of all from which its page is read.
package struct PageDigest: Hashable, Sendable {
  package let request: UInt64
  package let response: UInt64

  /// The validators of the response, in the form of the source, which needs them to ask whether the page has changed;
  /// `nil` if it cannot.
  package var validators: String?

  /// The memo of the page, if nothing but ``validators`` has changed since it was read; otherwise `nil`.
  package var renewedMemo: String?

  package init(request: UInt64, response: UInt64, validators: String? = nil) {
    self.request = request
    self.response = response
    self.validators = validators
  }
}

/// One page of a ``DataSource``.
public struct Page<Item: SourceRecord>: Sendable {
  /// The records, in the source's order.
  public var records: [Item]

  /// The cursor of the next page; `nil` if this is the last.
  public var next: PageCursor?

  /// The total number of matching records, if it is known at no extra cost.
  public var total: Int?

  /// True if neither ``records`` nor ``total`` include deleted records.
  package var excludesDeleted = false

  /// True if records were taken out because they are deleted here, so that it may lack some that were asked for.
  package var isShortened = false

  /// The total as the source reported it, if ``total`` leaves deleted records out, or is `nil` because the rows
  /// contradict it; otherwise `nil`.
  package var reportedTotal: Int?

  public var provenance: Provenance

  /// Rows of the reply that could not be read.
  public var unreadable: UnreadableRows

  /// The number of records left out on purpose; pagination counts them as progress.
  public var hidden: Int

  /// Warnings beyond those that follow from the provenance.
  public var warnings: [Warning]

  /// For each record a value that grows with its changes, such as the time of the last one, as the service sends it; `nil`
  /// for a record without one, and empty if the source does not tell.
  public var changeMarks: [String?] = []

  /// True if it is the last page of a partition, see ``PartitionedSource``; then it is progress, even if it is empty.
  package var endsPartition = false

  /// The members of the rows that the page was made of; `nil` if the source does not tell.
  public var schema: RowSchema?

  /// The digest of the one response that the page was read from, if ``PageRequest/comparison`` asks for it; of a page
  /// that was not read again only if the validators are others.
  package var digest: PageDigest?

  /// The number of its records if their response is the one that was read last: then they are not read again, and
  /// ``records`` is empty; otherwise `nil`.
  package var unchangedCount: Int?

  public init(
    _ records: [Item], next: PageCursor? = nil, total: Int? = nil, provenance: Provenance,
    unreadable: UnreadableRows = .none, hidden: Int = 0, warnings: [Warning] = []
  ) {
    self.records = records
    self.next = next
    self.total = total
    self.provenance = provenance
    self.unreadable = unreadable
    self.hidden = hidden
    self.warnings = warnings
  }

  /// True if the reply had several rows and none could be read: the service is more likely broken, or
  /// changed its format, than empty.
  package var isUnreadable: Bool { records.isEmpty && unreadable.count > 1 }
}

extension Page: Equatable {
  /// True if all that a page shows is equal: ``excludesDeleted`` is a note for the operators.
  public static func == (left: Page, right: Page) -> Bool {
    left.records == right.records && left.next == right.next && left.total == right.total
      && left.provenance == right.provenance && left.unreadable == right.unreadable
      && left.hidden == right.hidden && left.warnings == right.warnings
  }
}

/// One record and its provenance.
public struct LookupResult<Item: SourceRecord>: Equatable, Sendable {
  public var item: Item
  public var provenance: Provenance

  /// Warnings beyond those that follow from the provenance.
  public var warnings: [Warning]

  public init(_ item: Item, provenance: Provenance, warnings: [Warning] = []) {
    self.item = item
    self.provenance = provenance
    self.warnings = warnings
  }
}

/// Rows of a reply that could not be read.
public struct UnreadableRows: Hashable, Sendable {
  public var count: Int
  public var firstReason: String?

  public static let none = UnreadableRows(count: 0, firstReason: nil)

  public init(count: Int, firstReason: String?) {
    self.count = count
    self.firstReason = firstReason
  }

  /// Adds the counts and keeps the earlier reason.
  public static func + (earlier: UnreadableRows, later: UnreadableRows) -> UnreadableRows {
    UnreadableRows(
      count: earlier.count + later.count, firstReason: earlier.firstReason ?? later.firstReason)
  }
}

/// The origin and age of an answer, and the reason for a fallback.
public struct Provenance: Equatable, Sendable {
  /// A tier of a source.
  public enum Origin: String, Sendable, CaseIterable {
    /// The service, just now.
    case live
    case cached
    /// Data compiled into the program.
    case bundled
  }

  public var origin: Origin

  /// The date when the data was fetched from the service; `nil` for bundled data.
  public var fetchedAt: Date?

  /// The URL that was requested, without its query; `nil` for bundled data.
  public var endpoint: String?

  /// The failure of the preferred tier; `nil` if that tier was not tried or did not fail.
  public var reason: SourceError?

  public init(
    _ origin: Origin, fetchedAt: Date? = nil, endpoint: String? = nil, reason: SourceError? = nil
  ) {
    self.origin = origin
    self.fetchedAt = fetchedAt
    self.endpoint = endpoint
    self.reason = reason
  }

  public func because(_ reason: SourceError) -> Provenance {
    Provenance(origin, fetchedAt: fetchedAt, endpoint: endpoint, reason: reason)
  }
}
