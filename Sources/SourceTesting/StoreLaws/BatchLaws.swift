import AggregatorKit
import AggregatorLaws
import Foundation

extension StoreLaw {
  static let batchAtomic = StoreLaw(
    "batch-atomic", "Readers see a batch's records, page and checkpoint together, or none of them."
  ) { trial, store, source throws(SourceError) in
    let other = trial.other
    try await StoreTrial.read { () async throws(SourceError) in
      // Each call is a later look, so nothing that it sees may be older than what was seen before.
      let before = try await other.checkpoint("at", of: source)
      let page = try await other.page("page", of: source)
      let records = try await other.records(of: source, matching: [], after: 0, limit: 9).records
      let after = try await other.checkpoint("at", of: source)
      let round = page?.page.total ?? 0
      let numbers = Set(records.map(\.number))
      trial.expect(
        page.map { $0.records.map(\.number) } ?? [], page == nil ? [] : [round, round, round],
        at: "page(_:of:) of batch \(round)")
      trial.expect(
        numbers.count <= 1 && [0, 3].contains(records.count), "three records of one batch",
        at: "records(of:matching:after:limit:), which found \(records.map(\.text))")
      let seen = [
        before.flatMap(Int.init) ?? 0, round, numbers.first ?? 0, after.flatMap(Int.init) ?? 0,
      ]
      trial.expect(seen, seen.sorted(), at: "checkpoint, page, records and checkpoint again")
    } while: { () async throws(SourceError) in
      for round in 1...25 {
        let entries = ["a", "b", "c"].map { StoreEntry($0, round) }
        let update = CheckpointUpdate(
          "at", from: round == 1 ? nil : "\(round - 1)", to: "\(round)")
        try await store.save(entries, of: source, page: "page", update: update, at: round)
      }
    }
  }

  static let batchShared = StoreLaw(
    "batch-shared", "Everything that is saved is there for whoever opens the store afterwards."
  ) { trial, store, source throws(SourceError) in
    let update = CheckpointUpdate("at", from: nil, to: "1")
    let page = PageMetadata(
      next: PageCursor("next"), total: 7, endpoint: "https://law.example/list",
      unreadable: UnreadableRows(count: 2, firstReason: "no id"), generation: "g")
    _ = try await store.save(
      StoreBatch([StoreEntry("a"), StoreEntry("b", 2)], page: ("page", page), update: update),
      of: source, at: .law(3))
    _ = try await store.delete(["b"], of: source, at: .law(4))
    try await store.change(source) { _ in "shared" }
    for opened in [store, trial.other, try await trial.open()] {
      trial.expect(try await opened.ids(of: source), ["a"], at: "records")
      let record = try await opened.record("b", of: source)
      trial.expect(record?.text, "b 2", at: "record(\"b\")")
      trial.expect(record?.savedAt, .law(3), at: "record(\"b\").savedAt")
      let stored = try await opened.page("page", of: source)
      trial.expect(stored?.page, page, at: "page(\"page\")")
      trial.expect(stored?.fetchedAt, .law(3), at: "page(\"page\").fetchedAt")
      trial.expect(try await opened.checkpoint("at", of: source), "1", at: "checkpoint(\"at\")")
      trial.expect(
        try await opened.deleted(among: ["a", "b"], of: source), ["b"], at: "deleted(among:of:)")
      trial.expect(try await opened.shared(source), "shared", at: "change(_:timed:)")
    }
  }

  static let unchangedUnwritten = StoreLaw(
    "unchanged-unwritten", "Unchanged records are not written again."
  ) { trial, store, source throws(SourceError) in
    let added = try await store.save([StoreEntry("a"), StoreEntry("b")], of: source)
    trial.expect(added.added, [0, 1], at: "save of new records: added")
    trial.expect([added.changed, added.unchanged], [0, 0], at: "save of new records")
    let textIsNeeded = Watched(false)
    var same = StoreEntry("b")
    same.text = {
      textIsNeeded.change { $0 = true }
      return FoldedText("b")
    }
    let changes = try await store.save([StoreEntry("a", 1), same], of: source, at: 1)
    trial.expect(changes.added, [], at: "save of one changed record: added")
    trial.expect([changes.changed, changes.unchanged], [1, 1], at: "save of one changed record")
    trial.expect(
      !textIsNeeded.state, "no call of StoreEntry.text", at: "save of unchanged ones")
    let saved = try await store.all(of: source)
    trial.expect(saved.map(\.text), ["a 1", "b 0"], at: "records")
    trial.expect(saved.map(\.savedAt), [.law(1), .law(0)], at: "records: savedAt")
  }

  static let mergeStored = StoreLaw(
    "merge-stored", "A record that merges with its stored form is stored, and found, as merged."
  ) { trial, store, source throws(SourceError) in
    try await store.save([StoreEntry("a", 1, text: "first"), StoreEntry("b", 7)], of: source)
    // The merged form is the sum of both numbers.
    func merging(_ id: String, _ number: Int) -> StoreEntry {
      var entry = StoreEntry(id, number, text: "incoming")
      entry.mergedWithStored = { known in
        guard let old = try? JSONText(known)?.read(LawRecord.self) else { return nil }
        return (LawRecord(id: id, number: old.number + number).json, FoldedText("merged"))
      }
      return entry
    }
    let entries = [merging("a", 2), StoreEntry("c"), merging("b", 0), merging("a", 4)]
    let changes = try await store.save(entries, of: source, at: 1)
    trial.expect(
      changes.merged.mapValues { StoredRecord(position: 1, json: $0, savedAt: .law()).text },
      [0: "a 3", 2: "b 7", 3: "a 7"], at: "save: merged")
    trial.expect([changes.changed, changes.unchanged], [2, 1], at: "save: changed and unchanged")
    trial.expect(try await store.all(of: source).map(\.text), ["a 7", "b 7", "c 0"], at: "records")
    trial.expect(try await store.ids("merged", of: source), ["a"], at: "search for its text")
    for word in ["incoming", "first"] {
      trial.expect(try await store.ids(word, of: source), [], at: "search for \"\(word)\"")
    }
  }

  static let recordTwice = StoreLaw(
    "record-twice", "A record that a batch has twice is stored once, in its last form."
  ) { trial, store, source throws(SourceError) in
    try await store.save([StoreEntry("known", 1, text: "old")], of: source)
    let entries = [
      StoreEntry("new", 1, text: "early"), StoreEntry("known", 2, text: "middle"),
      StoreEntry("new", 2, text: "late"), StoreEntry("known", 3, text: "young"),
      StoreEntry("new", 2, text: "late"),
    ]
    let changes = try await store.save(entries, of: source, at: 1)
    trial.expect(changes.added, [0], at: "save: added")
    trial.expect([changes.changed, changes.unchanged], [3, 1], at: "save: changed and unchanged")
    trial.expect(try await store.all(of: source).map(\.text), ["known 3", "new 2"], at: "records")
    for (word, ids) in [
      ("early", []), ("late", ["new"]), ("old", []), ("middle", []), ("young", ["known"]),
    ] {
      trial.expect(try await store.ids(word, of: source), ids, at: "search for \"\(word)\"")
    }
    trial.expect(try await store.status(of: source).records, 2, at: "status: records")
  }

  static let checkpointCompareAndSet = StoreLaw(
    "checkpoint-compare-and-set",
    "A checkpoint moves only from the expected text, and with it all that its update does."
  ) { trial, store, source throws(SourceError) in
    let reconciliation = Reconciliation(
      begins: true, completion: .init(lastPosition: .max, minRecordCount: 0))
    func move(
      _ from: String?, _ to: String?, saving id: String, replacesPages: Bool = false
    ) async throws(SourceError) -> Bool {
      let update = CheckpointUpdate(
        "at", from: from, to: to, reconciliation: replacesPages ? reconciliation : nil,
        replacesPages: replacesPages)
      let changes = try await store.save([StoreEntry(id)], of: source, update: update)
      trial.expect(changes.removedUpstream, 0, at: "save(\(id)): removedUpstream")
      return changes.didMoveCheckpoint
    }
    try await store.save([StoreEntry("a")], of: source, page: "page")
    trial.expect(
      try await move("0", "1", saving: "b"), false, at: "from a text, where there is none")
    trial.expect(try await store.checkpoint("at", of: source), nil, at: "checkpoint")
    trial.expect(try await move(nil, "1", saving: "c"), true, at: "from none")
    trial.expect(try await move(nil, "2", saving: "d"), false, at: "from none, where there is one")
    let outdated = try await move("0", nil, saving: "e", replacesPages: true)
    trial.expect(outdated, false, at: "from another text")
    trial.expect(try await store.checkpoint("at", of: source), "1", at: "checkpoint")
    trial.expect(try await move("1", "2", saving: "f"), true, at: "from its text")
    trial.expect(try await store.checkpoint("other", of: source), nil, at: "another checkpoint")
    let state = try await trial.other.state(of: source, checkpoints: ["other", "at"])
    trial.expect(state.checkpoints, ["at": "2"], at: "state: checkpoints")
    trial.expect(try await move("2", nil, saving: "g"), true, at: "to none")
    trial.expect(try await store.checkpoint("at", of: source), nil, at: "checkpoint, removed")
    trial.expect(
      try await store.ids(of: source), ["a", "b", "c", "d", "e", "f", "g"],
      at: "records of all batches, also with an outdated update")
    trial.expect(try await store.status(of: source).pages, 1, at: "pages after an outdated update")
  }

  static let checkpointOneWinner = StoreLaw(
    "checkpoint-one-winner",
    "Of several updates from the same text, exactly one moves a checkpoint."
  ) { trial, store, source throws(SourceError) in
    let stores = [store, trial.other]
    for round in 0..<5 {
      let from = try await trial.store.checkpoint("at", of: source)
      let moved = try await StoreTrial.concurrently(6) { writer throws(SourceError) in
        let update = CheckpointUpdate("at", from: from, to: "\(round) \(writer)")
        return try await stores[writer % 2].save([], of: source, update: update).didMoveCheckpoint
      }
      let winners = moved.indices.filter { moved[$0] }
      trial.expect(winners.count, 1, at: "six updates at once")
      trial.expect(
        try await trial.store.checkpoint("at", of: source), winners.first.map { "\(round) \($0)" },
        at: "the checkpoint of the winner")
    }
  }

  static let sharedValuesSerial = StoreLaw(
    "shared-values-serial", "Changes of a shared value happen one after another."
  ) { trial, store, key throws(SourceError) in
    let stores = [store, trial.other]
    let other = "\(key), another"
    trial.expect(try await trial.store.shared(key), nil, at: "a value that was never set")
    _ = try await StoreTrial.concurrently(4) { writer throws(SourceError) in
      for _ in 0..<15 {
        try await stores[writer % 2].change(key) { text in "\((text.flatMap(Int.init) ?? 0) + 1)" }
      }
    }
    trial.expect(try await trial.store.shared(key), "60", at: "60 increments by four tasks")
    try await trial.store.change(key) { _ in nil }
    trial.expect(try await trial.other.shared(key), "60", at: "a change to nil, which is none")
    trial.expect(try await trial.store.shared(other), nil, at: "the value of another key")
    try await trial.store.change(key) { _ in "" }
    trial.expect(try await trial.other.shared(key), "", at: "an empty text")
  }
}

extension SourceStore {
  func shared(_ key: String) async throws(SourceError) -> String? {
    let found = Watched<String?>(nil)
    try await change(key) { text in
      found.change { $0 = text }
      return nil
    }
    return found.state
  }
}
