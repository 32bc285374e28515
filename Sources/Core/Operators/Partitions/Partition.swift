public import AggregatorFoundation
import AggregatorText

/// A part of a source's list, with pages of its own: the list of one parent, of one day, or for one value.
public struct Partition: Hashable, Sendable {
  /// Its place among the partitions of the source, 1 or more, which it keeps as long as it is there.
  public let position: Int64

  /// The text that tells it from the others, and that requests of its pages have: `octocat/hello`.
  public let value: String

  /// The time after which its records no longer change, such as the end of a day; `nil` if they always may.
  package var settled: Date?

  public init(position: Int64, value: String) {
    self.position = position
    self.value = value
  }

  /// The first part of the IDs of its records, without the `/` after it: `octocat%2Fhello`.
  package var key: String { value.replacing("%", with: "%25").replacing("/", with: "%2F") }

  /// The ID of a record among those of all partitions, given its ID within this one: `octocat%2Fhello/1`.
  public func recordID(_ id: String) -> String { "\(key)/\(id)" }

  /// The value as a part of the path of a URL: percent-encoded but for `/`.
  ///
  /// - Throws: ``SourceError`` with code `rejected` for a value with an empty part, `.` or `..`, which would lead elsewhere.
  public func path() throws(SourceError) -> String {
    let parts = value.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
      throw SourceError(
        .rejected,
        "the path of a URL cannot have \"\(value.oneLine(atMost: 80))\", which has an empty part, \".\" or \"..\""
      )
    }
    return parts.map(\.percentEncoded).joined(separator: "/")
  }

  /// The value of the partition that a record belongs to, given its ID among those of all; `nil` if it has none.
  package static func value(ofRecord id: String) -> String? {
    id.firstIndex(of: "/").flatMap { String(id[..<$0]).percentDecoded }
  }

  /// A partition of no list, to ask a source what is the same for all of them.
  package static let sample = Partition(position: 0, value: "-")
}

/// The partitions of a source, in their order.
public protocol PartitionList: Sendable {
  /// The partitions that follow a position, 0 for the start: at most `limit`, 1 or more, and none only at the end.
  ///
  /// - Throws: ``SourceError`` if the list cannot be read.
  func partitions(
    after position: Int64, limit: Int, cachePolicy: CachePolicy
  ) async throws(SourceError) -> PartitionSlice

  /// The partition at a position; `nil` if there is none.
  func partition(at position: Int64) async throws(SourceError) -> Partition?

  /// Brings the list up to date before all of it is read; by default it is.
  ///
  /// - Parameter waits: True to wait at rate limits.
  /// - Returns: The reasons the list may lack partitions, or have old ones.
  /// - Throws: ``SourceError`` if there is none.
  func refresh(waits: Bool) async throws(SourceError) -> [Warning]

  /// The keys of partitions that are left out on purpose, whose records stay; none by default.
  func hiddenKeys() async throws(SourceError) -> Set<String>
}

extension PartitionList {
  public func refresh(waits: Bool) async throws(SourceError) -> [Warning] { [] }

  public func hiddenKeys() async throws(SourceError) -> Set<String> { [] }
}

/// Consecutive partitions of a ``PartitionList``.
public struct PartitionSlice: Hashable, Sendable {
  public var partitions: [Partition]

  /// The reasons the list may lack partitions, or have old ones.
  public var warnings: [Warning]

  public init(_ partitions: [Partition], warnings: [Warning] = []) {
    self.partitions = partitions
    self.warnings = warnings
  }
}

/// Partitions for given values.
public struct FixedPartitions: PartitionList {
  private let partitions: [Partition]

  public init(_ values: [String]) {
    partitions = values.enumerated().map { Partition(position: Int64($0 + 1), value: $1) }
  }

  public func partitions(
    after position: Int64, limit: Int, cachePolicy: CachePolicy
  ) async throws(SourceError) -> PartitionSlice {
    PartitionSlice(Array(partitions.dropFirst(Int(clamping: max(position, 0))).prefix(limit)))
  }

  public func partition(at position: Int64) async throws(SourceError) -> Partition? {
    position > 0 ? partitions.dropFirst(Int(clamping: position - 1)).first : nil
  }
}

/// Partitions of days in UTC: from the first one to today, each as many days after the one before.
public struct DailyPartitions: PartitionList {
  /// The days since 1970.
  private let first: Int64
  private let step: Int64
  private let lookback: Duration
  private let now: @Sendable () -> Date

  /// - Parameters:
  ///   - first: A day in 1970 or later: `2024-01-01`; `nil` is returned for any other text.
  ///   - step: The days from one partition to the next, 1 or more.
  ///   - lookback: The time after its beginning for which a partition is read again; until it is over, if that is longer.
  public init?(
    since first: String, step: Int = 1, lookback: Duration = .zero,
    now: @escaping @Sendable () -> Date
  ) {
    guard first.utf8.count == 10, let period = Period(first), period.isDate, period.start >= 0,
      step > 0
    else { return nil }
    self.first = Int64(period.start / Self.day)
    self.step = Int64(step)
    self.lookback = lookback
    self.now = now
  }

  private static let day = 86_400.0

  public func partitions(
    after position: Int64, limit: Int, cachePolicy: CachePolicy
  ) async throws(SourceError) -> PartitionSlice {
    let next = position <= first ? first : position - 1 + step
    let today = Int64(now().timeIntervalSince1970 / Self.day)
    guard next <= today else { return PartitionSlice([]) }
    return PartitionSlice(
      stride(from: next, through: today, by: Int(step)).prefix(limit).map(partition))
  }

  public func partition(at position: Int64) async throws(SourceError) -> Partition? {
    // Before the year 10000.
    1...2_932_897 ~= position ? partition(of: position - 1) : nil
  }

  private func partition(of day: Int64) -> Partition {
    let start = Date(timeIntervalSince1970: Double(day) * Self.day)
    var partition = Partition(position: day + 1, value: String(start.iso8601.prefix(10)))
    let length = max(Double(step) * Self.day, lookback / .seconds(1))
    partition.settled = start.addingTimeInterval(length)
    return partition
  }
}
