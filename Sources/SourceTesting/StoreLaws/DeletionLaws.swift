import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  static let deletionsLast = StoreLaw(
    "deletions-last", "A deleted ID, stored or not, stays hidden until it is restored."
  ) { trial throws(SourceError) in
    let (store, source) = (trial.store, trial.source)
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
  ) { trial throws(SourceError) in
    let (store, source) = (trial.store, trial.source)
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
}
