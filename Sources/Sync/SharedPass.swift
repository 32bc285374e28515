import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// The state of a pass that several workers share: which pages are fetched, which are being fetched and by whom.
///
/// It is the text of a checkpoint, changed only in the transactions of a store, and its times are the store's.
struct SharedPass: Hashable, Codable, Sendable {
  /// A page that a worker fetches, until it saves it or the lease expires.
  struct Lease: Hashable, Codable, Sendable {
    /// The page's index, from 0.
    let page: Int
    /// A number that grows with every lease: that of an expired one is never valid again.
    fileprivate(set) var fence: Int64
    fileprivate(set) var worker: String
    /// In milliseconds since 1970.
    fileprivate(set) var expires: Timestamp

    private enum CodingKeys: String, CodingKey {
      case page = "p", fence = "f", worker = "w", expires = "e"
    }
  }

  /// Tells the leases of this pass from those of another.
  let id: String

  /// The number of rows per page.
  let size: Int

  /// The sums over the pages that are done, in any order; it has no cursor.
  private(set) var progress: SyncCheckpoint

  private(set) var leases: [Lease] = []

  /// The index of the last page, once a worker has seen it.
  private var last: Int?
  /// The index of the page furthest on that has records, or another page after it.
  private var highest: Int?
  /// All pages before this one are done.
  private var done = 0
  /// The pages after it that are done, too.
  private var doneAhead: [Int] = []
  /// The page after the last one that was ever leased.
  private var next = 0
  private var fence: Int64 = 0
  /// True if the service lists no more, although it may have more.
  private var hasReachedDepth: Bool?

  private enum CodingKeys: String, CodingKey {
    case id = "i", size = "z", progress = "s", leases = "l", last = "e", done = "d",
      doneAhead = "a", next = "n", fence = "f", hasReachedDepth = "x", highest = "h"
  }

  init(id: String, size: Int, after position: Int64, at date: Date) {
    self.id = id
    self.size = size
    progress = SyncCheckpoint(after: position, at: date)
  }

  /// Decodes a stored pass; `nil` if it is none, invalid or expired.
  init?(_ text: String, at now: Date) {
    guard let pass = try? JSONText(Data(text.utf8))?.read(SharedPass.self),
      pass.progress.isPlausible(at: now), pass.isPlausible
    else { return nil }
    self = pass
  }

  /// False for numbers that only damage explains, and whose products might overflow.
  private var isPlausible: Bool {
    let pages = 0..<(1 << 30)
    let indices = leases.map(\.page) + doneAhead + [done, next, last, highest].compactMap(\.self)
    return 1...100_000 ~= size && indices.allSatisfy(pages.contains)
      && (leases.map(\.fence) + [fence]).allSatisfy { 0..<(1 << 60) ~= $0 }
  }

  var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }

  /// True if every page is done.
  var isComplete: Bool { last.map { done > $0 } ?? false }

  /// True before the first page is done.
  var isNew: Bool { done == 0 }

  var pages: Int { done + doneAhead.count }

  /// Leases up to `count` pages: those whose lease has expired, then new ones.
  mutating func lease(
    _ count: Int, to worker: String, at now: Date, for time: Duration, depth: Int?
  ) -> [Lease] {
    let (present, expires) = (Timestamp(now), Timestamp(now + time))
    var taken: [Lease] = []
    for index in leases.indices where taken.count < count && leases[index].expires <= present {
      fence += 1
      leases[index].fence = fence
      leases[index].worker = worker
      leases[index].expires = expires
      taken.append(leases[index])
    }
    while taken.count < count, next < limit(depth) {
      fence += 1
      let lease = Lease(page: next, fence: fence, worker: worker, expires: expires)
      leases.append(lease)
      taken.append(lease)
      next += 1
    }
    return taken
  }

  /// The page before which pages may be leased.
  private func limit(_ depth: Int?) -> Int {
    // The first page tells whether the service can be read ahead, and how many there are.
    guard done > 0 else { return 1 }
    if let last { return last + 1 }
    let limits = [progress.total, depth].compactMap { rows in rows.map { ($0 + size - 1) / size } }
    // A list may be longer than its total was.
    return max(limits.min() ?? .max, done + 1)
  }

  /// True if a lease is valid.
  func holds(_ lease: Lease, at now: Date) -> Bool {
    leases.contains {
      $0.page == lease.page && $0.fence == lease.fence && $0.expires > Timestamp(now)
    }
  }

  /// Extends the leases that are still valid.
  mutating func renew(_ held: [Lease], at now: Date, for time: Duration) {
    for index in leases.indices
    where leases[index].expires > Timestamp(now)
      && held.contains(where: { $0.fence == leases[index].fence })
    {
      leases[index].expires = Timestamp(now + time)
    }
  }

  /// The workers that hold leases, and how many pages each of them fetches.
  func workers(at now: Date) -> [String: Int] {
    let valid = leases.filter { $0.expires > Timestamp(now) }
    return Dictionary(valid.map { ($0.worker, 1) }, uniquingKeysWith: +)
  }

  /// Gives leases back, so that another worker need not wait until they expire.
  mutating func release(_ held: [Lease]) {
    for index in leases.indices where held.contains(where: { $0.fence == leases[index].fence }) {
      leases[index].expires = Timestamp(milliseconds: 0) ?? leases[index].expires
    }
  }

  /// Notes that a page is done, whose lease is valid.
  mutating func finish(
    _ lease: Lease, _ page: Page<some Record>, depth: Int?, at date: Date,
    tracking: ChangeTracking? = nil
  ) {
    leases.removeAll { $0.fence == lease.fence }
    progress.add(page, at: date)
    progress.note(page.changeMarks, by: tracking)
    if !page.records.isEmpty || page.next != nil { highest = max(highest ?? 0, lease.page) }
    let isCut = depth.map { (lease.page + 1) * size >= $0 } ?? false
    if page.next == nil || isCut {
      if page.next != nil { hasReachedDepth = true }
      last = min(last ?? lease.page, lease.page)
      leases.removeAll { $0.page > lease.page }
    }
    // Pages that contradict each other: the list has changed.
    if let last, let highest, highest > last { progress.isCertain = false }
    doneAhead.append(lease.page)
    doneAhead.sort()
    while doneAhead.first.map({ $0 <= done }) ?? false {
      if doneAhead.removeFirst() == done { done += 1 }
    }
    if isComplete, hasReachedDepth == true { progress.endAtDepth() }
  }
}

extension Timestamp {
  /// In milliseconds since 1970.
  fileprivate init(_ date: Date) { self.init(.seconds(date.timeIntervalSince1970)) }
}

extension Date {
  fileprivate static func + (date: Date, duration: Duration) -> Date {
    date.addingTimeInterval(duration / .seconds(1))
  }
}
