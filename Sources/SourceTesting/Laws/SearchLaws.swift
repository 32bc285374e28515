import AggregatorKit
import AggregatorLaws

extension Law {
  static let searchMatches = Law(
    "search-matches", "Every result of a local search contains all words of the query.",
    isCheap: true, SearchMatches())

  static let searchWithinList = Law(
    "search-within-list", "A local search returns only records of the list.",
    given: [walkStable, searchMatches], SearchWithinList())

  static let searchComplete = Law(
    "search-complete", "A local search returns every matching record of the list.",
    given: [walkStable], SearchComplete())
}

private struct SearchMatches: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard subject.search == .local else { return context.exempt("search is not local") }
    var wasFound = false
    for query in try await subject.localQueries() {
      let request = PageRequest(matching: query, limit: 7)
      let page = try await subject.source.page(request)
      for record in page.records {
        wasFound = true
        guard !subject.matches(record, query) else { continue }
        context.note(
          expected: "results for \"\(query)\"", found: "\"\(record.id)\"",
          at: request.text)
      }
    }
    if !wasFound { context.exempt("the search has no results") }
  }
}

private struct SearchWithinList: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard let list = try await subject.wholeList(&context) else { return }
    let listed = Set(list.records.map(\.id))
    for query in try await subject.localQueries() {
      let found = await subject.collectPages(matching: query)
      let others = found.records.filter { !listed.contains($0.id) }
      if !others.isEmpty {
        try found.requireSameOrigin(as: list)
        context.note(
          expected: "records of the list", found: others.idList, at: found.start.text)
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
      let found = await subject.collectPages(matching: query)
      if let failure = found.failure { throw failure }
      let ids = Set(found.records.map(\.id))
      if found.isTruncated {
        context.exempt("the search has more results than the bound")
        continue
      }
      let missing = list.records.filter { subject.matches($0, query) && !ids.contains($0.id) }
      guard !missing.isEmpty else { continue }
      try found.requireSameOrigin(as: list)
      context.note(expected: missing.idList, found: "none of them", at: found.start.text)
    }
  }
}

extension LawSubject {
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

  /// The complete list, if it is searched locally and short enough.
  fileprivate func wholeList(_ context: inout LawContext) async throws(SourceError)
    -> CollectedPages<Item>?
  {
    guard search == .local else {
      context.exempt("search is not local")
      return nil
    }
    let list = isEndless ? nil : await collectPages(size: sizes.max() ?? 7)
    if let failure = list?.failure { throw failure }
    guard let list, !list.isTruncated else {
      context.exempt("the list is longer than the bound")
      return nil
    }
    return list
  }
}
