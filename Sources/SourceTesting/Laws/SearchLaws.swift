import AggregatorKit
import AggregatorLaws

extension Law {
  /// What is found matches.
  static let searchMatches = Law(
    "search-matches", "A record that a local search finds has every word of the query.",
    isCheap: true, SearchMatches())

  /// What is found is in the list.
  static let searchWithinList = Law(
    "search-within-list", "A local search finds records of the list only.",
    given: [walkStable, searchMatches], SearchWithinList())

  /// What matches is found.
  static let searchComplete = Law(
    "search-complete", "A local search finds every record of the list that has the words.",
    given: [walkStable], SearchComplete())
}

private struct SearchMatches: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard subject.search == .local else { return context.exempt("its search is not local") }
    var wasFound = false
    for query in try await subject.localQueries() {
      let request = PageRequest(matching: query, limit: 7)
      let page = try await subject.source.page(request)
      for record in page.records {
        wasFound = true
        guard !subject.matches(record, query) else { continue }
        context.note(
          expected: "records with the words '\(query)'", found: "'\(record.id)'",
          at: request.text)
      }
    }
    if !wasFound { context.exempt("nothing was found") }
  }
}

private struct SearchWithinList: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard let list = try await subject.wholeList(&context) else { return }
    let listed = Set(list.records.map(\.id))
    for query in try await subject.localQueries() {
      let found = await subject.walk(matching: query)
      let others = found.records.filter { !listed.contains($0.id) }
      if !others.isEmpty {
        try found.expectTier(of: list)
        context.note(
          expected: "records of the list", found: others.idsInWords, at: found.start.text)
      }
      if let failure = found.failure { throw failure }
    }
  }
}

private struct SearchComplete: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard let list = try await subject.wholeList(&context) else { return }
    for query in try await subject.localQueries() {
      let found = await subject.walk(matching: query)
      if let failure = found.failure { throw failure }
      let ids = Set(found.records.map(\.id))
      if found.isOpen {
        context.exempt("a search finds more than a walk goes")
        continue
      }
      let missing = list.records.filter { subject.matches($0, query) && !ids.contains($0.id) }
      guard !missing.isEmpty else { continue }
      try found.expectTier(of: list)
      context.note(expected: missing.idsInWords, found: "not those", at: found.start.text)
    }
  }
}

extension LawSubject {
  /// Whether a record has every word of a query.
  fileprivate func matches(_ record: Item, _ query: Query) -> Bool {
    fields.searchableText(of: record).containsAll(query.words)
  }

  /// The subject's query, and a word of the first record that has one, in capitals.
  fileprivate func localQueries() async throws(SourceError) -> [Query] {
    let page = try await source.page(PageRequest(limit: 7))
    let words = page.records.lazy.compactMap { record in
      fields.searchableText(of: record).text.split(whereSeparator: \.isWhitespace).first
    }
    guard let word = words.first else { return [query].compactMap(\.self) }
    let capitals = word.uppercased()
    let isSame = Folded(capitals).text == word
    return [query, try Query(isSame ? capitals : String(word))].compactMap(\.self)
  }

  /// The list, if it is searched locally and can be walked through to its end.
  fileprivate func wholeList(_ context: inout LawContext) async throws(SourceError)
    -> CollectedPages<Item>?
  {
    guard search == .local else {
      context.exempt("its search is not local")
      return nil
    }
    let list = isEndless ? nil : await walk(size: sizes.max() ?? 7)
    if let failure = list?.failure { throw failure }
    guard let list, !list.isOpen else {
      context.exempt("its list is longer than a walk goes")
      return nil
    }
    return list
  }
}
