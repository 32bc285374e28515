import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// The state of a pass over the partitions of a source: which of them are being read and by whom, and the sum of the others.
///
/// It is the text of a checkpoint. What is known of each partition is a checkpoint of its own, so that this one stays small.
struct PartitionPass: Hashable, Codable, Sendable {
  /// Tells the partitions that were read in this pass from those of another.
  let id: String

  /// Every partition up to this position is done, but for the leased ones.
  private(set) var next = 0

  var leases = Leases()

  /// True if no partition follows.
  private(set) var isListed = false

  /// The partitions that were read, or asked for what has changed.
  private(set) var full = 0
  private(set) var incremental = 0

  private(set) var pages = 0
  private(set) var records = 0

  /// The first reasons records of partitions, or whole ones, may be missing, each with the name of its partition.
  private var reasons: [Warning] = []
  private var otherReasons = 0

  /// The earliest mark from which on changes were asked for.
  private(set) var mark: String?

  private(set) var schema: RowSchema?

  /// True if the list may lack partitions, so that none counts as gone.
  private(set) var isListDoubtful = false

  /// True if not all that the service has was read in this pass: some partitions are settled, or were interrupted.
  private(set) var skips = false

  /// The time at which it began; `nil` if an older version began it.
  private(set) var begun: Date?

  private(set) var date: Date

  private enum CodingKeys: String, CodingKey {
    case id = "i", next = "n", leases = "l", isListed = "e", full = "f", incremental = "c"
    case pages = "p", records = "r", reasons = "u", otherReasons = "o", mark = "m", schema = "w",
      date = "d"
    case isListDoubtful = "b", skips = "s", begun = "a"
  }

  private static var maxReasons: Int { 5 }

  init(id: String, at date: Date) { (self.id, begun, self.date) = (id, date, date) }

  /// Decodes a stored pass; `nil` if it is none, damaged or expired.
  init?(_ text: String, at now: Date) {
    let counts = 0..<Int(clamping: Int64(1) << 40)
    let places = 0..<Int(clamping: Int64(1) << 62)
    guard let pass = try? JSONText(Data(text.utf8))?.read(PartitionPass.self),
      now.timeIntervalSince(pass.date) < SyncCheckpoint.lifetime / .seconds(1),
      pass.leases.isPlausible,
      (pass.leases.all.map(\.place) + [pass.next]).allSatisfy(places.contains),
      [pass.full, pass.incremental, pass.pages, pass.records, pass.otherReasons]
        .allSatisfy(counts.contains)
    else { return nil }
    self = pass
  }

  var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }

  /// True if every partition is done.
  var isOver: Bool { isListed && leases.all.isEmpty }

  /// The reason the pass is not known to have read every record; `nil` if it has.
  var shortfall: Shortfall? {
    let others = otherReasons > 0 ? [Warning(.incomplete, "and \(otherReasons) more")] : []
    return Shortfall(of: reasons + others)
  }

  /// Takes the partitions of an offer that are not done or leased, up to `count` with those that nobody reads any more.
  mutating func lease(
    _ count: Int, of offer: PartitionOffer, to worker: String, from now: Date, until end: Date
  ) -> [Leases.Lease] {
    if let doubt = offer.doubt, !isListDoubtful {
      isListDoubtful = true
      note(doubt)
    }
    if offer.skips { skips = true }
    var taken = leases.retake(count, for: worker, at: now, until: end, holding: offer.held)
    for place in offer.places where place > next {
      guard taken.count < count else { return taken }
      taken.append(leases.take(place, for: worker, until: end))
      next = place
    }
    if offer.isEnd { isListed = true }
    return taken
  }

  /// Adds the result of a partition.
  mutating func finish(_ read: ReadPartition, by tracking: ChangeTracking?, at date: Date) {
    // Another worker has read it, too, if the lease had expired.
    guard leases.contain(read.lease) else { return }
    leases.end(read.lease)
    self.date = date
    guard let result = read.result else { return }
    // Of one that was read before an interruption, only the end is known.
    if result.pages == 0 { skips = true }
    if result.kind == .incremental { incremental += 1 } else { full += 1 }
    pages += result.pages
    records += result.passed
    schema = schema.merged(with: result.schema)
    if let since = result.changedSince,
      mark.map({ tracking?.isEarlier(since, than: $0) == true }) ?? true
    {
      mark = since
    }
    let depth = result.reachedDepth.map(Shortfall.depth)
    if let shortfall = result.shortfall ?? depth { note(shortfall, of: read.name) }
  }

  /// Notes why records may be missing.
  mutating func note(_ shortfall: Shortfall, of name: String? = nil) {
    let prefix = name.map { "\($0): " } ?? ""
    for var reason in shortfall.reasons {
      if !reason.message.hasPrefix(prefix) { reason.message = prefix + reason.message }
      if reasons.contains(reason) { continue }
      if reasons.count < Self.maxReasons { reasons.append(reason) } else { otherReasons += 1 }
    }
  }
}

/// The partitions that a worker could read next.
struct PartitionOffer: Sendable {
  /// The positions, ascending.
  var places: [Int] = []
  /// True if no partition follows them.
  var isEnd = false
  /// True if some were left out that are settled.
  var skips = false
  /// The reason the list may lack partitions.
  var doubt: Shortfall?
  /// The leases of the worker if no other one reads any.
  var held: [Leases.Lease]?
}

/// A partition that a worker has read.
struct ReadPartition: Sendable {
  let lease: Leases.Lease
  /// The partition as messages name it.
  let name: String
  /// The result, maybe of a part of the partition only; `nil` if the partition is gone.
  let result: SyncResult?
}

/// The end of a pass, or of the reading of a partition in it: the text of a checkpoint.
struct PartitionEnd: Hashable, Codable, Sendable {
  let pass: String
  let date: Date
  /// The reason records may be missing; `nil` if none is.
  let shortfall: Shortfall?

  var isComplete: Bool { shortfall == nil }

  /// The reason if a partition is no longer in the list, and its records are so many that the next pass has to confirm it.
  static let gone = Shortfall(
    .incomplete, "it is gone, and its records may be, too; sync again to confirm it")

  private enum CodingKeys: String, CodingKey { case pass = "done", date = "d", shortfall = "r" }

  init(pass: String, at date: Date, because shortfall: Shortfall? = nil) {
    self.pass = pass
    self.date = date
    self.shortfall = shortfall
  }

  /// `nil` for any other text.
  init?(_ text: String?) {
    guard let text, let end = try? JSONText(Data(text.utf8))?.read(PartitionEnd.self) else {
      return nil
    }
    self = end
  }

  var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }
}
