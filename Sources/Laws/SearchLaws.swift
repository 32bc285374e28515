import AggregatorKit

extension Law {
  package static let searchMatches = Law(
    "search-matches", "Every result of a local search contains all words of the query.",
    SearchMatches())

  package static let searchUsesWords = Law(
    "search-uses-words", "A search for a made-up word does not return the list.", SearchUsesWords())

  package static let searchWithinList = Law(
    "search-within-list", "A local search returns only records of the list.",
    given: [listComplete, searchMatches], SearchWithinList())

  package static let searchComplete = Law(
    "search-complete", "A local search returns every matching record of the list.",
    given: [listComplete], SearchComplete())

  package static let searchPages = Law(
    "search-pages", "A search by the service is read to its last page.",
    given: [listComplete, searchUsesWords], SearchPages())
}

private struct SearchMatches: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard subject.search == .local else { return law.notApplicable("search is not local") }
    var wasFound = false
    for query in try await subject.localQueries() {
      let request = PageRequest(matching: query, limit: 7)
      let page = try await subject.source.page(request)
      for record in page.records {
        wasFound = true
        guard !subject.matches(record, query) else { continue }
        law.violation("the result \"\(record.id)\" does not contain \"\(query)\"", at: request.text)
      }
    }
    if !wasFound { law.notApplicable("the search has no results") }
  }
}

private struct SearchUsesWords: LawCheck {
  func run<Item: SourceRecord>(
    on subject: LawSubject<Item>, _ law: inout LawContext
  ) async throws(SourceError) {
    guard subject.search != .none else { return law.notApplicable("there is no search") }
    let list = try await subject.source.page(PageRequest(limit: 7))
    if list.records.isEmpty { return law.notApplicable("there are no records") }
    let search = PageRequest(matching: try SearchQuery("zqxjkvbwzqxjkv"), limit: 7)
    let found: Page<Item>
    do throws(SourceError) { found = try await subject.source.page(search) } catch {
      if error.code == .notFound { return }
      throw error
    }
    if found.records.map(\.id) == list.records.map(\.id) {
      law.violation(
        "a search for a made-up word returns the list: \(found.records.idList)", at: search.text)
    }
  }
}

private struct SearchWithinList: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard let list = try await subject.searchedList(&law) else { return }
    let listed = Set(list.records.map(\.id))
    for query in try await subject.localQueries() {
      let found = await subject.collectPages(matching: query)
      let others = found.records.filter { !listed.contains($0.id) }
      if !others.isEmpty {
        try found.requireSameOrigin(as: list)
        law.violation(
          "the search finds what the list does not have: \(others.idList)", at: found.start.text)
      }
      if let failure = found.failure { throw failure }
    }
  }
}

private struct SearchComplete: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard let list = try await subject.searchedList(&law) else { return }
    for query in try await subject.localQueries() {
      let found = await subject.collectPages(matching: query)
      if let failure = found.failure { throw failure }
      let ids = Set(found.records.map(\.id))
      if found.isTruncated {
        law.notApplicable("the search has more results than the bound")
        continue
      }
      let missing = list.records.filter { subject.matches($0, query) && !ids.contains($0.id) }
      guard !missing.isEmpty else { continue }
      try found.requireSameOrigin(as: list)
      law.violation("the search does not find \(missing.idList)", at: found.start.text)
    }
  }
}

private struct SearchPages: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard subject.search == .service, subject.isRemote else {
      return law.notApplicable("search is not the service's")
    }
    let listed = subject.query == nil ? await subject.wordOfList() : nil
    guard let query = subject.query ?? listed else {
      return law.notApplicable("the list has no word to search for")
    }
    let found = await subject.readWhole(query)
    if let failure = found.listing.failure { throw failure }
    let (count, call) = (found.rowCount, found.listing.start.text)
    if count == 0 { return law.notApplicable("the search for \"\(query)\" has no results") }
    guard found.isWhole else {
      return law.notApplicable(
        "of the search for \"\(query)\", \(LawContext.unreachedEnd(after: count))")
    }
    // A search with a single page may have lost its paging, and is then requested as the list is.
    let own = PageParameter(of: found.requests)
    let parameter =
      if let own { own } else { PageParameter(of: await subject.wholeList().requests) }
    if let parameter, !subject.spendsTokens {
      let rows = found.listing.pages.last?.page.rowCount ?? 0
      let number = own?.after(rows) ?? parameter.second(count)
      let known = Set(found.keys)
      let next = try await subject.records(at: number, of: parameter, matching: query)
      let lost = next?.filter { !known.contains($0.key) } ?? []
      if !lost.isEmpty {
        return law.violation(
          "the search ends after \(count.of("result")), but \(parameter.text(at: number)) has more: "
            + lost.idList, at: call)
      }
    }
    if own == nil, found.pageCount < 2 {
      // Totals of searches are estimates, but a first page is not all of several.
      if let total = found.totals.first?.total, total > count, count >= subject.pageSize ?? count {
        return law.violation(
          "the service reports \(total.of("result")), the search yields the \(count) of its first page",
          at: call)
      }
      law.notApplicable("the search has one page only")
    }
  }
}

extension LawSubject {
  fileprivate func matches(_ record: Item, _ query: SearchQuery) -> Bool {
    fields.searchableText(of: record).containsAll(query.words)
  }

  /// A word that several records of the list have, so that a search for it may have several pages: the most of a list
  /// that was read to its end, and otherwise the fewest, because there are more.
  fileprivate func wordOfList() async -> SearchQuery? {
    let list = await wholeList()
    // A service may search in names alone, and hardly in URLs.
    let searched = (fields.filter(\.isName) + fields.filter { !$0.isName }).filter(\.isSearchable)
    var counts: [Substring: Int] = [:]
    var words: [Substring] = []
    for record in list.listing.records {
      let texts = searched.compactMap { $0[record].string }.filter { !$0.contains("://") }
      var seen: Set<Substring> = []
      for word in texts.flatMap({ $0.split { !$0.isLetter } })
      where word.count > 2 && seen.insert(word).inserted {
        if counts[word] == nil { words.append(word) }
        counts[word, default: 0] += 1
      }
    }
    let shared = words.filter { counts[$0, default: 0] > 1 }
    let isRarer = { (one: Substring, other: Substring) in
      counts[one, default: 0] < counts[other, default: 0]
    }
    let word = (list.isWhole ? shared.max(by: isRarer) : shared.min(by: isRarer)) ?? words.first
    return word.flatMap { try? SearchQuery(String($0)) }
  }

  /// The subject's query, and a word of the first record that has one, in capitals.
  fileprivate func localQueries() async throws(SourceError) -> [SearchQuery] {
    let page = try await source.page(PageRequest(limit: 7))
    let words = page.records.lazy.compactMap { record in
      fields.searchableText(of: record).text.split(whereSeparator: \.isWhitespace).first
    }
    guard let word = words.first else { return [query].compactMap(\.self) }
    let capitals = word.uppercased()
    let isSame = FoldedText(capitals).text == word
    return [query, try SearchQuery(isSame ? capitals : String(word))].compactMap(\.self)
  }

  /// The complete list, if it is searched locally and short enough.
  fileprivate func searchedList(_ context: inout LawContext) async throws(SourceError)
    -> CollectedListing<Item>?
  {
    guard search == .local else {
      context.notApplicable("search is not local")
      return nil
    }
    let list = isEndless ? nil : await collectPages(size: sizes.max() ?? 7)
    if let failure = list?.failure { throw failure }
    guard let list, !list.isTruncated else {
      context.notApplicable("the list is longer than the bound")
      return nil
    }
    return list
  }
}

extension Collection where Element: Identifiable, Element.ID: CustomStringConvertible {
  /// The IDs, at most five of them: `"1", "2"`.
  package var idList: String {
    guard !isEmpty else { return "nothing" }
    return prefix(5).map { "\"\($0.id)\"" }.joined(separator: ", ") + (count > 5 ? " …" : "")
  }
}
