import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  static let deletionsLast = StoreLaw(
    "deletions-last", "A deleted ID, stored or not, stays hidden until it is restored."
  ) { trial, store, source throws(SourceError) in
    try await store.save(["a", "b", "c"].map { StoreEntry($0) }, of: source, page: "page")
    trial.expect(
      Set(try await store.delete(["a", "unknown"], of: source, at: .law())), ["a", "unknown"],
      at: "delete([\"a\", \"unknown\"])")
    trial.expect(
      try await store.delete(["unknown", "b", "a"], of: source, at: .law(1)), ["b"],
      at: "delete, of which one is new")
    trial.expect(try await store.ids(of: source), ["c"], at: "records")
    trial.expect(try await store.ids("text", of: source), ["c"], at: "search")
    try await store.save([StoreEntry("a", 1), StoreEntry("unknown")], of: source, at: 2)
    trial.expect(try await store.ids(of: source), ["c"], at: "records after saving deleted ones")
    trial.expect(try await store.record("a", of: source)?.text, "a 1", at: "record(\"a\"), deleted")
    trial.expect(
      try await store.page("page", of: source)?.records.map(\.text), ["a 1", "b 0", "c 0"],
      at: "page with deleted records")
    let ids = ["a", "c", "unknown", "never"]
    trial.expect(
      try await trial.other.deleted(among: ids, of: source), ["a", "unknown"],
      at: "deleted(among: \(ids))")
    trial.expect(try await store.deleted(among: [], of: source), [], at: "deleted(among: [])")
    trial.expect(try await store.restore(["a", "c"], of: source), ["a"], at: "restore of one")
    trial.expect(try await store.ids(of: source), ["a", "c"], at: "records after one was restored")
    trial.expect(
      Set(try await store.restore(nil, of: source)), ["b", "unknown"], at: "restore of all")
    trial.expect(try await store.restore(nil, of: source), [], at: "restore where none is deleted")
    trial.expect(
      try await store.ids(of: source), ["a", "b", "c", "unknown"], at: "records after restoring all"
    )
  }

  static let deletionsOrdered = StoreLaw(
    "deletions-ordered", "Deletions are listed in the order of their UTF-8 bytes, by any page size."
  ) { trial, store, source throws(SourceError) in
    let ids = [
      "A", "B", "Z", "_", "a", "a\u{0}", "a\u{0}b", "a\u{1}", "a\u{1}b", "a b", "aa", "a😀", "b",
      "e\u{301}", "z", "ä", "é", "字", "\u{FFFF}", "😀",
    ]
    var generator = SeededGenerator(1)
    _ = try await store.delete(ids.shuffled(using: &generator), of: source, at: .law())
    try await store.save([StoreEntry("a", 5), StoreEntry("listed")], of: source)
    for limit in [1, 2, 7, 20, 100] {
      var found: [StoredDeletion] = []
      for _ in 0..<30 {
        let page = try await store.deletions(of: source, after: found.last?.id, limit: limit)
        trial.expect(page.count <= limit, "at most \(limit)", at: "deletions(limit: \(limit))")
        found += page
        guard !page.isEmpty else { break }
      }
      trial.expect(
        found.map { Array($0.id.utf8) }, ids.map { Array($0.utf8) },
        at: "deletions(limit: \(limit))")
      trial.expect(
        found.compactMap(\.record).map(\.text), ["a 5"], at: "records of deletions(limit: \(limit))"
      )
    }
    trial.expect(
      try await store.deletions(of: source, after: "aaa", limit: 1).map(\.id), ["a😀"],
      at: "deletions(after: \"aaa\"), which is no deletion")
  }

  static let removalsFound = StoreLaw(
    "removals-found", "A record that a complete pass does not see is removed, until it is back."
  ) { trial, store, source throws(SourceError) in
    let other = trial.other
    try await store.save(["a", "b", "c", "d"].map { StoreEntry($0) }, of: source)
    let last = try await store.status(of: source).lastPosition
    func step(
      _ ids: [String], in store: any SourceStore, from: String?, to: String?, at second: Int
    ) async throws(SourceError) -> StoreChanges {
      let reconciliation = Reconciliation(
        begins: from == nil,
        completion: to == nil ? .init(lastPosition: last, minRecordCount: 3) : nil)
      return try await store.save(
        ids.map { StoreEntry($0) }, of: source,
        update: CheckpointUpdate("sync", from: from, to: to, reconciliation: reconciliation),
        at: second)
    }
    // Seen by a pass that was given up, so that it counts for nothing.
    _ = try await step(["b"], in: store, from: nil, to: "x", at: 1)
    try await store.save([], of: source, update: CheckpointUpdate("sync", from: "x", to: nil))
    _ = try await step(["a"], in: store, from: nil, to: "1", at: 2)
    // First seen by another caller while the pass goes on.
    try await other.save([StoreEntry("late")], of: source, at: 2)
    _ = try await step(["c", "new"], in: other, from: "1", to: "2", at: 3)
    let changes = try await step(["d"], in: store, from: "2", to: nil, at: 4)
    trial.expect(changes.removedUpstream, 1, at: "a pass that missed \"b\": removedUpstream")
    trial.expect(changes.unconfirmedRemovals, nil, at: "a pass that missed \"b\": unconfirmed")
    trial.expect(changes.incompleteSeenCount, nil, at: "a pass that missed \"b\": incomplete")
    trial.expect(try await store.ids(of: source), ["a", "c", "d", "late", "new"], at: "records")
    trial.expect(
      try await store.ids("text", of: source), ["a", "c", "d", "late", "new"], at: "search")
    trial.expect(
      try await other.record("b", of: source)?.removedUpstreamAt, .law(4),
      at: "record(\"b\"), removed upstream")
    let back = try await other.save([StoreEntry("b")], of: source, at: 5)
    trial.expect([back.changed, back.unchanged], [1, 0], at: "save of a record that is back")
    let record = try await store.record("b", of: source)
    trial.expect(record?.removedUpstreamAt, nil, at: "record(\"b\"), back: removedUpstreamAt")
    trial.expect(
      try await store.ids(of: source), ["a", "b", "c", "d", "late", "new"], at: "records, all back")
    trial.expect(try await store.status(of: source).removedUpstream, 0, at: "status, all back")
  }

  static let removalsOfPart = StoreLaw(
    "removals-of-part", "A pass over the IDs with a prefix removes none that has another."
  ) { trial, store, source throws(SourceError) in
    let ids = ["a/1", "a/2", "a", "a-/1", "a0/1", "a/\u{10FFFE}", "b/1"]
    try await store.save(ids.map { StoreEntry($0) }, of: source)
    let last = try await store.status(of: source).lastPosition
    func pass(
      _ name: String, seeing ids: [String], of prefix: String, allowingNone: Bool = false
    ) async throws(SourceError) -> StoreChanges {
      var completion = Reconciliation.Completion(lastPosition: last, minRecordCount: ids.count)
      completion.allowsNone = allowingNone
      var update = CheckpointUpdate(
        name, from: try await store.checkpoint(name, of: source), to: "done",
        reconciliation: Reconciliation(begins: true, completion: completion, of: prefix))
      update.toIfInconclusive = "doubtful"
      return try await store.save(ids.map { StoreEntry($0) }, of: source, update: update)
    }
    let first = try await pass("sync a", seeing: ["a/1"], of: "a/")
    trial.expect(first.removedUpstream, 2, at: "a pass that saw one of \"a/\": removedUpstream")
    trial.expect(
      try await store.ids(of: source), ["a/1", "a", "a-/1", "a0/1", "b/1"], at: "records")
    // The checkpoint stays, but what it has seen is forgotten.
    let again = try await pass("sync a", seeing: ["a/1"], of: "a/")
    trial.expect(again.removedUpstream, 0, at: "the same pass again: removedUpstream")
    let none = try await pass("sync b", seeing: [], of: "b/")
    trial.expect(none.unconfirmedRemovals?.missing, 1, at: "a pass that saw none of \"b/\"")
    trial.expect(
      try await store.checkpoint("sync b", of: source), "doubtful", at: "checkpoint after it")
    let gone = try await pass("sync b", seeing: [], of: "b/", allowingNone: true)
    trial.expect(gone.removedUpstream, 1, at: "a pass that may see none: removedUpstream")
    let names = try await trial.other.checkpoints(of: source, startingWith: "sync ")
    trial.expect(names, ["sync a": "done", "sync b": "done"], at: "checkpoints(startingWith:)")
    trial.expect(
      try await store.checkpoints(of: source, startingWith: "sync a"), ["sync a": "done"],
      at: "checkpoints(startingWith: \"sync a\")")
  }

  static let removalsConfirmed = StoreLaw(
    "removals-confirmed",
    "If suspiciously many records are missing, or all, only a second pass proves it."
  ) { trial, store, _ throws(SourceError) in
    let ids = (0..<150).map { "r\($0)" }
    // The number of records, of those that a pass misses, and true if they are too many.
    for (count, missing, isSuspicious) in [
      (40, 10, false), (40, 11, true), (150, 15, false), (150, 16, true), (20, 20, true),
      (1, 1, true),
    ] {
      let source = "\(trial.source), \(missing) of \(count)"
      let call = "a pass that misses \(missing) of \(count)"
      let known = Array(ids.prefix(count))
      try await store.save(known.map { StoreEntry($0) }, of: source)
      let seen = Array(known.dropFirst(missing))
      let first = try await store.pass(seen, of: source)
      trial.expect(
        first.unconfirmedRemovals, isSuspicious ? .init(missing: missing, known: count) : nil,
        at: call)
      trial.expect(first.removedUpstream, isSuspicious ? 0 : missing, at: "\(call): removed")
      trial.expect(
        try await store.ids(of: source), isSuspicious ? known : seen, at: "records after \(call)")
      let second = try await store.pass(seen, of: source, at: 1)
      // Where nothing was seen, nothing proves it.
      let isProven = isSuspicious && missing < count
      trial.expect(
        second.removedUpstream, isProven ? missing : 0, at: "a second pass after \(call): removed")
      trial.expect(
        try await store.status(of: source).removedUpstream,
        isProven || !isSuspicious ? missing : 0, at: "status after a second pass")
    }
    // Other records are missing the second time.
    let source = "\(trial.source), others"
    let known = ids.prefix(40)
    try await store.save(known.map { StoreEntry($0) }, of: source)
    for seen in [known.prefix(20), known.suffix(20)] {
      let changes = try await store.pass(Array(seen), of: source)
      trial.expect(changes.removedUpstream, 0, at: "a pass that misses others than the one before")
    }
  }

  static let removalsNeedCompletePass = StoreLaw(
    "removals-need-complete-pass", "A pass that saw too few different records removes none."
  ) { trial, store, source throws(SourceError) in
    try await store.save(["a", "b", "c", "d"].map { StoreEntry($0) }, of: source)
    let changes = try await store.pass(["a", "b", "a", "b", "a"], of: source, min: 3)
    trial.expect(changes.incompleteSeenCount, 2, at: "a pass that saw 2 of at least 3")
    trial.expect(changes.removedUpstream, 0, at: "a pass that saw 2 of at least 3: removed")
    trial.expect(try await store.ids(of: source), ["a", "b", "c", "d"], at: "records")
    let whole = try await store.pass(["a", "b", "c"], of: source, min: 3)
    trial.expect(whole.incompleteSeenCount, nil, at: "a pass that saw 3 of at least 3")
    trial.expect(whole.removedUpstream, 1, at: "a pass that saw 3 of at least 3: removed")
  }
}

extension SourceStore {
  /// A complete pass in one batch, which sees these records.
  func pass(
    _ ids: [String], of source: String, upTo last: Int64 = .max, min: Int = 0, at second: Int = 0
  ) async throws(SourceError) -> StoreChanges {
    try await pass(ids.map { StoreEntry($0) }, of: source, upTo: last, min: min, at: second)
  }

  /// A complete pass in one batch, which sees these entries.
  func pass(
    _ entries: [StoreEntry], of source: String, upTo last: Int64 = .max, min: Int = 0,
    at second: Int = 0
  ) async throws(SourceError) -> StoreChanges {
    let reconciliation = Reconciliation(
      begins: true, completion: .init(lastPosition: last, minRecordCount: min))
    return try await save(
      entries, of: source,
      update: CheckpointUpdate("sync", from: nil, to: nil, reconciliation: reconciliation),
      at: second)
  }
}
