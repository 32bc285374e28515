import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The page of a search in all sources.

extension HTMLRenderer {
  func searchPage(_ content: SearchContent) -> HTML {
    let title = content.query.query.map { "“\($0.withoutQuotes)”" } ?? "Search"
    return document(
      Frame(title: title, place: "search"),
      """
      <div class="column">
      <div class="heading"><div><h1>Search all sources</h1>
      <p class="summary">\(sources.map(\.noun.plural.safeLine).listText.capitalizedFirst)</p>\
      </div></div>
      \(searchForm("/search", "Search all sources", content.query.forLinks))
      \(resultsPart(content))
      </div>
      """)
  }

  func resultsPart(_ content: SearchContent) -> HTML {
    guard let query = content.query.query else {
      return """
        <section id="list" aria-label="Results">
        \(state(.search, "Search everything", ["Results from each source appear here."]) {
          examples
        })
        </section>
        """
    }
    let counts = content.answers.map { (try? $0.page.get())?.records.count ?? 0 }
    let found = counts.count { $0 > 0 }
    let failed = content.answers.count { if case .failure = $0.page { true } else { false } }
    let isSearched = content.answers.allSatisfy { $0.shortcoming == nil }
    let meant = content.answers.compactMap { (try? $0.page.get())?.suggestion }
    // Of the words of several sources the nearest one, and of those as near the one that most of them have.
    let common = meant.sorted { one, other in
      meant.count { $0 == one } > meant.count { $0 == other }
    }
    let near = found > 0 ? nil : nearest(to: query, in: common) ?? common.first
    let suggestion: HTML? = near.map { near in
      """
      <p class="note">Did you mean \
      <a href="\(WebAddress.search(content.query.forLinks.with(\.query, near)))">“<bdi>\(near.safeLine)</bdi>”</a>?</p>
      """
    }
    let matches = content.answers.map { (try? $0.page.get())?.matches }
    let total = matches.compactMap { $0?.count }.reduce(0, +)
    let isExact = matches.allSatisfy { $0?.isExact == true }
    let answered = content.answers.filter { !$0.isEmpty }
    let words = SearchedWords(query)
    func isNamed(_ answer: SourceListing) -> Bool {
      (try? answer.page.get())?.records.contains { !words.ranges(in: $0.name).isEmpty } == true
    }
    // A match in a name says more than one in another field.
    let groups = answered.filter(isNamed) + answered.filter { !isNamed($0) }
    let failures = failed == 0 ? "" : " · \(failed.of("source")) failed"
    return """
      <section id="list" aria-label="Results">
      <div class="bar"><p class="count" data-announce>\
      \(found > 0 ? "\(isExact ? "" : "At least ")\(total.grouped) \(total == 1 ? "match" : "matches")" : isSearched ? "No matches" : "No matches so far") for “<bdi>\(query.withoutQuotes.safeLine)</bdi>”\
      \(found == 0 ? "" : " in \(found.of("source"))")\(failures)</p></div>
      \(chips(content))
      \(waiting(content))
      \(suggestion)
      \(searchHints(content.answers.compactMap { try? $0.page.get() }, content.query, address: WebAddress.search))
      \(groups.compactMap { results($0, content) })
      \(content.answers.compactMap { cachedMatches($0, content.query) })
      \(noMatches(content.answers.filter { $0.isEmpty && $0.shortcoming == nil && $0.cachedMatches == nil }.map(\.source.noun.plural.safeLine)))
      \(shortcomings(content.answers.filter { $0.isEmpty && !$0.isLate }))
      \(failureNotes(content.answers))
      </section>
      """
  }

  /// The sources that are still asked; the script looks again.
  private func waiting(_ content: SearchContent) -> HTML? {
    let names = content.answers.filter(\.isLate).map(\.source.noun.plural.safeLine)
    guard !names.isEmpty else { return nil }
    let address = WebAddress.search(content.query.with(\.cache, .reload))
    return """
      <p class="note">Still asking the service\(names.count == 1 ? "" : "s") of \(names.listText): \
      so far only \(names.count == 1 ? "its" : "their") local data was searched. <a class="wait" href="\(address)">Wait for the answer\(names.count == 1 ? "" : "s")</a>\
      <span data-countdown="1" hidden></span></p>
      """
  }

  /// The filters and the order, each with a link that removes it.
  private func chips(_ content: SearchContent) -> HTML? {
    let query = content.query.forLinks
    let wording = FilterWording(label: \.fieldLabel)
    var chips = query.conditions.indices.map { index in
      var rest = query
      rest.conditions.remove(at: index)
      let filter = try? TypedFilter(query.conditions[index])
      return chip(filter?.words(in: wording) ?? query.conditions[index], without: rest)
    }
    if let order = query.order {
      let words = Self.words(ofOrder: order, label: \.fieldLabel.lowercasedFirst) { _ in .any }
      chips.append(chip(words, without: query.with(\.order, nil)))
    }
    guard !chips.isEmpty else { return nil }
    return #"<ul class="chips" aria-label="Filters">\#(chips)</ul>"#
  }

  /// Hints about words of the search that may be meant as operators, with links to the filters, each message once.
  func searchHints(
    _ pages: [ServedListing], _ query: ServedQuery, address: (ServedQuery) -> String
  ) -> [HTML] {
    var messages: Set<String> = []
    let hints = pages.flatMap(\.searchHints).filter { messages.insert($0.message).inserted }
    return hints.map { hint in
      let filter = hint.condition.flatMap { try? TypedFilter($0) }
      let link = filter.map { filter -> HTML in
        var narrowed = query.forLinks
        (narrowed.cursor, narrowed.offset, narrowed.query) = (nil, nil, hint.rest)
        narrowed.conditions += [filter.quoted]
        if narrowed.cache == .live { narrowed.cache = .normal }
        return """
           <a href="\(address(narrowed))">Filter: \
          <bdi>\(filter.words(in: FilterWording(label: \.fieldLabel)).safeLine)</bdi></a>
          """
      }
      return #"<p class="note" dir="auto">\#(hint.message.sentence)\#(link)</p>"#
    }
  }

  private func chip(_ words: String, without rest: ServedQuery) -> HTML {
    """
    <li><a class="chip" href="\(WebAddress.search(rest))"><span class="visually-hidden">Remove: </span>\
    <bdi>\(words.safeLine)</bdi>\(Icon.close.html)</a></li>
    """
  }

  /// The note of a source whose service finds none while cached records match, with the way to them.
  private func cachedMatches(_ answer: SourceListing, _ query: ServedQuery) -> HTML? {
    guard let words = answer.cachedMatches else { return nil }
    let address = WebAddress.list(answer.source.name, query.forLinks.with(\.cache, .offline))
    return """
      <p class="note" dir="auto">\(answer.source.title) – \(words.safeLine). <a href="\(address)">Show cached matches</a></p>
      """
  }

  /// The reasons that answers without matches may have some nevertheless.
  private func shortcomings(_ answers: [SourceListing]) -> [HTML] {
    answers.compactMap { answer in
      answer.shortcoming.map {
        #"<p class="note nothing" dir="auto">\#(answer.source.title) – \#($0.safeLine)</p>"#
      }
    }
  }

  /// The sources that failed.
  private func failureNotes(_ answers: [SourceListing]) -> [HTML] {
    answers.compactMap { answer in
      answer.page.failure.map { failure in
        let words = [failure.message, failure.hint].compactMap { $0?.sentence }
        return """
          <p class="note failed" dir="auto">\(Icon.warning.html)<span>\(answer.source.title) – \(words.joined(separator: " "))</span></p>
          """
      }
    }
  }

  /// The sources without matches, in one sentence.
  private func noMatches(_ names: [String]) -> HTML? {
    guard !names.isEmpty else { return nil }
    return #"<p class="note nothing">No matches in \#(names.listText)</p>"#
  }

  private var examples: HTML {
    """
    <ul class="examples">\(sources.compactMap(\.exampleQuery).map { query in
      #"<li><a href="\#(WebAddress.search(ServedQuery.plain.with(\.query, query)))">\#(query.safeLine)</a></li>"# as HTML
    })</ul>
    """
  }

  private func results(_ answer: SourceListing, _ search: SearchContent) -> HTML? {
    guard case .success(let page) = answer.page else { return nil }
    let (source, asked) = (answer.source, search.query)
    let query = asked.forLinks
    let address = WebAddress.list(source.name, query)
    let badge = Badge(page, asked.cache, now)?.html(
      asked, hasNotes: false, address: WebAddress.search)
    let all: HTML? =
      page.summary.next == nil
      ? nil
      : """
      <p class="all"><a href="\(address)">All \(page.summary.total.map { "\($0.grouped) " } ?? "")matching \(source.noun.word(for: 2).safeLine)\
      \(Icon.forward.html)</a></p>
      """
    let matches = page.matches
    let content = SourceContent(
      source: source, query: query.with(\.view, .small),
      sample: search.samples[source.name] ?? FieldSample())
    let count: HTML =
      #" <span class="count">\#(matches.isExact ? "" : "at least ")\#(matches.count.grouped)</span>"#
    let list: HTML =
      if source.hasImages {
        gallery(page.records, content)
      } else {
        rows(page.records, content)
      }
    return """
      <section class="group" aria-label="\(source.title)">
      <div class="bar"><h2><a href="\(address)">\(source.title)</a>\(count)</h2>\(badge)</div>
      \(list)
      \(all)
      </section>
      """
  }
}

extension String {
  /// The words of a search between quotation marks, which a phrase has already.
  var withoutQuotes: String {
    wholeMatch(of: /["“„«]([^"“”„«»]+)["”»]/).map { String($0.1) } ?? self
  }
}

extension SourceListing {
  /// True for an answer without matches.
  fileprivate var isEmpty: Bool { (try? page.get())?.records.isEmpty == true }

  fileprivate var shortcoming: String? { (try? page.get())?.shortcoming }

  fileprivate var cachedMatches: String? { (try? page.get())?.matchesBesides }
}

extension ServedListing {
  /// The number of all matches, or the least that there are, if more are not known, or some records were not searched.
  fileprivate var matches: (count: Int, isExact: Bool) {
    // Of local data that stand for a slow service, all were counted.
    let isLate = summary.warnings.contains { $0.warning.code == .init(.timedOut) }
    let isWhole = shortcoming == nil
    let total = isWhole || isLate ? summary.total : nil
    let least = max(records.count, cachedMatches ?? 0)
    return (total ?? least, isWhole && (total != nil || summary.next == nil))
  }

  /// That the service finds none while cached records match; `nil` for any other answer.
  var matchesBesides: String? {
    summary.warnings.map(\.warning).first { $0.isOfStoredSearch && $0.hasCachedMatches }?.message
  }

  /// The reason a search without records may have matches nevertheless; `nil` if all records were searched.
  var shortcoming: String? {
    summary.warnings.map(\.warning)
      .first {
        $0.meansIncomplete || [.leftOut, .scanned, .init(.timedOut)].contains($0.code)
          || $0.code == .bundled && records.isEmpty
      }?
      .message
  }
}
