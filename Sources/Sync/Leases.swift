import AggregatorCore
import AggregatorFoundation

/// The parts of a pass that workers fetch now, and by when they must have done so; its times are the store's.
struct Leases: Hashable, Codable, Sendable {
  /// A part that a worker fetches, until it saves it or the lease expires.
  struct Lease: Hashable, Codable, Sendable {
    /// The index of a page, from 0, or the position of a partition.
    let place: Int
    /// A number that grows with every lease: that of an expired one is never valid again.
    fileprivate(set) var fence: Int64
    fileprivate(set) var worker: String
    /// In milliseconds since 1970.
    fileprivate(set) var expires: Timestamp

    private enum CodingKeys: String, CodingKey {
      case place = "p", fence = "f", worker = "w", expires = "e"
    }
  }

  private(set) var all: [Lease] = []
  private var fence: Int64 = 0

  private enum CodingKeys: String, CodingKey { case all = "l", fence = "f" }

  /// False for numbers that only damage explains, and that might overflow.
  var isPlausible: Bool {
    (all.map(\.fence) + [fence]).allSatisfy { 0..<(Int64(1) << 60) ~= $0 }
  }

  /// Leases up to `count` parts again whose lease has expired.
  ///
  /// - Parameter held: The leases of the only worker, so that all others are lost; `nil` if there may be other workers.
  mutating func retake(
    _ count: Int, for worker: String, at now: Date, until end: Date, holding held: [Lease]? = nil
  ) -> [Lease] {
    var taken: [Lease] = []
    for index in all.indices where taken.count < count {
      let isLost = held.map { held in !held.contains { $0.fence == all[index].fence } } ?? false
      guard isLost || all[index].expires <= Timestamp(now) else { continue }
      fence += 1
      all[index].fence = fence
      all[index].worker = worker
      all[index].expires = Timestamp(end)
      taken.append(all[index])
    }
    return taken
  }

  mutating func take(_ place: Int, for worker: String, until end: Date) -> Lease {
    fence += 1
    let lease = Lease(place: place, fence: fence, worker: worker, expires: Timestamp(end))
    all.append(lease)
    return lease
  }

  /// True if a lease is valid.
  func isValid(_ lease: Lease, at now: Date) -> Bool {
    all.contains {
      $0.place == lease.place && $0.fence == lease.fence && $0.expires > Timestamp(now)
    }
  }

  /// True if no other worker has taken a part since, whether or not the lease is still valid.
  func contain(_ lease: Lease) -> Bool { all.contains { $0.fence == lease.fence } }

  /// Extends the leases that are still valid.
  mutating func renew(_ held: [Lease], at now: Date, until end: Date) {
    for index in all.indices
    where all[index].expires > Timestamp(now)
      && held.contains(where: { $0.fence == all[index].fence })
    {
      all[index].expires = Timestamp(end)
    }
  }

  /// Gives leases back, so that another worker need not wait until they expire.
  mutating func release(_ held: [Lease]) {
    for index in all.indices where held.contains(where: { $0.fence == all[index].fence }) {
      all[index].expires = Timestamp(milliseconds: 0) ?? all[index].expires
    }
  }

  mutating func end(_ lease: Lease) { all.removeAll { $0.fence == lease.fence } }

  mutating func endAll(after place: Int) { all.removeAll { $0.place > place } }

  /// The workers that hold leases, and how many parts each of them fetches.
  func workers(at now: Date) -> [String: Int] {
    let valid = all.filter { $0.expires > Timestamp(now) }
    return Dictionary(valid.map { ($0.worker, 1) }, uniquingKeysWith: +)
  }
}

extension Timestamp {
  /// In milliseconds since 1970.
  fileprivate init(_ date: Date) { self.init(.seconds(date.timeIntervalSince1970)) }
}
