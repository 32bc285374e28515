import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText
import Synchronization

/// A partition that a sync reads as if it were a list of its own.
struct SyncedPartition: Hashable, Sendable {
  /// The first part of the IDs of its records.
  let key: String
  /// The pass over all partitions.
  let pass: String

  /// The prefix of the IDs of its records.
  var prefix: String { "\(key)/" }

  /// The text of its checkpoint after its last page.
  func end(at date: Date, because shortfall: Shortfall?) -> String {
    PartitionEnd(pass: pass, at: date, because: shortfall).text
  }

  func end(of progress: SyncCheckpoint) -> String {
    let depth = progress.isCut ? Shortfall.depth(progress.rows) : nil
    return end(at: progress.date, because: progress.shortfall(known: 0) ?? depth)
  }
}

/// A sync of a list of partitions, of which several are read at once.
///
/// Workers lease partitions. Whether records were removed upstream is judged for each partition by itself, so that one that
/// the service refuses concerns no other.
extension Sync {
  private enum Event: Sendable {
    case read(ReadPartition)
    case pollIsDue
    case renewalIsDue
  }

  /// A transaction of a worker.
  private struct Step: Sendable {
    /// The pass that it takes part in; `nil` before it has joined one.
    var pass: String?
    var read: [ReadPartition] = []
    var held: [Leases.Lease] = []
    var offer = PartitionOffer()
    /// The number of partitions to lease.
    var count = 0
    var releases = false
  }

  private struct Outcome: Sendable {
    /// `nil` if the pass that the worker had joined is over.
    var pass: PartitionPass?
    var taken: [Leases.Lease] = []
  }

  /// The state of a worker.
  private struct Work {
    let jobs: Int
    /// The most pages to read; `nil` for any number.
    let bound: Int?
    var pass: PartitionPass?
    var queue: [Leases.Lease] = []
    var running: [Leases.Lease] = []
    /// The partitions that were read since the last transaction.
    var read: [ReadPartition] = []
    /// Those that were offered, by their positions.
    var partitions: [Int: Partition] = [:]
    /// The ends of partitions that may be settled, by the names of their checkpoints; `nil` before they are needed.
    var ends: [String: String]?
    var result = SyncResult()
    var failure: SourceError?
    var isWaiting = false
    /// The reason the list may lack partitions.
    var listShortfall: Shortfall?
    /// The number of partitions that the service has refused from the start.
    var refused = 0

    var held: [Leases.Lease] { running + queue + read.map(\.lease) }

    var isStopping: Bool { failure != nil || bound.map { result.pages >= $0 } ?? false }

    /// True if it leases partitions now.
    var takes: Bool { !isStopping && !isWaiting && queue.isEmpty && running.count < jobs }
  }

  /// If the service refuses as many partitions from the start, it refuses all.
  private static var maxRefused: Int { 10 }
  private static var leaseTime: Duration { SharedSync<Item>.leaseTime }

  func run(
    _ list: any PartitionList, upTo pages: Int?, jobs: Int, waits: Bool,
    _ progress: @escaping @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    // One job, so that a bound of pages is exact.
    var work = Work(jobs: pages == nil ? jobs : 1, bound: pages)
    work.result.isPartitioned = true
    do throws(SourceError) {
      let warnings = try await list.refresh(waits: waits)
      work.listShortfall = Shortfall(warnings)
      let reader = PartitionReader(
        sync: self, list: list, waits: waits, progress: PartitionProgress(show: progress))
      let isOver = try await withTaskGroup(of: Event.self) { group in
        defer { group.cancelAll() }
        return await Result { () async throws(SourceError) in
          try await read(&work, in: &group, by: reader)
        }
      }.get()
      if isOver, let pass = work.pass {
        try await conclude(pass, of: list, &work.result)
      }
    } catch {
      work.result.failure = error
    }
    // Also if the task is cancelled: otherwise others wait until the leases expire.
    if !work.held.isEmpty {
      let step = Step(pass: work.pass?.id, read: work.read, held: work.held, releases: true)
      await Task { _ = try? await perform(step) }.value
    }
    return work.result
  }

  /// Reads partitions until all are read, or this worker may not read more; true if the pass is over, and must be concluded.
  private func read(
    _ work: inout Work, in group: inout TaskGroup<Event>, by reader: PartitionReader<Item>
  ) async throws(SourceError) -> Bool {
    addPause(Self.leaseTime / 3, then: .renewalIsDue, to: &group)
    while true {
      let takes = work.takes
      if takes || work.read.count >= work.jobs || work.running.isEmpty && !work.read.isEmpty {
        guard try await step(&work, reader, takes: takes) else { return false }
        if takes, work.queue.isEmpty, work.read.isEmpty, work.pass?.isOver == false {
          // Others are at the rest.
          work.isWaiting = true
          addPause(.milliseconds(500), then: .pollIsDue, to: &group)
        }
      }
      while !work.isStopping, work.running.count < work.jobs, !work.queue.isEmpty {
        let lease = work.queue.removeFirst()
        work.running.append(lease)
        // Both are there as long as a lease is.
        guard let id = work.pass?.id, let partition = work.partitions[lease.place] else { continue }
        let left = work.bound.map { $0 - work.result.pages }
        group.addTask { await .read(reader.read(partition, lease, in: id, upTo: left)) }
      }
      if work.running.isEmpty {
        guard work.read.isEmpty else { continue }
        if let failure = work.failure { throw failure }
        if work.pass?.isOver == true { return true }
        if work.isStopping { return false }
        if work.takes { continue }
      }
      guard !Task.isCancelled, let event = await group.next() else { throw .cancelled }
      switch event {
      case .read(let read):
        take(read, &work)
        // Records that the others have stored stay.
        if work.failure != nil { group.cancelAll() }
      case .pollIsDue: work.isWaiting = false
      case .renewalIsDue:
        guard work.failure == nil else { continue }
        addPause(Self.leaseTime / 3, then: .renewalIsDue, to: &group)
        guard try await step(&work, reader, takes: false) else { return false }
      }
    }
  }

  private func addPause(_ time: Duration, then event: Event, to group: inout TaskGroup<Event>) {
    group.addTask { [clock] in
      try? await clock.sleep(for: time)
      return event
    }
  }

  /// Takes note of a partition that was read, or of a part of it.
  private func take(_ read: ReadPartition, _ work: inout Work) {
    work.running.removeAll { $0 == read.lease }
    guard let result = read.result else {
      work.read.append(read)
      return
    }
    work.result.add(result)
    if result.isSkipped { work.result.skippedPartitions.append(read.name) }
    guard result.hasEnded else {
      // Its progress is stored. Whoever leases it next goes on there.
      work.queue.insert(read.lease, at: 0)
      work.failure = work.failure ?? result.failure
      return
    }
    work.read.append(read)
    guard work.refused >= 0 else { return }
    work.refused = result.passed == 0 && result.shortfall != nil ? work.refused + 1 : -1
    if work.refused == Self.maxRefused {
      work.failure = SourceError(
        .rejected,
        "none of the first \(Self.maxRefused) lists can be read: \(result.inconclusiveReason ?? "")"
      )
    }
  }

  // MARK: - Transactions

  /// Notes what was read, and leases more if it `takes`; false if another worker has concluded the pass.
  private func step(
    _ work: inout Work, _ reader: PartitionReader<Item>, takes: Bool
  ) async throws(SourceError) -> Bool {
    var step = Step(pass: work.pass?.id, read: work.read, held: work.held)
    if takes {
      step.count = 2 * work.jobs - work.running.count
      step.offer = try await offer(step.count, of: reader.list, &work)
      step.offer.held = recordStore.store.isShared ? nil : work.held
    }
    step.offer.doubt = work.listShortfall
    let outcome = try await perform(step)
    guard let pass = outcome.pass else {
      try await takeEnd(of: work.pass?.id, &work.result)
      (work.queue, work.read) = ([], [])
      return false
    }
    if work.pass == nil { work.result.earlierPages = pass.pages }
    work.pass = pass
    for read in work.read { work.partitions[read.lease.place] = nil }
    work.read = []
    if recordStore.store.isShared {
      let others = pass.leases.workers(at: now()).keys.filter { $0 != worker }
      work.result.otherWorkers.formUnion(others)
    }
    for lease in outcome.taken {
      if work.partitions[lease.place] == nil {
        // An earlier run, or another worker, had begun it.
        work.partitions[lease.place] = try await reader.list.partition(
          at: Int64(lease.place))
      }
      if work.partitions[lease.place] == nil {
        // It is gone by now.
        work.read.append(ReadPartition(lease: lease, name: "", result: nil))
      } else {
        work.queue.append(lease)
      }
    }
    return true
  }

  /// The partitions that come next and need to be read.
  private func offer(
    _ count: Int, of list: any PartitionList, _ work: inout Work
  ) async throws(SourceError) -> PartitionOffer {
    var offer = PartitionOffer()
    let known = work.pass == nil ? try await storedPass() : work.pass
    var position = Int64(known?.next ?? 0)
    while offer.places.count < count, !offer.isEnd, known?.isListed != true {
      // The list of the service was fetched before.
      let slice = try await list.partitions(after: position, limit: count, cachePolicy: .offline)
      work.listShortfall = work.listShortfall ?? Shortfall(slice.warnings)
      offer.isEnd = slice.partitions.isEmpty
      for partition in slice.partitions {
        position = partition.position
        if try await isSettled(partition, &work) {
          offer.skips = true
        } else {
          offer.places.append(Int(partition.position))
          work.partitions[Int(partition.position)] = partition
        }
      }
    }
    return offer
  }

  private func isSettled(
    _ partition: Partition, _ work: inout Work
  ) async throws(SourceError) -> Bool {
    guard let settled = partition.settled, !readsEverything else { return false }
    var ends = work.ends
    if ends == nil { ends = try await storedEnds() }
    work.ends = ends
    guard let end = PartitionEnd(ends?["\(checkpointName) \(partition.key)"]) else { return false }
    // A date in the future is that of a wrong clock.
    return end.isComplete && (settled...max(settled, now())).contains(end.date)
  }

  private func storedPass() async throws(SourceError) -> PartitionPass? {
    try await recordStore.store.checkpoint(checkpointName, of: recordStore.source)
      .flatMap { PartitionPass($0, at: now()) }
  }

  /// The checkpoints of all partitions, by their names.
  func storedEnds() async throws(SourceError) -> [String: String] {
    try await recordStore.store.checkpoints(
      of: recordStore.source, startingWith: "\(checkpointName) ")
  }

  private func perform(_ step: Step) async throws(SourceError) -> Outcome {
    let outcome = Mutex(Outcome())
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    var batch = StoreBatch([])
    batch.decision = CheckpointDecision(name: checkpointName) { text, time in
      let now = time ?? now()
      let stored = text.flatMap { PartitionPass($0, at: now) }
      let (update, found) = decide(step, stored ?? PartitionPass(id: id, at: now), from: text, now)
      outcome.withLock { $0 = found }
      return update.map { ($0, false) }
    }
    _ = try await recordStore.save(batch, at: now())
    return outcome.withLock(\.self)
  }

  private func decide(
    _ step: Step, _ stored: PartitionPass, from text: String?, _ now: Date
  ) -> (update: CheckpointUpdate?, outcome: Outcome) {
    guard step.pass == nil || step.pass == stored.id else { return (nil, Outcome()) }
    var outcome = Outcome()
    var pass = stored
    let end = now + Self.leaseTime
    for read in step.read { pass.finish(read, by: changes?.tracking, at: now) }
    if step.releases {
      pass.leases.release(step.held)
    } else {
      pass.leases.renew(step.held, at: now, until: end)
    }
    outcome.taken = pass.lease(step.count, of: step.offer, to: worker, from: now, until: end)
    outcome.pass = pass
    return (CheckpointUpdate(checkpointName, from: text, to: pass.text), outcome)
  }
}

/// Reads one partition.
private struct PartitionReader<Item: SourceRecord>: Sendable {
  let sync: Sync<Item>
  let list: any PartitionList
  let waits: Bool
  let progress: PartitionProgress

  /// Reads a partition from where it was left, up to so many pages.
  func read(
    _ partition: Partition, _ lease: Leases.Lease, in pass: String, upTo pages: Int?
  ) async -> ReadPartition {
    var sync = sync
    sync.partitions = nil
    sync.partition = SyncedPartition(key: partition.key, pass: pass)
    sync.base = source(of: partition, in: sync.base)
    sync.changes = sync.changes.map { changes in
      ChangeSource(changes.tracking) { since throws(SourceError) in
        source(of: partition, in: try changes.list(since))
      }
    }
    let result = await sync.runPartition(upTo: pages, waits: waits) { result in
      progress.note(result, of: lease.place)
    }
    progress.end(lease.place, result)
    let name = partition.value.oneLine(atMost: 80)
    return ReadPartition(lease: lease, name: name, result: result)
  }

  private func source(
    of partition: Partition, in all: any DataSource<Item>
  ) -> any DataSource<Item> {
    SinglePartition(
      partition, of: list, named: sync.recordStore.source, over: all, now: sync.now)
  }
}

extension Sync {
  /// Reads the partition, if it was not read in the same pass before.
  fileprivate func runPartition(
    upTo pages: Int?, waits: Bool, _ progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    do throws(SourceError) {
      let stored = try await recordStore.store.checkpoint(checkpointName, of: recordStore.source)
      if let end = PartitionEnd(stored), end.pass == partition?.pass {
        var result = SyncResult()
        (result.isComplete, result.shortfall) = (end.isComplete, end.shortfall)
        return result
      }
      if let changes, let state = try await changeState(), !isFullDue(state) {
        return await runChanges(changes, upTo: pages, jobs: 1, waits: waits, progress)
      }
    } catch {
      var result = SyncResult()
      result.failure = error
      return result
    }
    return await run(upTo: pages, jobs: 1, waits: waits, isDivided: false, progress).result
  }
}

/// The progress of the partitions that are being read at once.
private final class PartitionProgress: Sendable {
  private struct Sums {
    var ended = SyncResult()
    var running: [Int: SyncResult] = [:]
  }

  private let sums = Mutex(Sums())
  private let show: @Sendable (SyncResult) -> Void

  init(show: @escaping @Sendable (SyncResult) -> Void) { self.show = show }

  func note(_ result: SyncResult, of place: Int) {
    let all = sums.withLock { sums in
      sums.running[place] = result
      var all = sums.ended
      for part in sums.running.values { all.add(part) }
      return all
    }
    show(all)
  }

  func end(_ place: Int, _ result: SyncResult) {
    sums.withLock { sums in
      sums.running[place] = nil
      sums.ended.add(result)
    }
  }
}

extension SyncResult {
  /// Adds the result of a partition.
  fileprivate mutating func add(_ part: SyncResult) {
    added += part.added
    changed += part.changed
    unchanged += part.unchanged
    removedUpstream += part.removedUpstream
    pages += part.pages
    passed += part.passed
    repeated += part.repeated
    unreadable = unreadable + part.unreadable
    warnings.addThoseOfValues(in: part.warnings)
    needsConfirmation = needsConfirmation || part.needsConfirmation
    fullReason = fullReason ?? part.fullReason
  }
}
