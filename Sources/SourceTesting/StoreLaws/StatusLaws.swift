import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  static let statusCounts = StoreLaw(
    "status-counts", "The status counts records, deletions, removals and pages."
  ) { trial, store, source throws(SourceError) in
    var empty = StoreStatus()
    trial.expect(try await store.status(of: source), empty, at: "status of an unknown source")
    _ = try await store.delete(["never"], of: source, at: .law())
    empty.deleted = 1
    trial.expect(
      try await store.status(of: source).withoutHistory, empty, at: "status of one deletion")
    let ids = ["a", "b", "c", "d", "e", "f"]
    try await store.save(ids.map { StoreEntry($0) }, of: source, page: "1", at: 7)
    try await store.save([], of: source, page: "2", at: 3)
    _ = try await store.delete(["b", "c", "x"], of: source, at: .law(8))
    // Of the two that are removed, one is deleted.
    _ = try await store.pass(["a", "b", "d", "e"], of: source, at: 5)
    var expected = StoreStatus()
    (expected.records, expected.hidden, expected.deleted) = (3, 1, 4)
    (expected.removedUpstream, expected.pages, expected.fetchedAt) = (2, 2, .law(7))
    expected.lastPosition = try await store.record("f", of: source)?.position ?? -1
    trial.expect(try await trial.other.status(of: source).withoutHistory, expected, at: "status")
    _ = try await store.restore(["b", "c"], of: source)
    try await store.save([StoreEntry("f")], of: source)
    (expected.records, expected.hidden, expected.deleted) = (5, 0, 2)
    expected.removedUpstream = 1
    trial.expect(
      try await store.status(of: source).withoutHistory, expected, at: "status after restoring")
    let update = CheckpointUpdate("at", from: nil, to: "1")
    try await store.save([], of: source, update: update, at: 9)
    trial.expect(
      try await store.status(of: source).fetchedAt, .law(9),
      at: "status after a checkpoint has moved: fetchedAt")
  }

  static let clearForgets = StoreLaw(
    "clear-forgets", "Clearing a source removes all but its deletions, and reuses no position."
  ) { trial, store, source throws(SourceError) in
    try await store.clear(source, forgetsDeleted: true)
    let ids = (0..<20).map { "r\($0)" }
    let update = CheckpointUpdate("at", from: nil, to: "1")
    try await store.save(ids.map { StoreEntry($0) }, of: source, page: "1", update: update)
    // A pass that saw too little, whose notes must go as well.
    _ = try await store.pass(["r0"], of: source)
    _ = try await store.delete(["r1", "x"], of: source, at: .law())
    let last = try await store.status(of: source).lastPosition
    try await store.clear(source, forgetsDeleted: false)
    var expected = StoreStatus()
    let status = try await trial.other.status(of: source)
    (expected.deleted, expected.lastPosition) = (2, max(last, status.lastPosition))
    trial.expect(status, expected, at: "status, cleared")
    trial.expect(try await store.ids(of: source), [], at: "records, cleared")
    trial.expect(try await store.ids("text", of: source), [], at: "search, cleared")
    trial.expect(try await store.record("r0", of: source), nil, at: "record(\"r0\"), cleared")
    trial.expect(try await store.page("1", of: source), nil, at: "page(\"1\"), cleared")
    trial.expect(try await store.checkpoint("at", of: source), nil, at: "checkpoint, cleared")
    try await store.save(ids.map { StoreEntry($0, 1) }, of: source)
    let records = try await store.all(of: source)
    trial.expect(
      records.map(\.text), ids.filter { $0 != "r1" }.map { "\($0) 1" }, at: "records, saved again")
    trial.expect(
      (records.first?.position ?? 0) > last, "positions after \(last)",
      at: "records, saved again, from \(records.first?.position ?? 0)")
    let pass = try await store.pass([StoreEntry("r0", 1)], of: source)
    trial.expect(pass.removedUpstream, 0, at: "the first pass that misses many, after clearing")
    try await store.clear(source, forgetsDeleted: true)
    trial.expect(try await store.status(of: source).deleted, 0, at: "deletions, cleared")
    try await store.save([StoreEntry("r1")], of: source)
    trial.expect(try await store.ids(of: source), ["r1"], at: "a record that was deleted once")
  }

  static let renamedMoves = StoreLaw(
    "renamed-moves", "A renamed source keeps all but its pages, and replaces no other one."
  ) { trial, store, source throws(SourceError) in
    guard let store = store as? any ScopeKeepingStore else {
      return trial.context.notApplicable("sources cannot be renamed")
    }
    let (other, new, taken) = (trial.other, "\(source) new", "\(source) taken")
    try await store.save(
      ["a", "b", "c"].map { StoreEntry($0) }, of: source, page: "page",
      update: CheckpointUpdate("mark", from: nil, to: "1"))
    _ = try await store.delete(["b", "unknown"], of: source, at: .law(1))
    try await store.save([StoreEntry("d")], of: taken, page: "page")
    let history = try await store.status(of: source).history
    try await store.rename([(source, taken), (source, new)], droppingPages: true)
    trial.expect(try await other.ids(of: new), ["a", "c"], at: "records, renamed")
    trial.expect(try await other.ids("text", of: new), ["a", "c"], at: "search, renamed")
    trial.expect(
      try await other.deleted(among: ["a", "b", "unknown"], of: new), ["b", "unknown"],
      at: "deleted, renamed")
    trial.expect(try await other.checkpoint("mark", of: new), "1", at: "checkpoint, renamed")
    trial.expect(try await other.status(of: new).history, history, at: "history, renamed")
    trial.expect(try await other.page("page", of: new)?.records.count, nil, at: "page, renamed")
    trial.expect(try await other.ids(of: source), [], at: "records of the old name")
    trial.expect(try await other.ids(of: taken), ["d"], at: "records of a name that was taken")
    trial.expect(
      try await other.page("page", of: taken)?.records.count, 1, at: "page of a name that was taken"
    )
    let names = try await store.names()
    trial.expect(
      [source, new, taken].map(names.contains), [false, true, true],
      at: "names, of the old, the new and the taken one")
    try await store.save([StoreEntry("e")], of: source)
    trial.expect(try await other.ids(of: new), ["a", "c"], at: "records, the old name used again")
    trial.expect(try await other.ids(of: source), ["e"], at: "records of the old name, used again")
  }

  static let historyTells = StoreLaw(
    "history-tells", "A history, if one is kept, tells what has changed since a point of it."
  ) { trial, store, source throws(SourceError) in
    try await store.save(["a", "b", "c", "d", "e"].map { StoreEntry($0, 1) }, of: source, at: 1)
    guard let start = try await store.status(of: source).history else {
      return trial.context.notApplicable("no history is kept")
    }
    trial.expect(start.count, 0, at: "status: history.count")
    func sync(_ numbers: [(String, Int)], at second: Int) async throws(SourceError) {
      let reconciliation = Reconciliation(
        begins: true, completion: .init(lastPosition: .max, minRecordCount: 0))
      let update = CheckpointUpdate("sync", from: nil, to: nil, reconciliation: reconciliation)
      _ = try await store.save(
        StoreBatch(
          numbers.map { StoreEntry($0.0, $0.1) }, update: update, completesSync: true),
        of: source, at: .law(second))
    }
    // "b" is removed and comes back, "c" changes twice, "d" is removed.
    try await sync([("a", 1), ("c", 2), ("d", 1), ("e", 1)], at: 2)
    let middle = try await store.status(of: source).history
    try await sync([("a", 1), ("b", 1), ("c", 3), ("e", 2), ("f", 1)], at: 3)
    var details = StoreEntry("a", 8)
    details.isChange = { _ in false }
    try await store.save([details], of: source, at: 4)
    _ = try await store.delete(["e"], of: source, at: .law(4))
    let sinceStart = ["b as before", "c from 1", "d removed", "f added"]
    let sinceMiddle = ["b added", "c from 2", "d removed", "f added"]
    for (point, expected) in [
      (HistoryStart.mark(start.mark), sinceStart), (.date(.law(1)), sinceStart),
      (.mark(middle?.mark ?? start.mark), sinceMiddle), (.sync, sinceMiddle),
      (.date(.law(2)), sinceMiddle),
      (.date(.law(4)), []),
    ] {
      for limit in [1, 2, 100] {
        trial.expect(
          try await trial.other.changes(of: source, since: point, by: limit), expected,
          at: "changes(since: \(point), limit: \(limit))")
      }
    }
    for (id, expected) in [
      ("a", "first seen 1"), ("b", "first seen 1, removed 2, returned 3"),
      ("c", "first seen 1, changed 2 from 1, changed 3 from 2"),
      ("d", "first seen 1, removed 3"), ("f", "first seen 3"),
    ] {
      trial.expect(
        try await trial.other.history(of: id, in: source, limit: 2)?.text, expected,
        at: "history(of: \"\(id)\")")
    }
    let last = try await store.history(of: "c", in: source, limit: 1)
    trial.expect(
      last?.text, "first seen 1, changed 3 from 2, and more", at: "history(of: \"c\", limit: 1)")
    trial.expect(
      try await store.history(of: "never", in: source, limit: 1), nil,
      at: "history(of: \"never\")")
    let end = try await store.status(of: source).history
    trial.expect(end?.syncedAt, .law(3), at: "status: history.syncedAt")
    trial.expect((end?.count ?? 0) >= 5, "5 changes or more", at: "status: history.count")
    try await store.clearHistory(of: source)
    trial.expect(try await store.status(of: source).history, nil, at: "status, history cleared")
    trial.expect(
      try await store.changes(of: source, since: .mark(start.mark), by: 9), nil,
      at: "changes, history cleared")
    trial.expect(
      try await store.ids(of: source), ["a", "b", "c", "f"], at: "records, history cleared")
    try await store.save([StoreEntry("a", 9)], of: source, at: 5)
    let next = try await store.status(of: source).history
    trial.expect(
      (next?.mark.change ?? 0) > (end?.mark.change ?? 0), "numbers go on",
      at: "history, begun again")
  }

  /// Each is a change after those before it.
  private enum Change: String, CaseIterable {
    case newRecord = "a new record"
    case changedRecord = "a changed record"
    case deletion = "a deletion"
    case restoration = "another deletion and a restored record"
    case unknownDeletion = "the deletion of a record that is not stored"
    case allRestored = "all records restored"
    case removal = "a record that was removed upstream"
    case returned = "a record that has returned"
    case clearing = "the removal of all records"

    func make(in store: any SourceStore, _ source: String) async throws(SourceError) {
      switch self {
      case .newRecord: try await store.save([StoreEntry("a"), StoreEntry("b")], of: source)
      case .changedRecord: try await store.save([StoreEntry("a", 1)], of: source)
      case .deletion: _ = try await store.delete(["b"], of: source, at: .law(1))
      case .restoration:
        _ = try await store.delete(["a"], of: source, at: .law(1))
        _ = try await store.restore(["b"], of: source)
      case .unknownDeletion: _ = try await store.delete(["never"], of: source, at: .law(2))
      case .allRestored: _ = try await store.restore(nil, of: source)
      case .removal: _ = try await store.pass(["a"], of: source)
      case .returned: try await store.save([StoreEntry("b")], of: source)
      case .clearing: try await store.clear(source, forgetsDeleted: true)
      }
    }
  }

  /// No store needs as long, however busy its machine is.
  private static let limit = Duration.seconds(60)

  static let changesNotified = StoreLaw(
    "changes-notified",
    "Everyone who listens is notified of every change, by any process, and the revision is another one."
  ) { trial, _, _ throws(SourceError) in
    for change in Change.allCases {
      let streams = [
        await trial.store.changeNotifications(of: trial.source),
        await trial.other.changeNotifications(of: trial.source),
      ]
      let revision = try await trial.store.revision(of: trial.source)
      try await change.make(in: trial.other, trial.source)
      if let revision {
        trial.expect(
          try await trial.store.revision(of: trial.source) != revision, "another revision",
          at: "revision, \(change.rawValue)")
      }
      for stream in streams {
        let answer = await within(limit) {
          var elements = stream.makeAsyncIterator()
          return await elements.next() != nil
        }
        if change == .newRecord, answer == false {
          return trial.context.notApplicable("changes are not notified")
        }
        trial.expect(
          answer == true, "a notification", at: "changeNotifications, \(change.rawValue)")
      }
    }
  }
}

extension StoreStatus {
  fileprivate var withoutHistory: StoreStatus {
    var status = self
    status.history = nil
    return status
  }
}

extension StoredHistory {
  /// The events as text, with the seconds of the laws, the earliest first.
  fileprivate var text: String {
    func second(_ date: Date) -> Int { Int(date.timeIntervalSince(.law())) }
    let events = events.reversed().map { event in
      let before = event.before.map { StoredRecord(position: 1, json: $0, savedAt: .law()) }
      return "\(event.kind.rawValue) \(second(event.date))"
        + (before.map { " from \($0.number)" } ?? "")
    }
    let texts = ["first seen \(second(firstSeen))"] + events + (hasMore ? ["and more"] : [])
    return texts.joined(separator: ", ")
  }
}

extension SourceStore {
  /// The changes as text, by slices of `limit`: `a added`, `b from 1`, `c removed`, `d as before`.
  fileprivate func changes(
    of source: String, since start: HistoryStart, by limit: Int
  ) async throws(SourceError) -> [String]? {
    var texts: [String] = []
    var (start, position) = (start, Int64(0))
    for _ in 0..<100 {
      let slice = try await changes(of: source, since: start, after: position, limit: limit)
      guard let slice else { return nil }
      texts += slice.changes.map { change in
        let before = change.before.map { StoredRecord(position: 1, json: $0, savedAt: .law()) }
        return switch (change.wasListed, change.record.removedUpstreamAt == nil) {
        case (false, true): "\(change.id) added"
        case (true, false): "\(change.id) removed"
        case (true, true): "\(change.id) \(before.map { "from \($0.number)" } ?? "as before")"
        case (false, false): "\(change.id) never there"
        }
      }
      guard slice.hasMore, let last = slice.changes.last else { break }
      (start, position) = (.mark(slice.start), last.record.position)
    }
    return texts
  }
}
