import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// The state of a pass that several workers share: which pages are fetched, which are being fetched and by whom.
///
/// It is the text of a checkpoint, changed only in the transactions of a store, and its times are the store's.
struct SharedPass: Hashable, Codable, Sendable {
  typealias Lease = Leases.Lease

  /// Tells the leases of this pass from those of another.
  let id: String

  /// The number of rows per page.
  let size: Int

  /// The sums over the pages that are done, in any order; it has no cursor.
  private(set) var progress: SyncCheckpoint

  private(set) var leases = Leases()

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
  /// True if the service lists no more, although it may have more.
  private var hasReachedDepth: Bool?

  private enum CodingKeys: String, CodingKey {
    case id = "i", size = "z", progress = "s", leases = "l", last = "e", done = "d",
      doneAhead = "a", next = "n", hasReachedDepth = "x", highest = "h"
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
    let indices =
      leases.all.map(\.place) + doneAhead + [done, next, last, highest].compactMap(\.self)
    return 1...100_000 ~= size && indices.allSatisfy(pages.contains) && leases.isPlausible
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
    let end = now + time
    var taken = leases.retake(count, for: worker, at: now, until: end)
    while taken.count < count, next < limit(depth) {
      taken.append(leases.take(next, for: worker, until: end))
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

  mutating func renew(_ held: [Lease], at now: Date, for time: Duration) {
    leases.renew(held, at: now, until: now + time)
  }

  mutating func release(_ held: [Lease]) { leases.release(held) }

  /// Notes that a page is done, whose lease is valid.
  mutating func finish(
    _ lease: Lease, _ page: Page<some SourceRecord>, depth: Int?, at date: Date,
    tracking: ChangeTracking? = nil
  ) {
    leases.end(lease)
    progress.add(page, at: date)
    progress.note(page.changeMarks, by: tracking)
    if !page.records.isEmpty || page.next != nil { highest = max(highest ?? 0, lease.place) }
    let isCut = depth.map { (lease.place + 1) * size >= $0 } ?? false
    if page.next == nil || isCut {
      if page.next != nil { hasReachedDepth = true }
      last = min(last ?? lease.place, lease.place)
      leases.endAll(after: lease.place)
    }
    // Pages that contradict each other: the list has changed.
    if let last, let highest, highest > last { progress.isCertain = false }
    doneAhead.append(lease.place)
    doneAhead.sort()
    while doneAhead.first.map({ $0 <= done }) ?? false {
      if doneAhead.removeFirst() == done { done += 1 }
    }
    if isComplete, hasReachedDepth == true { progress.endAtDepth() }
  }
}

extension Date {
  static func + (date: Date, duration: Duration) -> Date {
    date.addingTimeInterval(duration / .seconds(1))
  }
}
