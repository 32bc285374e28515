public import AggregatorCore
public import AggregatorFoundation

/// A record as a ``SourceStore`` has it.
public struct StoredRecord: Hashable, Sendable {
  /// The position in first-seen order: positions ascend, and are 1 or more.
  public var position: Int64

  /// The ID, if it is asked for by position; otherwise `nil`.
  package var id: String?

  /// The record in the encoding of ``RecordStore``.
  public var json: Data

  /// The time of the last fetch that changed the record.
  public var savedAt: Date

  /// The time at which a sync found the record missing; `nil` unless a sync found it missing.
  public var removedUpstreamAt: Date?

  public init(position: Int64, json: Data, savedAt: Date, removedUpstreamAt: Date? = nil) {
    self.position = position
    self.json = json
    self.savedAt = savedAt
    self.removedUpstreamAt = removedUpstreamAt
  }
}

/// An ID that is marked as deleted in a ``SourceStore``.
public struct StoredDeletion: Hashable, Sendable {
  public var id: String

  /// The hidden record; `nil` if only the mark is stored.
  public var record: StoredRecord?

  public init(id: String, record: StoredRecord?) {
    self.id = id
    self.record = record
  }
}

/// Consecutive records of a ``SourceStore``.
public struct RecordSlice: Hashable, Sendable {
  /// The records in first-seen order.
  public var records: [StoredRecord]

  public var hasMore: Bool

  /// The number of all matches; `nil` where counting would cost too much.
  public var total: Int?

  public static let empty = RecordSlice(records: [], hasMore: false, total: 0)

  public init(records: [StoredRecord], hasMore: Bool, total: Int?) {
    self.records = records
    self.hasMore = hasMore
    self.total = total
  }
}

/// A page of a service, with its records as they are now.
public struct CachedPage: Hashable, Sendable {
  /// The records, including deleted ones.
  public var records: [StoredRecord]

  public var page: PageMetadata
  public var fetchedAt: Date

  public init(records: [StoredRecord], page: PageMetadata, fetchedAt: Date) {
    self.records = records
    self.page = page
    self.fetchedAt = fetchedAt
  }
}

/// A page of a service without its records.
public struct PageMetadata: Hashable, Codable, Sendable {
  /// The start of the next page; `nil` after the last.
  public var next: PageCursor?

  /// The number of records in all pages, if the service reports it.
  public var total: Int?

  /// The URL of the request, without its query.
  public var endpoint: String?

  public var unreadable: Int
  public var reason: String?

  /// The generation of the listing, see ``DataSource/cached(in:freshFor:of:now:)``; `nil` for a record.
  public var generation: String?

  /// The generation since which each fetch has found the same IDs, total and next page; `nil` if only the last has.
  package var unchangedSince: String?

  /// The source's words about missing records; `nil` if it had none.
  package var warnings: [Warning]?

  /// The number of its rows, repeated ones too; `nil` for a page that an older version has stored.
  package var rows: Int?

  /// True for the last page of a partition, see ``PartitionedSource``; `nil` for any other.
  package var endsPartition: Bool?

  public init(
    next: PageCursor?, total: Int?, endpoint: String?, unreadable: UnreadableRows = .none,
    generation: String? = nil
  ) {
    self.generation = generation
    self.next = next
    self.total = total
    self.endpoint = endpoint
    self.unreadable = unreadable.count
    self.reason = unreadable.firstReason
  }
}

/// The status, the cached pages and checkpoints of a source, all of one moment; see ``SourceStore/state(of:checkpoints:)``.
public struct StoredState: Sendable {
  public var status: StoreStatus

  /// The cached pages without their records, the newest first.
  public var pages: [(key: String, page: PageMetadata)]

  /// The texts of those checkpoints that were asked for and exist, by their names.
  public var checkpoints: [String: String]

  public init(
    _ status: StoreStatus = StoreStatus(), pages: [(key: String, page: PageMetadata)] = [],
    checkpoints: [String: String] = [:]
  ) {
    self.status = status
    self.pages = pages
    self.checkpoints = checkpoints
  }
}

/// The amount of data that a ``SourceStore`` has of a source.
public struct StoreStatus: Hashable, Sendable {
  /// The number of records, without deleted ones and ones removed upstream.
  public var records = 0

  /// The number of stored records that are deleted.
  public var hidden = 0

  /// The number of deleted IDs, stored or not.
  public var deleted = 0

  public var removedUpstream = 0
  public var pages = 0

  /// The time of the last page fetch; `nil` if unknown.
  public var fetchedAt: Date?

  /// The position of the record first seen last, even if it is no longer stored, or a later one once the source was
  /// cleared; 0 for none.
  public var lastPosition: Int64 = 0

  /// The history of changes; `nil` if none is kept.
  public var history: HistoryStatus?

  public init() {}

  /// The number of records not marked as removed upstream, including deleted ones.
  package var knownUpstream: Int { records + hidden }

  /// True if no record is stored, not even a deleted one.
  public var isEmpty: Bool { records + hidden + removedUpstream == 0 }
}
