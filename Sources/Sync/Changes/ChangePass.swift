package import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText

/// Lists of what has changed.
package struct ChangeSource<Item: SourceRecord>: Sendable {
  package let tracking: ChangeTracking
  /// The source of the records that changed at a time or later, given as ``ChangeTracking`` writes it.
  package let list: @Sendable (_ since: String) throws(SourceError) -> any DataSource<Item>

  package init(
    _ tracking: ChangeTracking,
    list: @escaping @Sendable (_ since: String) throws(SourceError) -> any DataSource<Item>
  ) {
    self.tracking = tracking
    self.list = list
  }
}

/// A sync of what has changed: it adds and changes records, and removes none.
///
/// Its progress is stored with each page, so that a run that ends at any moment reads at most one page again.
extension Sync {
  /// The end of a pass over changed records, or of a part of it.
  private enum ChangeEnd {
    case complete
    /// As many pages as the bound allows were read.
    case bounded
    /// Another process has moved the state.
    case moved
    /// Everything must be read: because the service sent what had not changed since, or the state is lost.
    case full(reason: String?)
  }

  var collection: String {
    switch mode {
    case .full(let collection), .endless(let collection): collection
    }
  }

  private var changesName: String { name(ChangeState.checkpoint) }

  /// The collection with the field of its marks.
  private var markedCollection: String {
    [collection, changes?.tracking.field].compactMap(\.self).joined(separator: " ")
  }

  /// The progress of incremental syncs; `nil` before a complete pass over everything, and while one is under way.
  func changeState() async throws(SourceError) -> ChangeState? {
    let (store, source) = (recordStore.store, recordStore.source)
    guard isFull, let text = try await store.checkpoint(changesName, of: source) else {
      return nil
    }
    let pass = try await store.checkpoint(checkpointName, of: source)
    if partition == nil {
      guard pass == nil, try await store.checkpoint(Coverage.checkpoint, of: source) != nil else {
        return nil
      }
    } else if pass != nil, PartitionEnd(pass) == nil {
      return nil
    }
    return ChangeState(text, of: markedCollection)
  }

  /// The mark from which on a run now asks for changes; `nil` if it reads everything.
  package func plannedMark() async throws(SourceError) -> String? {
    guard changes != nil, let state = try await changeState(), !isFullDue(state) else { return nil }
    return state.mark
  }

  func isFullDue(_ state: ChangeState) -> Bool {
    guard let tracking = changes?.tracking, !readsEverything else { return true }
    return state.isFullDue(tracking, at: now())
  }

  /// Takes note of a complete pass over everything, after which changes are enough.
  func noteFull(
    _ changes: ChangeSource<Item>, _ result: inout SyncResult
  ) async throws(SourceError) {
    let mark = result.marks?.mark(by: changes.tracking)
    if mark == nil, result.passed > 0 {
      result.fullReason = "no record has the time of a change before now"
    }
    let state = mark.map { ChangeState(collection: markedCollection, mark: $0, full: now()) }
    try await note(changesName, state?.text)
  }

  /// Takes note of the time of a pass over what has changed in the partitions, each of which has a mark of its own.
  func noteChanges(since mark: String, full: Date) async throws(SourceError) {
    var state = ChangeState(collection: markedCollection, mark: mark, full: full)
    state.last = now()
    try await note(changesName, state.text)
  }

  /// Reads what has changed, or everything if the service does not keep to what it was asked.
  func runChanges(
    _ changes: ChangeSource<Item>, upTo pages: Int?, jobs: Int, waits: Bool,
    _ progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    var result = SyncResult()
    result.kind = .incremental
    var reason: String?
    let isOver = await retrying(waits: waits, &result) { result throws(SourceError) in
      switch try await fetchChanges(
        changes, upTo: pages.map { $0 - result.pages }, &result, progress)
      {
      case .complete, .bounded: return .over
      case .moved: return .again
      case .full(let why):
        reason = why
        return .other
      }
    }
    guard !isOver else { return result }
    var (full, _) = await run(
      upTo: pages.map { max(1, $0 - result.pages) }, jobs: jobs, waits: waits, isDivided: false,
      progress)
    full.fullReason = reason ?? full.fullReason
    full.pages += result.pages
    full.added += result.added
    full.changed += result.changed
    return full
  }

  private func fetchChanges(
    _ changes: ChangeSource<Item>, upTo bound: Int?, _ result: inout SyncResult,
    _ progress: (SyncResult) -> Void
  ) async throws(SourceError) -> ChangeEnd {
    let stored = try await recordStore.store.checkpoint(changesName, of: recordStore.source)
    guard let stored, let state = ChangeState(stored, of: markedCollection) else {
      return .full(reason: nil)
    }
    var walk = ChangeWalk(state, by: changes.tracking, size: size, at: now())
    result.earlierPages = walk.pass.pages
    (result.changedSince, result.lastFull) = (state.mark, state.full)
    var (text, read) = (stored, 0)
    var since = walk.pass.since
    var base = try changes.list(since)
    while true {
      guard bound.map({ read < $0 }) ?? true else { return .bounded }
      if walk.pass.since != since {
        since = walk.pass.since
        base = try changes.list(since)
      }
      let source = EncodingSource(base: base, recordStore: recordStore)
      let page: Page<EncodedRecord<Item>>
      do throws(SourceError) {
        page = try await source.page(PageRequest(after: walk.pass.cursor, limit: size))
      } catch .invalidCursor where walk.restarts() {
        result.hasRestarted = true
        continue
      }
      guard !page.isUnreadable else { throw .unreadable(page.unreadable) }
      guard !walk.isIgnored(page) else {
        let name = changes.tracking.parameter
        return .full(reason: "the service ignores \(name): it sent records that had not changed")
      }
      if page.warnings.contains(where: { $0.code == .skippedPartition }) { result.isSkipped = true }
      let isLast = try walk.take(page, at: now())
      let next = walk.state(isLast ? now() : nil)
      let saved = try await recordStore.save(
        StoreBatch(
          recordStore.entries(page.records),
          update: CheckpointUpdate(
            changesName, from: text, to: next.text, replacesPages: isLast && partition == nil),
          completesSync: isLast && partition == nil && walk.pass.shortfall == nil),
        at: now())
      read += 1
      result.add(saved, page)
      guard saved.didMoveCheckpoint else { return .moved }
      text = next.text
      if isLast {
        result.shortfall = walk.pass.shortfall
        result.isComplete = result.shortfall == nil
        result.schema = walk.pass.schema
        if partition == nil {
          try await noteShortfall(of: result)
          try await noteSchema(walk.pass.schema, ofAll: false, &result)
        }
      }
      progress(result)
      if isLast { return .complete }
    }
  }
}

extension SyncResult {
  fileprivate mutating func add(_ changes: StoreChanges, _ page: Page<some SourceRecord>) {
    add(changes)
    pages += 1
    passed += page.records.count
    unreadable = unreadable + page.unreadable
    warnings.addThoseOfValues(in: page.warnings)
  }
}

/// The way through the pages of what has changed.
private struct ChangeWalk {
  private let tracking: ChangeTracking
  private let start: ChangeState
  /// The number of rows that a page is asked to have.
  private let size: Int
  /// That of the largest page: a service may send fewer than it is asked for.
  private var largest = 0
  private(set) var pass: ChangeState.Pass
  private var hasRestarted = false

  // Of the requests with the present parameter.
  /// The records so far: one that comes twice has moved, and others with it.
  private var seen: Set<RecordKey> = []
  private var total: Int?
  /// The marks so far, in a list in ascending order, and the last one.
  private var marks: [String] = []
  private var lastMark: String?
  /// The least total that they have if the list is in ascending order: all but what was passed by its mark.
  private var minTotal: Int?
  /// The requests so far, so that a service that leads in circles is not read for ever.
  private var cursors: Set<PageCursor?> = []

  /// The order that the pages have kept to.
  private var order: ChangeTracking.Order? { pass.isUnordered ? nil : tracking.order }

  init(_ state: ChangeState, by tracking: ChangeTracking, size: Int, at now: Date) {
    self.tracking = tracking
    self.size = size
    start = state
    pass = state.pass(by: tracking, at: now)
    // Nothing is known of the records before this page, which may have moved since.
    if pass.cursor != nil, order != .descending { noteMoves() }
  }

  /// Begins the present requests again, because their place is no longer valid; false if that has been tried.
  mutating func restarts() -> Bool {
    guard pass.cursor != nil, !hasRestarted else { return false }
    hasRestarted = true
    request(since: pass.since)
    return true
  }

  private mutating func request(since: String) {
    minTotal = total.map { $0 - marks.count { tracking.isEarlier($0, than: since) } }
    (pass.since, pass.cursor) = (since, nil)
    (seen, total, marks, lastMark, cursors) = ([], nil, [], nil, [])
  }

  /// Takes note that a record may have moved past the reader.
  private mutating func noteMoves() {
    let limit = pass.limit ?? pass.since
    pass.limit = tracking.isEarlier(limit, than: pass.since) ? limit : pass.since
  }

  /// True if a page has records that were not asked for.
  func isIgnored(_ page: Page<some SourceRecord>) -> Bool {
    // Without a parameter, a list in descending order is read until such a record.
    guard tracking.order != .descending else { return false }
    return page.changeMarks.contains { mark in
      mark.map { tracking.isEarlier($0, thanAskedBy: pass.since) } ?? false
    }
  }

  /// Goes on after a page; true if it is the last.
  mutating func take<Item: SourceRecord>(
    _ page: Page<EncodedRecord<Item>>, at date: Date
  ) throws(SourceError) -> Bool {
    guard cursors.insert(pass.cursor).inserted else { throw .noProgress(.cycle(length: 1)) }
    let marks = page.changeMarks.compactMap(\.self)
    add(marks, at: date)
    noteMoves(by: page)
    pass.schema = pass.schema.merged(with: page.schema)
    pass.unread =
      pass.unread ?? .unreadable(page.unreadable.count) + Shortfall(page.warnings)
    let isShort = minTotal.map { page.total ?? $0 < $0 } ?? false
    if let order, isShort || !tracking.isSorted([lastMark].compactMap(\.self) + marks, order) {
      pass.isUnordered = true
      let since = start.start(by: tracking)
      guard pass.since == since else {
        // Records passed by its mark may not have been read.
        request(since: since)
        minTotal = nil
        return false
      }
    }
    lastMark = marks.last ?? lastMark
    guard let next = page.next else { return true }
    let count = page.records.count + page.unreadable.count
    let isFull = count >= size || count == largest
    largest = max(largest, count)
    switch order {
    case .descending:
      if let last = marks.last, tracking.isEarlier(last, thanAskedBy: pass.since) { return true }
    case .ascending:
      // From the last mark on, and not by the place in a list whose records move; a short page is probably the last.
      if isFull, let latest = marks.last {
        let since = tracking.parameter(for: latest, less: tracking.overlap)
        // Unless that would repeat more records than it passes.
        let repeated = self.marks.count { !tracking.isEarlier($0, than: since) }
        if repeated * 2 <= self.marks.count, tracking.isEarlier(pass.since, than: since) {
          request(since: since)
          return false
        }
      }
    case nil: break
    }
    pass.cursor = next
    return false
  }

  private mutating func add(_ marks: [String], at date: Date) {
    let latest = tracking.latest(of: marks, at: date)
    if pass.marks == nil {
      pass.marks = SeenMarks(first: latest, at: date)
    } else {
      pass.marks?.add(latest, by: tracking, at: date)
    }
    pass.pages += 1
    if order == .ascending { self.marks += marks }
  }

  /// Takes note of a page that shows that the list has changed between two requests.
  private mutating func noteMoves<Item: SourceRecord>(by page: Page<EncodedRecord<Item>>) {
    let difference = (page.total ?? 0) - (total ?? page.total ?? 0)
    total = page.total ?? total
    var hasRepeated = false
    for record in page.records where !seen.insert(record.key).inserted { hasRepeated = true }
    // A changed record moves to the beginning of a list in descending order, and others back.
    guard order == .descending ? difference < 0 : hasRepeated || difference != 0 else { return }
    noteMoves()
    pass.moved = Shortfall(.incomplete, "the list changed during the sync")
  }

  /// The state after the last page, at whose time the pass ended; `nil` if it goes on.
  func state(_ end: Date?) -> ChangeState {
    var state = start
    guard let end else {
      state.pass = pass
      return state
    }
    state.pass = nil
    guard pass.unread == nil else { return state }
    if pass.moved == nil { state.last = end }
    let mark =
      pass.limit ?? (order == .ascending ? pass.marks?.latest : pass.marks?.mark(by: tracking))
    if let mark, tracking.isEarlier(state.mark, than: mark) { state.mark = mark }
    return state
  }
}
