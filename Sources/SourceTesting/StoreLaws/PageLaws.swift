import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  static let pagesCurrent = StoreLaw(
    "pages-current", "A page has the records of its batch, in its order and as they are now."
  ) { trial throws(SourceError) in
    let (store, source) = (trial.store, trial.source)
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
    let pages = try await trial.other.fetchedPages(of: source)
    trial.expect(pages.map(\.key), ["empty", "1", "2"], at: "fetchedPages, the newest first")
    trial.expect(pages.map(\.page.total), [8, 7, 2], at: "fetchedPages: totals")
    let update = CheckpointUpdate("at", from: nil, to: "1", replacesPages: true)
    try await store.save([StoreEntry("b", 9)], of: source, update: update, at: 9)
    trial.expect(try await store.status(of: source).pages, 0, at: "pages after replacesPages")
    trial.expect(try await page("1"), nil, at: "page 1 after replacesPages")
  }

  static let pageKeys = StoreLaw(
    "page-keys", "The keys of pages are found by their beginnings, byte by byte."
  ) { trial throws(SourceError) in
    let (store, source) = (trial.store, trial.source)
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
