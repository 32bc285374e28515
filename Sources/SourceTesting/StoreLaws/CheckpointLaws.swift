import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  static let checkpointCompareAndSet = StoreLaw(
    "checkpoint-compare-and-set",
    "A checkpoint moves only from the expected text, and with it all that its update does."
  ) { trial throws(SourceError) in
    let (store, source) = (trial.store, trial.source)
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
  ) { trial throws(SourceError) in
    let (stores, source) = ([trial.store, trial.other], trial.source)
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
  ) { trial throws(SourceError) in
    let (stores, key) = ([trial.store, trial.other], trial.source)
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
