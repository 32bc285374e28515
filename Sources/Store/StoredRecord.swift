public import AggregatorCore
public import Foundation

/// A record as a ``Store`` keeps it.
public struct StoredRecord: Hashable, Sendable {
  /// Its place in first-seen order: positions ascend, and are 1 or more.
  public var position: Int64

  /// The record, in the one encoding of ``RecordStore``.
  public var json: Data

  /// When it was last fetched in another form than the one before.
  public var savedAt: Date

  /// When it was found that the service no longer has it; `nil` if it has, as far as is known.
  public var removedUpstreamAt: Date?

  /// A stored record.
  ///
  /// - Parameters:
  ///   - position: Its place in first-seen order.
  ///   - json: The record.
  ///   - savedAt: When it was last fetched in another form than the one before.
  ///   - vanishedAt: When it was found that the service no longer has it.
  public init(position: Int64, json: Data, savedAt: Date, removedUpstreamAt: Date? = nil) {
    self.position = position
    self.json = json
    self.savedAt = savedAt
    self.removedUpstreamAt = removedUpstreamAt
  }
}

/// Some records of a ``Store``, in order.
public struct StoredSlice: Hashable, Sendable {
  /// The records.
  public var records: [StoredRecord]

  /// Whether more follow.
  public var hasMore: Bool

  /// How many there are altogether; `nil` where counting would cost too much.
  public var total: Int?

  /// Nothing.
  public static let empty = StoredSlice(records: [], hasMore: false, total: 0)

  /// Some records.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - hasMore: Whether more follow.
  ///   - total: How many there are altogether, if that is cheap to know.
  public init(records: [StoredRecord], hasMore: Bool, total: Int?) {
    self.records = records
    self.hasMore = hasMore
    self.total = total
  }
}

/// A page that a service gave, with its records as they are now.
public struct StoredPage: Hashable, Sendable {
  /// The records, those deleted too.
  public var records: [StoredRecord]

  /// What the service said of it.
  public var page: FetchedPage

  /// When it was fetched.
  public var fetchedAt: Date

  /// A stored page.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - page: What the service said of it.
  ///   - fetchedAt: When it was fetched.
  public init(records: [StoredRecord], page: FetchedPage, fetchedAt: Date) {
    self.records = records
    self.page = page
    self.fetchedAt = fetchedAt
  }
}

/// What a service said of a page, beside its records.
public struct FetchedPage: Hashable, Codable, Sendable {
  /// Where the next page starts; `nil` when this was the last.
  public var next: Cursor?

  /// How many records the whole answer has, if the service says so.
  public var total: Int?

  /// The address that was asked, without its query.
  public var endpoint: String?

  /// How many rows could not be read.
  public var unreadable: Int

  /// Why the first of them could not be read.
  public var reason: String?

  /// What a service said.
  ///
  /// - Parameters:
  ///   - next: Where the next page starts.
  ///   - total: How many records the whole answer has.
  ///   - endpoint: The address that was asked, without its query.
  ///   - unreadable: The rows that could not be read.
  public init(next: Cursor?, total: Int?, endpoint: String?, unreadable: Unreadable = .none) {
    self.next = next
    self.total = total
    self.endpoint = endpoint
    self.unreadable = unreadable.count
    self.reason = unreadable.firstReason
  }
}

/// How much a ``Store`` has of a source.
public struct StoreStatus: Hashable, Sendable {
  /// How many records, without those deleted and those that vanished.
  public var records = 0

  /// How many stored records are deleted.
  public var hidden = 0

  /// How many ids are deleted, stored or not.
  public var deleted = 0

  /// How many records the service no longer has.
  public var removedUpstream = 0

  /// How many pages are kept.
  public var pages = 0

  /// When a page was fetched last; `nil` if none is known.
  public var fetchedAt: Date?

  /// Nothing.
  public init() {}

  /// Whether no record is stored, not even a deleted one.
  public var isEmpty: Bool { records + hidden + removedUpstream == 0 }
}
