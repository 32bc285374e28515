import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The page of a source and its list.

extension HTMLRenderer {
  func sourcePage(_ content: SourceContent) -> HTML {
    let source = content.source
    // A record that cannot be shown is none of the list either.
    let name = content.detail.map { detail in
      (try? detail.answer.get())?.records.first?.name ?? detail.id.oneLine(atMost: 80)
    }
    let hasRecords = (try? content.list?.get())?.records.isEmpty == false
    return document(
      Frame(
        title: [name, title(content, isCounted: name == nil)].compactMap(\.self)
          .joined(separator: " – "),
        place: source.name, showsDetail: content.detail != nil, hasRecords: hasRecords),
      """
      <div class="column">
      <div class="heading">
      <div><h1>\(source.title)</h1>
      <p class="summary">\(source.summary.safeLine.capitalizedFirst)</p>\(changeLinks(source))</div>
      \(source.hasStore ? #"<a class="button" href="\#(WebAddress.changes(source.name))">Changes</a>"# : nil)\
      \(syncBox(source))
      </div>
      \(searchForm(
        WebAddress.list(source.name, ServedQuery.plain), "Search \(source.noun.plural)",
        content.query.forLinks))
      \(listPart(content))
      </div>
      \(detailPart(content))
      """)
  }

  /// The ways to change a source that was added.
  private func changeLinks(_ source: any ServedSource) -> HTML? {
    guard mayChange(source.name) else { return nil }
    let this: HTML = #"<span class="visually-hidden"> this source</span>"#
    return """
      <p class="aside"><a href="\(RoutePath(PagePath.edit, source.name).text)">Edit\(this)…</a> · \
      <a href="\(RoutePath(PagePath.remove, source.name).text)">Remove\(this)…</a></p>
      """
  }

  /// The list in words: `Things for “lamp” where price is below 20`, counted `2 things for …`.
  func title(_ content: SourceContent, isCounted: Bool = false) -> String {
    let page = isCounted ? try? content.list?.get() : nil
    let records = page.flatMap { knownAmount($0, content) }
    let query = content.query.query.map { " for “\($0.withoutQuotes)”" } ?? ""
    let selection = selectionWords(content).map { " \($0)" } ?? ""
    return (records ?? content.source.title) + query + selection
  }

  /// The button that syncs a source, with the progress; it needs the script.
  func syncBox(_ source: any ServedSource) -> HTML? {
    guard !isReadOnly, source.hasStore else { return nil }
    return """
      <div class="sync" data-source="\(source.name)" data-action="\(WebAddress.sync(source.name))" \
      data-bound="\(syncBound(of: source))" data-noun="\(source.noun.isPlural ? source.noun.plural : "records")" hidden>
      <button type="button" class="button">\(Icon.download.html)\
      <span>\(source.isEndless ? "Load more" : "Sync")</span>\
      <span class="visually-hidden"> \(source.title)</span></button>
      <div class="sync-state" hidden><progress aria-label="Sync of \(source.title)"></progress>\
      <span class="sync-words" dir="auto"></span></div>
      </div>
      """
  }

  func listPart(_ content: SourceContent) -> HTML {
    let source = content.source
    let body: HTML? = content.list.map { list in
      switch list {
      case .success(let page): answer(page, content)
      case .failure(let failure): failureState(failure, content)
      }
    }
    return """
      <section id="list" aria-label="\(source.title)">
      \(content.deleted.map { deletedNotice($0, content) })
      \(schemaChanges(content.schemaChanges))
      \(content.hidden.map { hidden($0, content) })
      \(shortfall(of: content).map(note(of:)))
      \(tools(content))
      \(filters(content))
      \(body)
      </section>
      """
  }

  /// The shortfall that the first page names; `nil` also if it is a failure that the script shows.
  private func shortfall(of content: SourceContent) -> Shortfall? {
    content.query.cursor != nil
      || content.shortfall?.includes(.syncFailed) == true && saysFailure(of: content.lastSync)
      ? nil : content.shortfall
  }

  /// The latest changes of the members of the rows.
  func schemaChanges(_ changes: [SchemaEntry], isOpen: Bool = false) -> HTML? {
    guard !changes.isEmpty else { return nil }
    return """
      <details class="schema"\(attribute: "open", isOpen ? "" : nil)><summary>Fields that the service has changed</summary>
      <ul>\(changes.suffix(5).reversed().map { "<li>\($0.text.withWrittenDates)</li>" })</ul></details>
      """
  }

  /// The deleted records, each with its way back; nothing if there are none.
  private func hidden(_ listing: ServedListing, _ content: SourceContent) -> HTML {
    let source = content.source
    let count = listing.summary.total ?? listing.records.count
    guard count > 0, !isReadOnly else { return "" }
    let noun = source.noun.word(for: count)
    let rest: HTML? =
      count > listing.records.count
      ? "<li>All of them: <code>\([program, source.name, "list --deleted"].joined(separator: " "))</code></li>"
      : nil
    return """
      <details class="schema hidden"><summary>\(count.grouped) deleted \(noun.safeLine)</summary>
      <ul>\(listing.records.map { record in
        """
        <li><form method="post" action="\(WebAddress.record(source.name, record.id, content.query.forLinks, .restore))">\
        <bdi>\(record.name.safeLine)</bdi> <button type="submit" class="button">Restore</button></form></li>
        """ as HTML
      })\(rest)</ul></details>
      """
  }

  private func answer(_ page: ServedListing, _ content: SourceContent) -> HTML {
    let source = content.source
    let query = content.query.forLinks
    let badge = Badge(page, query.cache, now, besides: shortfall(of: content))
    let badgeHTML = badge?.html(content.query.with(\.cursor, nil)) {
      WebAddress.list(source.name, $0)
    }
    let count = count(page, content)
    let hints = searchHints([page], query) { WebAddress.list(source.name, $0) }
    guard !page.records.isEmpty || query.cursor != nil else {
      let total = page.summary.total ?? 0
      let isBeyond = total > 0 && query.offset ?? 0 > 0
      // The message in place of records says it.
      let isSaid = !isBeyond && query.query != nil && query.conditions.isEmpty
      let said = isSaid ? page.shortcoming ?? page.matchesBesides : nil
      return """
        <div class="bar"><p class="count" data-announce>\(isBeyond ? count : "No \(source.noun.word(for: 0).safeLine)\(page.shortcoming == nil ? "" : " so far")")</p>\
        \(jump(page, content))\(badgeHTML)</div>
        \(badge?.notesHTML(besides: said?.safeLine.capitalizedFirst) ?? [])
        \(hints)
        \(isBeyond ? beyond(total, content) : empty(content))
        """
    }
    let list =
      content.query.view == .table
      ? table(page, content) : gallery(page.records, content)
    return """
      <div class="bar"><p class="count" data-announce data-count="\(page.records.count)"\
      \(attribute: "data-offset", query.cursor == nil ? String(query.offset ?? 0) : nil)>\(count)</p>\
      \(jump(page, content))\(badgeHTML)</div>
      \(badge?.notesHTML(opening: missingKey(page)) ?? [])
      \(storedOrder(page, content))
      \(hints)
      \(beginning(page, content))
      \(list)
      \(end(page, content))
      """
  }

  /// The way to the key that the service requires, if it is missing.
  private func missingKey(_ page: ServedListing) -> HTML? {
    guard let reason = page.summary.provenance?.reason, reason.code == .missingKey,
      let remedy = remedy(of: Problem(reason))
    else { return nil }
    return "For live data, \(remedy)\(keyForm(of: Problem(reason)))"
  }

  /// The number of records of the list: `60 of 100 things` if the service sent 60, but reports 100, if 40 cannot be read, or if
  /// 60 are cached and a sync did not get the others; `nil` if it is unknown.
  private func knownAmount(_ page: ServedListing, _ content: SourceContent) -> String? {
    let (query, noun) = (content.query, content.source.noun)
    let isWhole = page.summary.next == nil && query.cursor == nil
    guard
      let count = page.summary.total ?? content.cachedCount ?? (isWhole ? page.records.count : nil)
    else { return nil }
    let codes = [Warning.Code.sentFewer, .unreadable]
    let isCopy = page.summary.provenance?.origin == .cached && content.shortfall != nil
    let isClaim =
      query.query == nil && (isCopy || codes.contains { content.shortfall?.includes($0) == true })
    let sent = isClaim ? min(count, content.cachedCount ?? count) : count
    let part = sent < count ? "\(sent.grouped) of " : ""
    // Records that were not searched may match; the total of a service counts them.
    let isLeast = page.shortcoming != nil && (query.readsIndex || page.summary.total == nil)
    let least = isLeast && count > 0 && part.isEmpty ? "At least " : ""
    let soFar = count == 0 && page.shortcoming != nil ? " so far" : ""
    // A store that searches all fields finds others than its service.
    let isStored =
      query.query != nil && page.summary.warnings.contains { $0.warning == .storedSearch }
    return
      "\(least)\(part)\(count == 0 ? "No" : count.grouped)\(isStored ? " cached" : "") \(noun.word(for: count))\(soFar)"
  }

  private func count(_ page: ServedListing, _ content: SourceContent) -> HTML {
    let noun = content.source.noun
    let known = knownAmount(page, content)
    let count: HTML =
      if let known {
        "\(known.safeLine)"
      } else {
        "<span data-shown>\(page.records.count)</span> \(noun.word(for: 2)) shown"
      }
    let query: HTML? = content.query.query.map { " for “<bdi>\($0.withoutQuotes.safeLine)</bdi>”" }
    let selection: HTML? = selectionWords(content).map { " <bdi>\($0.safeLine)</bdi>" }
    // The style hides it once the list has come to its end.
    let unknown: HTML? = known == nil ? #"<span class="unknown">, total unknown</span>"# : nil
    return "\(count)\(query)\(selection)\(unknown)"
  }

  /// The way to a position among the cached records.
  private func jump(_ page: ServedListing, _ content: SourceContent) -> HTML? {
    let query = content.query
    let isBundled = page.summary.provenance?.origin == .bundled
    let total = query.readsIndex && !isBundled ? page.summary.total : content.cachedCount
    guard let total, total > page.records.count, query.cache != .live else { return nil }
    return """
      <form class="jump" action="\(WebAddress.list(content.source.name, ServedQuery.plain))" method="get">
      \(hiddenFields(query.forLinks))<label>Go to <span>no.</span> <input type="number" name="position" min="1" \
      max="\(total)" placeholder="1–\(total.grouped)" required></label>
      <button type="submit" class="button">Go</button></form>
      """
  }

  /// Says of a list from a position on that it has not the order of the service; empty in another one from which the script
  /// may go to a position.
  private func storedOrder(_ page: ServedListing, _ content: SourceContent) -> HTML? {
    let query = content.query
    // Matches have their rank.
    if page.offset != nil, query.query == nil, query.conditions.isEmpty, query.order == nil {
      return
        #"<p class="note order">In the order in which the records were first cached, which may differ from that of the service.</p>"#
    }
    return jump(page, content).map { _ in #"<p class="order" hidden></p>"# }
  }

  /// Where a list that does not begin with the first record begins, and the way to those before it.
  private func beginning(_ page: ServedListing, _ content: SourceContent) -> HTML? {
    let offset = content.query.offset ?? 0
    guard content.query.cursor != nil || offset > 0 else { return nil }
    let total = page.summary.total.map { " of \($0.grouped)" } ?? ""
    let earlier: HTML? =
      offset == 0
      ? nil
      : """
      From row \((offset + 1).grouped)\(total) · \
      <a rel="prev" href="\(address(from: offset - pageSize(of: content), content))">Show earlier</a>
      """
    return """
      <p class="beginning">\(earlier)\(earlier == nil ? "" : " · ")\
      <a href="\(address(from: 0, content))">Back to the beginning of the list</a></p>
      """
  }

  /// The message in place of records for a position beyond the last one.
  private func beyond(_ total: Int, _ content: SourceContent) -> HTML {
    let (noun, size) = (content.source.noun, pageSize(of: content))
    return state(
      .information,
      total == 1
        ? "There is only 1 \(noun.word(for: 1))"
        : "There are only \(total.grouped) \(noun.word(for: total))",
      []
    ) {
      """
      <a class="button primary" href="\(address(from: (total - 1) / size * size, content))">Last page</a>
      <a class="button" href="\(address(from: 0, content))">Beginning of the list</a>
      """
    }
  }

  private func pageSize(of content: SourceContent) -> Int {
    content.query.limit ?? min(ListingBounds.standardLimit, content.source.largestPage)
  }

  /// The address of the list from a position on.
  private func address(from offset: Int, _ content: SourceContent) -> String {
    let query = content.query.forLinks.with(\.cursor, nil)
    return WebAddress.list(
      content.source.name, query.with(\.offset, offset > 0 ? offset : nil))
  }

  private func end(_ page: ServedListing, _ content: SourceContent) -> HTML {
    guard let next = page.summary.next else {
      return #"<p class="end">End of list</p>"#
    }
    let address = WebAddress.list(
      content.source.name,
      content.query.forLinks.with(\.offset, nil).with(\.cursor, next.description))
    return #"<p class="more"><a class="button" rel="next" href="\#(address)">Show more</a></p>"#
  }

  func gallery(_ records: [ServedRecord], _ content: SourceContent) -> HTML {
    let numbers = content.sample.with(records)
    // A search of all sources has several.
    let place: HTML? = content.list == nil ? nil : #" id="records" tabindex="-1""#
    let size = content.query.view == .small ? " small" : ""
    // Cards of records none of which has a picture need no room for them.
    let hasPictures = content.source.hasImages && records.contains(where: \.hasImage)
    return """
      <ol class="records gallery\(size)\(hasPictures ? "" : " plain")"\(place)>
      \(records.map { card($0, content, numbers, hasPicture: hasPictures) })
      </ol>
      """
  }

  private func card(
    _ record: ServedRecord, _ content: SourceContent, _ numbers: FieldSample, hasPicture: Bool
  ) -> HTML {
    let (source, query) = (content.source, content.query.forLinks)
    let most = query.view == .small ? 2 : 3
    // A long ID says nothing beside the name.
    let lines = record.summary.filter { !$0.isHeading || $0.value.count <= 12 }
    var shown = Array(lines.prefix(most))
    // The value that decides the place of the record.
    if let key = query.order?.split(separator: ",").first?.trimmingPrefix("-"),
      !shown.contains(where: { $0.field == key }),
      let line = (lines + record.card).first(where: { $0.field == key }),
      !line.value.isEmpty, line.value != record.name
    {
      shown = Array(lines.prefix(most - 1)) + [line]
    }
    let excerpt = excerpt(of: record, query)
    shown.removeAll { $0.field == excerpt?.field }
    let facts = shown.map { line -> HTML in
      let (value, label) = (line.address ?? HTML(line, in: numbers), line.label.fieldLabel)
      // A small card has no room for the label of a text, which says what it is better than a number or a code does.
      let isText = if case .string = line.json { true } else { !line.elements.isEmpty }
      let isAddress = line.address != nil && line.value.contains(/@|:\/\//)
      let isAlone = isAddress || query.view == .small && isText && !line.field.namesCodes
      return """
        <span class="fact"\(attribute: "title", isAlone ? label : nil)>\
        <span class="\(isAlone ? "visually-hidden" : "label")">\(label)</span> <bdi>\(value)</bdi></span>
        """
    }
    return """
      <li><a class="record" href="\(WebAddress.record(source.name, record.id, query))" \
      data-id="\(record.id)"\(attribute: "aria-current", record.id == content.detail?.id ? "true" : nil)>
      \(hasPicture ? picture(of: record, source, query.cache) : nil)
      <span class="words"><span class="name" dir="auto">\(record.name.safeLine)</span>\
      \(facts)\(excerpt?.html)</span></a></li>

      """
  }

  /// The picture, over the initial of the name, which is there until it has arrived.
  func picture(
    of record: ServedRecord, _ source: any ServedSource, _ cache: ServedQuery.Cache
  ) -> HTML {
    let address = WebAddress.image(source.name, record.id, .small, cache)
    // The script loads pictures a few at a time, so that a record that is opened need not wait for them.
    let image: HTML? =
      record.hasImage
      ? #"<noscript><img src="\#(address)" alt="" loading="lazy" decoding="async"></noscript>"#
      : nil
    // The same record always has the same colour.
    let hue = record.id.fnv1a % 6
    return """
      <span class="picture hue-\(Int(hue))"\(attribute: "data-image", record.hasImage ? address : nil)>\
      <span class="initial" aria-hidden="true">\(record.name.initial)</span>\(image)</span>
      """
  }

  func rows(_ records: [ServedRecord], _ content: SourceContent) -> HTML {
    // A record lists only fields that have a value; the columns are those of all of them.
    let labels = records.flatMap(\.summary).reduce(into: [String]()) { labels, line in
      if !labels.contains(line.label) { labels.append(line.label) }
    }
    let columns = labels.prefix(4).map { label in
      let lines = records.flatMap(\.summary).filter { $0.label == label }
      return Column(label: label, isNumeric: lines.allSatisfy { $0.json?.isNumber == true })
    }
    let numbers = content.sample.with(records)
    return """
      <div class="columns columns-\(columns.count)" aria-hidden="true"><span>Name</span>\
      \(columns.map { column in
        "<span\(attribute: "class", column.isNumeric ? "number" : nil)>\(column.label.fieldLabel)</span>" as HTML
      })</div>
      <ol class="records rows columns-\(columns.count)">
      \(records.map { row($0, columns, numbers, content) })
      </ol>
      """
  }

  /// A column of the first matches of a source.
  private struct Column {
    let label: String
    let isNumeric: Bool
  }

  private func row(
    _ record: ServedRecord, _ columns: [Column], _ numbers: FieldSample, _ content: SourceContent
  ) -> HTML {
    let address = WebAddress.record(content.source.name, record.id, content.query)
    let facts = columns.map { column -> HTML in
      guard let line = record.summary.first(where: { $0.label == column.label }) else {
        return #"<span class="fact"></span>"#
      }
      return """
        <span class="fact\(column.isNumeric ? " number" : "")"><span class="label">\(column.label.fieldLabel)</span> \
        <bdi>\(HTML.opaque(line.value) ?? line.address ?? HTML(line, in: numbers))</bdi></span>
        """
    }
    return """
      <li><a class="record" href="\(address)" data-id="\(record.id)">\
      <span class="name" dir="auto">\(record.name.safeLine)</span>\(facts)\(excerpt(of: record, content.query)?.html)</a></li>

      """
  }

  /// The text around the first match of a search that is not in the name of the record, with the name of its field; `nil` if
  /// a short value beside the name shows it, or no field has one.
  ///
  /// - Parameter columns: The fields that are shown beside the name; `nil` for the first ones of the summary.
  func excerpt(
    of record: ServedRecord, _ query: ServedQuery, columns: [String]? = nil
  ) -> (field: String, html: HTML)? {
    guard let query = query.query else { return nil }
    let words = SearchedWords(query).missing(in: record.name)
    let beside = columns ?? record.summary.prefix(3).map(\.field)
    for line in record.summary + record.card {
      let text = String(line.value.prefix(10_000)).safeLine
      guard let match = words.ranges(in: text).first else { continue }
      let characters = Array(text)
      // The beginning of a cell is in sight, too.
      if beside.contains(line.field),
        columns == nil ? characters.count <= 40 : match.upperBound <= 30
      {
        return nil
      }
      // The match is in sight also where a line has room for few words, of which none is cut, if it is not very long.
      var start = max(0, match.lowerBound - 16)
      if start > 0,
        let space = characters[start..<match.lowerBound].firstIndex(of: " ")
          ?? characters[max(0, start - 16)..<start].lastIndex(of: " ")
      {
        start = space + 1
      }
      var end = min(characters.count, match.upperBound + 80)
      if end < characters.count, characters[end] != " " {
        end = characters[match.upperBound..<end].lastIndex(of: " ") ?? end
      }
      let words: HTML = """
        \(start > 0 ? "…" : "")\(String(characters[start..<match.lowerBound]))\
        <mark>\(String(characters[match]))</mark>\
        \(String(characters[match.upperBound..<end]))\(end < characters.count ? "…" : "")
        """
      // A date and a number are written as everywhere else, where the searched words need not be.
      let value = line.written(in: FieldSample()) ?? words
      let label: HTML = #"<span class="label">\#(line.label.fieldLabel)</span>"#
      return (line.field, #"<span class="fact excerpt">\#(label) <bdi>\#(value)</bdi></span>"#)
    }
    return nil
  }
}

extension ServedRecord.Line {
  /// An e-mail or web address, a host or a path that is broken between its parts; `nil` for anything else.
  fileprivate var address: HTML? {
    let isHost =
      value.contains(".") && value.first?.isLetter == true && value.last?.isLetter == true
    guard isHost || value.contains(where: "@/".contains), elements.isEmpty,
      !value.contains(where: \.isWhitespace)
    else { return nil }
    let text = ("\(value.oneLine(atMost: 200).safeLine)" as HTML).text
    return HTML(stringLiteral: text.replacing(/[@.]|\/+/) { "\($0.output)<wbr>" })
  }
}

extension String {
  /// The first letter or digit behind titles and articles: `J` of `Mr "Jo" Doe`.
  fileprivate var initial: String {
    let titles: Set = [
      "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "madame", "monsieur", "mademoiselle",
      "the", "a", "an",
    ]
    let words = safeLine.split { !$0.isLetter && !$0.isNumber }
    let word = words.first { !titles.contains($0.lowercased()) } ?? words.first
    return word.map { $0.prefix(1).uppercased() } ?? "·"
  }
}
