import AggregatorKit
import AggregatorLaws
import Foundation

extension StoreLaw {
  static let firstSeenOrder = StoreLaw(
    "first-seen-order", "A record keeps its position in first-seen order, whatever happens to it."
  ) { trial, store, source throws(SourceError) in
    try await store.save([StoreEntry("c"), StoreEntry("a")], of: source)
    let first = try await store.all(of: source)
    try await store.save([StoreEntry("b"), StoreEntry("c", 1), StoreEntry("0")], of: source, at: 1)
    let all = try await store.all(of: source)
    let positions = all.map(\.position)
    trial.expect(all.map(\.id), ["c", "a", "b", "0"], at: "records")
    trial.expect(Array(positions.prefix(2)), first.map(\.position), at: "positions of the first")
    trial.expect(
      positions.allSatisfy { $0 >= 1 } && zip(positions, positions.dropFirst()).allSatisfy(<),
      "ascending positions, 1 or more", at: "records, with \(positions)")
    trial.expect(
      try await store.status(of: source).lastPosition, positions.last ?? 0,
      at: "status: lastPosition")
    _ = try await store.delete(["c"], of: source, at: .law(2))
    trial.expect(
      try await store.record("c", of: source)?.position, positions.first,
      at: "record(\"c\"), deleted")
    _ = try await store.restore(["c"], of: source)
    // A pass that sees only the last record, so that the others are removed, and come back.
    _ = try await store.pass(["0"], of: source, upTo: positions.last ?? 0)
    try await store.save(["a", "b", "c"].map { StoreEntry($0, 2) }, of: source, at: 3)
    let kept = try await store.all(of: source)
    trial.expect(kept.map(\.id), ["c", "a", "b", "0"], at: "records that were away")
    _ = try await store.delete(["b"], of: source, at: .law(4))
    let chosen = [positions[2], positions[3], positions[0], (positions.last ?? 0) + 1]
    trial.expect(
      try await trial.other.records(of: source, at: chosen).map(\.id), ["0", "c"],
      at: "records at positions of b, which is deleted, 0 and c")
    trial.expect(
      try await store.records(of: "\(source)-2", at: chosen).map(\.id), [],
      at: "records of another source at these positions")
    trial.expect(kept.map(\.position), positions, at: "positions of records that were away")
  }

  static let firstPassOrders = StoreLaw(
    "first-pass-orders",
    "The first pass over all records gives those that were saved before it the place that the service gives them."
  ) { trial, store, source throws(SourceError) in
    try await store.save([StoreEntry("before")], of: "\(source), another")
    try await store.save(
      [StoreEntry("d"), StoreEntry("gone"), StoreEntry("b")], of: source, page: "search", at: 1)
    try await store.save([StoreEntry("b", 1)], of: source, at: 2)
    _ = try await store.delete(["d"], of: source, at: .law(3))
    let mark = try await store.update(of: source, since: nil)?.mark
    let early = try await store.all(of: source)
    let last = try await store.status(of: source).lastPosition
    var reconciliation = Reconciliation(begins: true)
    reconciliation.movesUpTo = last
    func batch(
      _ entries: [StoreEntry], from: String?, to: String?
    ) async throws(SourceError) -> StoreChanges {
      let update = CheckpointUpdate("sync", from: from, to: to, reconciliation: reconciliation)
      let changes = try await store.save(entries, of: source, update: update, at: 4)
      reconciliation = Reconciliation(
        begins: false, completion: .init(lastPosition: last, minRecordCount: 5))
      reconciliation.movesUpTo = last
      return changes
    }
    let first = try await batch(
      ["a", "b", "c", "b"].map { StoreEntry($0, $0 == "b" ? 1 : 0) }, from: nil, to: "on")
    let ids = try await store.ids(of: source)
    guard ids != ["gone", "b", "a", "c"] else {
      return trial.context.notApplicable("the store keeps all positions")
    }
    trial.expect(ids, ["gone", "a", "b", "c"], at: "records after the first batch")
    trial.expect(first.added, [0, 2], at: "added by the first batch")
    trial.expect(first.unchanged, 2, at: "unchanged in the first batch")
    trial.expect(
      try await store.ids("text of b", of: source), ["b"], at: "a search for a moved record")
    trial.expect(
      try await store.page("search", of: source)?.records.map(\.text), ["d 0", "gone 0", "b 1"],
      at: "a page with a moved record")
    trial.expect(
      try await store.records(of: source, at: early.map(\.position)).map(\.id), ["gone"],
      at: "records at the earlier positions")
    if let mark, let update = try await store.update(of: source, since: mark) {
      trial.expect(
        update.outdated.isSuperset(of: early.filter { $0.id == "b" }.map(\.position)),
        "the earlier position of b is outdated", at: "update")
      trial.expect(update.records.map(\.text), ["a 0", "b 1", "c 0"], at: "update: records")
      trial.expect(update.removed, [], at: "update: removed")
    }
    let second = try await batch([StoreEntry("d"), StoreEntry("e", 1)], from: "on", to: nil)
    trial.expect(second.removedUpstream, 1, at: "removed at the end of the pass")
    _ = try await store.restore(["d"], of: source)
    trial.expect(
      try await store.ids(of: source), ["a", "b", "c", "d", "e"], at: "records after the pass")
    if let history = try await store.history(of: "b", in: source, limit: 9) {
      trial.expect(history.events.count, 1, at: "changes of a moved record")
    }
    let status = try await store.status(of: source)
    trial.expect(
      [status.records, status.removedUpstream], [5, 1], at: "status: records, removedUpstream")
    trial.expect(
      status.lastPosition, try await store.all(of: source).last?.position ?? 0,
      at: "status: lastPosition")
    try await store.save(["b", "d", "f"].map { StoreEntry($0, 2) }, of: source, at: 5)
    trial.expect(
      try await store.ids(of: source), ["a", "b", "c", "d", "e", "f"], at: "records afterwards")
    trial.expect(
      try await trial.other.ids(of: "\(source), another"), ["before"], at: "another source")
  }

  static let noRecordMissed = StoreLaw(
    "no-record-missed",
    "Whoever reads on after the last position misses no record, while several write."
  ) { trial, store, source throws(SourceError) in
    let stores = [store, trial.other]
    let reader = try await trial.open()
    var found: [StoredRecord] = []
    try await StoreTrial.read { () async throws(SourceError) in
      var slice = RecordSlice.empty
      repeat {
        slice = try await reader.records(
          of: source, matching: [], after: found.last?.position ?? 0, limit: 5)
        found += slice.records
      } while slice.hasMore && !slice.records.isEmpty
    } while: { () async throws(SourceError) in
      _ = try await StoreTrial.concurrently(4) { writer throws(SourceError) in
        for batch in 0..<12 {
          let ids = (0..<3).map { "\(writer) \(batch) \($0)" }
          try await stores[writer % 2].save(ids.map { StoreEntry($0) }, of: source)
        }
      }
    }
    let all = (0..<4).flatMap { writer in
      (0..<12).flatMap { batch in (0..<3).map { "\(writer) \(batch) \($0)" } }
    }
    let ids = found.map(\.id)
    trial.expect(
      Set(all).subtracting(ids).sorted(), [], at: "records missed while others were saved")
    trial.expect(ids.count, Set(ids).count, at: "records while others were saved")
    trial.expect(
      found.map(\.position), found.map(\.position).sorted(), at: "positions read one after another")
    // The records of a batch follow one another.
    for (index, id) in ids.enumerated() where id.hasSuffix(" 0") {
      let batch = ids[index...].prefix(3).map { String($0.dropLast(2)) }
      trial.expect(Set(batch).count, 1, at: "records of one batch, \(batch)")
    }
  }

  static let anyPageSize = StoreLaw(
    "any-page-size",
    "Slices of any size have every record once, in order, and tell if there are more."
  ) { trial, store, source throws(SourceError) in
    let ids = (0..<26).map { "r\($0)" }
    try await store.save(ids.map { StoreEntry($0) }, of: source)
    try await store.save((0..<9).map { StoreEntry("other \($0)") }, of: "\(source), another")
    _ = try await store.delete(["r0", "r7", "r8", "unknown"], of: source, at: .law())
    _ = try await store.pass(ids.filter { $0 != "r25" && $0 != "r9" }, of: source)
    let listed = ids.filter { !["r0", "r7", "r8", "r9", "r25"].contains($0) }
    for words in [[], [FoldedText("text of")], [FoldedText("r")]] {
      for limit in [1, 2, 3, 7, 20, 21, 22, 100, .max] {
        var found: [StoredRecord] = []
        var isWhole = true
        for number in 0..<30 {
          let slice = try await store.records(
            of: source, matching: words, after: found.last?.position ?? 0, limit: limit)
          found += slice.records
          isWhole = isWhole && (!slice.hasMore || slice.records.count == limit)
          let call = "records(matching: \(words.map(\.text)), limit: \(limit)), slice \(number + 1)"
          if words.isEmpty || number == 0, let total = slice.total {
            trial.expect(total, listed.count, at: "\(call): total")
          }
          if words.isEmpty, number == 0 {
            trial.expect(slice.total != nil, "the number of all records", at: "\(call): total")
          }
          trial.expect(slice.hasMore, found.count < listed.count, at: "\(call): hasMore")
          guard slice.hasMore, !slice.records.isEmpty else { break }
        }
        let call = "records(matching: \(words.map(\.text)), limit: \(limit))"
        trial.expect(found.map(\.id), listed, at: call)
        trial.expect(isWhole, "\(limit) records in every slice but the last", at: call)
      }
    }
    let end = try await store.records(of: source, matching: [], after: .max, limit: 9)
    trial.expect(end.records.map(\.id) + [end.hasMore ? "more" : "no more"], ["no more"], at: "end")
  }

  static let sourcesSeparate = StoreLaw(
    "sources-separate", "Sources do not see each other, whatever they are called."
  ) { trial, store, source throws(SourceError) in
    let names = hostileTexts.map { source + $0 }
    for (number, name) in names.enumerated() {
      let update = CheckpointUpdate("at", from: nil, to: "\(number)")
      try await store.save(
        [StoreEntry("same", number), StoreEntry("\(number)")], of: name, page: "page",
        update: update, at: number)
      _ = try await store.delete(["gone \(number)"], of: name, at: .law())
    }
    for (number, name) in names.enumerated() {
      let call = "source \(name.debugDescription)"
      trial.expect(
        try await store.all(of: name).map(\.text), ["same \(number)", "\(number) 0"], at: call)
      trial.expect(try await store.ids("text", of: name), ["same", "\(number)"], at: call)
      trial.expect(try await store.record("same", of: name)?.number, number, at: call)
      trial.expect(try await store.page("page", of: name)?.page.total, number, at: call)
      trial.expect(try await store.checkpoint("at", of: name), "\(number)", at: call)
      trial.expect(
        try await store.deletions(of: name, after: nil, limit: 9).map(\.id), ["gone \(number)"],
        at: call)
    }
    for name in names.dropFirst() { try await store.clear(name, forgetsDeleted: true) }
    trial.expect(
      try await store.ids(of: names[0]), ["same", "0"], at: "records after others were cleared")
    for name in names.dropFirst() + ["\(source), unknown"] {
      trial.expect(
        try await store.status(of: name).isEmpty, "no records",
        at: "status of \(name.debugDescription)")
    }
  }

  static let textsExact = StoreLaw(
    "texts-exact", "IDs, keys, names and values are any texts, compared byte by byte."
  ) { trial, store, source throws(SourceError) in
    for (number, text) in hostileTexts.enumerated() {
      let key = source + text
      let update = CheckpointUpdate(text, from: nil, to: text)
      try await store.save([StoreEntry(text, number)], of: source, page: text, update: update)
      _ = try await store.delete([text], of: source, at: .law())
      try await store.change(key) { _ in text }
    }
    for (number, text) in hostileTexts.enumerated() {
      let call = text.debugDescription
      trial.expect(try await store.record(text, of: source)?.number, number, at: "record(\(call))")
      let page = try await store.page(text, of: source)
      trial.expect(page?.records.map(\.number), [number], at: "page(\(call))")
      let bytes = Array(text.utf8)
      let checkpoint = try await store.checkpoint(text, of: source)
      trial.expect(checkpoint.map { Array($0.utf8) }, bytes, at: "checkpoint(\(call))")
      let shared = try await store.shared(source + text)
      trial.expect(shared.map { Array($0.utf8) }, bytes, at: "change(\(call))")
      let deleted = try await store.deleted(among: [text], of: source)
      trial.expect(deleted.map { Array($0.text.utf8) }, [bytes], at: "deleted(among: [\(call)])")
      trial.expect(try await store.restore([text], of: source).count, 1, at: "restore([\(call)])")
    }
    trial.expect(
      try await store.all(of: source).map(\.number), Array(hostileTexts.indices), at: "records")
  }

  /// Texts that are nothing special, but could be; no two of them have the same bytes.
  static let hostileTexts = [
    "", "x", "X", "x%", "x_", "x\\", "x'; DROP TABLE records; --", "x\"y", "$1", "?1", "x\u{0}",
    "x\u{0}y", "x\u{1}", "x\u{1}0", "x\u{1}1", "x\u{2400}", "x\n", "é", "e\u{301}", "字", "😀",
    "\u{FFFF}",
    "\u{FFFD}", "[\"x\",null]", " ", "nil",
  ]

  static let pagesCurrent = StoreLaw(
    "pages-current", "A page has the records of its batch, in its order and as they are now."
  ) { trial, store, source throws(SourceError) in
    func page(_ key: String) async throws(SourceError) -> [String]? {
      try await store.page(key, of: source)?.records.map(\.text)
    }
    trial.expect(try await page("1"), nil, at: "a page that was never saved")
    try await store.save([StoreEntry("b"), StoreEntry("a")], of: source, page: "1", at: 1)
    try await store.save(
      [StoreEntry("c"), StoreEntry("a"), StoreEntry("d")], of: source, page: "2", at: 2)
    trial.expect(try await page("2"), ["c 0", "a 0", "d 0"], at: "page 2")
    try await store.save([StoreEntry("a", 1)], of: source, at: 3)
    trial.expect(try await page("1"), ["b 0", "a 1"], at: "page 1, of which a record has changed")
    _ = try await store.delete(["a"], of: source, at: .law(4))
    trial.expect(try await page("2"), ["c 0", "a 1", "d 0"], at: "page 2 with a deleted record")
    _ = try await store.pass(
      [StoreEntry("b"), StoreEntry("a", 1), StoreEntry("d")], of: source, at: 5)
    trial.expect(try await page("2"), ["a 1", "d 0"], at: "page 2 without a removed record")
    try await store.save([StoreEntry("c")], of: source, at: 6)
    trial.expect(try await page("2"), ["c 0", "a 1", "d 0"], at: "page 2 with its record back")
    try await store.save([StoreEntry("e")], of: source, page: "1", at: 7)
    let replaced = try await store.page("1", of: source)
    trial.expect(replaced?.records.map(\.text), ["e 0"], at: "page 1, replaced")
    trial.expect(replaced?.page.total, 7, at: "page 1, replaced: total")
    trial.expect(replaced?.fetchedAt, .law(7), at: "page 1, replaced: fetchedAt")
    try await store.save([], of: source, page: "empty", at: 8)
    trial.expect(try await page("empty"), [], at: "an empty page")
    let state = try await trial.other.state(of: source, checkpoints: [])
    trial.expect(state.status, try await store.status(of: source), at: "state: status")
    let pages = state.pages
    trial.expect(pages.map(\.key), ["empty", "1", "2"], at: "state: pages, the newest first")
    trial.expect(pages.map(\.page.total), [8, 7, 2], at: "state: totals of pages")
    let update = CheckpointUpdate("at", from: nil, to: "1", replacesPages: true)
    try await store.save([StoreEntry("b", 9)], of: source, update: update, at: 9)
    trial.expect(try await store.status(of: source).pages, 0, at: "pages after replacesPages")
    trial.expect(try await page("1"), nil, at: "page 1 after replacesPages")
  }

  static let pageKeys = StoreLaw(
    "page-keys", "The keys of pages are found by their beginnings, byte by byte."
  ) { trial, store, source throws(SourceError) in
    let keys = [
      "list", "list/1", "list/2", "LIST", "lis%", "lis_", "lis\\", "li\u{0}", "li\u{1}", "é",
      "e\u{301}", "list/😀",
      "[\"a\",1]", "字",
    ]
    for key in keys { try await store.save([], of: source, page: key) }
    try await store.save([], of: "\(source), another", page: "list/3")
    guard try await !store.pageKeys(of: source, startingWith: "").isEmpty else {
      return trial.context.notApplicable("the store lists no keys")
    }
    for prefix in [
      "", "l", "list", "list/", "list/1", "lis%", "lis_", "lis\\", "li\u{0}", "e", "[\"", "x",
    ] {
      let found = try await store.pageKeys(of: source, startingWith: prefix)
      trial.expect(
        Set(found.map { Array($0.utf8) }),
        Set(keys.filter { $0.utf8.starts(with: prefix.utf8) }.map { Array($0.utf8) }),
        at: "pageKeys(startingWith: \(prefix.debugDescription))")
      trial.expect(found.count, Set(found.map { Array($0.utf8) }).count, at: "pageKeys, each once")
    }
  }
}
