import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// How the records of a source have changed, by day.

struct ChangesContent: Sendable {
  let source: any ServedSource
  let query: ChangesQuery
  var page: Result<ChangePage?, Problem>
  /// The first sync, if the page begins at its end, and not at the time of the query.
  var baseline: ServedSync?
  /// The syncs that servers have run, the latest first.
  var syncs: [ServedSync] = []
  /// All known changes of the members of the rows.
  var schemaChanges: [SchemaEntry] = []
  /// So that changes and lists write values in the same way.
  var sample = FieldSample()

  /// The numbers of all changes since the point, or of many; `nil` to take those of the page, if it has all.
  var sum: ChangeSummary?

  /// The numbers of the changes of the last day, if there are none since the usual point.
  var lastDay: ChangeSummary?

  /// True if the time of the query cannot be read.
  var hasWrongTime: Bool { page.failure?.status == 400 }

  /// The query of the page.
  var asked: ChangesQuery {
    var query = query
    query.since = baseline?.end ?? query.since
    return query
  }

  /// The first sync, if the time of the query is before it and before the beginning of the history.
  ///
  /// A comparison with that time would list all records as added, and none as changed since. `nil` if the oldest sync that
  /// is known has changed or removed records, or the history begins long before it, as that of a sync from the command line:
  /// it was not the first one then.
  var firstFetch: ServedSync? {
    guard case .success(let page?) = page, let known = page.summary.knownSince,
      let date = page.summary.date, syncs.count < ServedSync.mostKept,
      let first = syncs.last(where: { $0.outcome == .complete }), first.end != nil,
      first.startedAt.timeIntervalSince(known) < 300,
      first.counts.dropFirst(2).allSatisfy({ $0 == 0 })
    else { return nil }
    return date < first.beginning ? first : nil
  }

  /// The changes of the members of the rows since the point, on the first page of changes of all kinds and fields.
  var schemaChangesSince: [SchemaEntry] {
    guard query.isOfAll, query.cursor == nil, case .success(let page?) = page else { return [] }
    let start = page.summary.date?.iso8601 ?? ""
    return schemaChanges.filter { $0.date > start }
  }

  /// True if the page has all changes, of all kinds and fields.
  var isWhole: Bool {
    guard case .success(let page?) = page else { return false }
    return query.isOfAll && query.cursor == nil && page.next == nil
  }

  /// True if the page is the usual one, and has no changes since an earlier sync.
  var isEmpty: Bool {
    guard isWhole, query.since == "sync", case .success(let page?) = page else { return false }
    return page.summary.count == 0 && page.summary.hasEarlierSync
  }

  /// The points that are offered, the usual one first.
  static let starts = [
    (typed: "sync", words: "Last sync"), (typed: "1d", words: "1 day"),
    (typed: "7d", words: "7 days"), (typed: "30d", words: "30 days"),
  ]

  static let kinds: [ChangeEntry.Kind?] = [nil, .added, .changed, .removed]
}

extension HTMLRenderer {
  func changes(_ content: ChangesContent) -> String {
    let source = content.source
    let page = try? content.page.get()
    let sum = content.isWhole ? page?.summary : content.sum
    let isCutShort = content.syncs.first?.outcome.isCutShort == true
    let body: HTML
    switch content.page {
    case .success(let page?): body = list(page, content)
    case .success(nil):
      body = state(
        .information,
        content.query.since == "sync"
          ? ChangeSummary.noSync.capitalizedFirst : "Nothing is known of that time",
        ["The changes of \(source.noun.plural) are known from the first sync on"])
    case .failure(let problem):
      let title = content.hasWrongTime ? "This time does not work" : problem.title
      body = state(.warning, title, [problem.message, problem.hint])
    }
    return document(
      Frame(title: "Changes of \(source.noun.plural)", place: source.name),
      """
      <div class="column">
      <div class="heading"><div><h1>Changes of \(source.noun.plural.safeLine)</h1>
      <p class="summary"><a href="\(WebAddress.list(source.name, ServedQuery.plain))">All \(source.noun.word(for: 2).safeLine)</a></p></div></div>
      <div class="tools"><nav class="views" aria-label="Kind">\(ChangesContent.kinds.map { kind in
        let name = kind?.rawValue.capitalizedFirst ?? "All"
        let words = [name, sum?.number(of: kind)].compactMap(\.self).joined(separator: " ")
        return tab(words, since: content.query.since, kind, nil, content)
      })</nav>
      <nav class="views" aria-label="Time">\(ChangesContent.starts.map { start in
        let words = start.typed == "sync" && isCutShort ? "\(start.words) that ended" : start.words
        return tab(words, since: start.typed, content.query.kind, content.query.field, content)
      })</nav>\(otherTime(content))</div>
      \(syncs(content))
      \(schemaChanges(content.schemaChangesSince, isOpen: true))
      \(content.query.field == nil ? sum.flatMap { timeline($0, page) } : nil)
      \(body)
      </div>
      """
    ).text
  }

  /// The way to the changes since a point, of a kind or of a field.
  private func tab(
    _ words: String, since start: String, _ kind: ChangeEntry.Kind?, _ field: String?,
    _ content: ChangesContent
  ) -> HTML {
    let query = content.query
    let isCurrent = start == query.since && kind == query.kind && field == query.field
    return """
      <a class="button" href="\(WebAddress.changes(content.source.name, since: start, of: kind, in: field))"\
      \(attribute: "aria-current", isCurrent ? "true" : nil)>\(words)</a>
      """
  }

  /// The form of a point that is not among those offered.
  private func otherTime(_ content: ChangesContent) -> HTML {
    let query = content.query
    let isOffered = ChangesContent.starts.contains { $0.typed == query.since }
    // What was typed is in sight where it has to be corrected.
    let isWrong = content.hasWrongTime
    return """
      <details class="menu"\(attribute: "open", isWrong ? "" : nil)><summary class="button">Other time</summary>
      <form class="panel" action="\(WebAddress.changes(content.source.name))" method="get">
      \(query.kind.map { hidden("kind", $0.rawValue) })\(query.field.map { hidden("field", $0) })
      <p class="save"><label for="since">Since</label>
      <input id="since" name="since" required value="\(isOffered ? "" : query.since)" \
      placeholder="2026-01-31 14:30" aria-describedby="since-note"\(isWrong ? #" aria-invalid="true" autofocus"# as HTML : nil) \
      autocomplete="off" autocapitalize="off" spellcheck="false">
      <button type="submit" class="button primary">Show</button></p>
      <p class="aside" id="since-note">A date, also with a time, in UTC, such as 2026-01-31 14:30 or 31 Jan 2026, 14:30; \
      or a span such as 10m or 3d</p></form></details>
      """
  }

  /// The last sync in words, and all of them as a table, with the ways to their changes.
  private func syncs(_ content: ChangesContent) -> HTML? {
    let syncs = content.syncs
    func link(_ words: String, _ sync: ServedSync, _ kind: ChangeEntry.Kind? = nil) -> HTML {
      let address = WebAddress.changes(
        content.source.name, since: sync.beginning.iso8601, of: kind, in: nil)
      return #"<a href="\#(address)">\#(words)</a>"#
    }
    guard let last = syncs.first else { return nil }
    let numbers = ["records", "added", "changed", "removed"]
    let counts = zip(last.counts, numbers).filter { $0.0 > 0 || $0.1 == "records" }
      .map { "\($0.0.grouped) \($0.0 == 1 && $0.1 == "records" ? "record" : $0.1)" }
    let length = last.duration.map { " after \($0.text)" } ?? ""
    let sum = counts.joined(separator: ", ")
    let reason = last.outcome == .stopped ? "" : last.reason.map { ": \($0)" } ?? ""
    // The numbers of one that has ended are those of the changes.
    let words =
      "Last sync run by a server: \(last.startedAt.written), \(last.outcome.rawValue)\(length)\(reason)"
    // That nothing shows the end of the list is no failure.
    let isAlarm = last.reason != nil && last.outcome != .ended
    let rest: HTML? =
      !isAlarm || last.outcome == .incomplete || last.counts.allSatisfy { $0 == 0 }
      ? nil
      : """
      <p class="note">What it had read until then stays cached: \(sum). Other records may be older, \
      and those that the service has removed are found by a complete sync.</p>
      """
    return """
      <p class="note\(isAlarm ? " failed" : "")" dir="auto">\(isAlarm ? Icon.warning.html : nil)\
      <span>\(words.sentence)</span></p>\(rest)
      <details class="fold"><summary>\(syncs.count == 1 ? "Details of this sync" : "The last \(syncs.count) syncs")</summary>
      <div class="table-box" tabindex="0" role="region" aria-label="Syncs"><table>
      <thead><tr><th scope="col">Began</th><th scope="col">Result</th><th scope="col" class="number">Took</th>\
      \(numbers.map { #"<th scope="col" class="number">\#($0.capitalizedFirst)</th>"# as HTML })</tr></thead>
      <tbody>\(syncs.map { sync in
        """
        <tr><td>\(link(sync.startedAt.written, sync))</td><td dir="auto"\(attribute: "title", sync.reason?.safeLine)>\
        \(([sync.outcome.rawValue.capitalizedFirst, sync.reason].compactMap(\.self).joined(separator: ": ")).safeLine)</td>\
        <td class="number">\(sync.duration?.text ?? "")</td>\
        \(zip(sync.counts, ChangesContent.kinds).map { count, kind in
          let cell = count == 0 || kind == nil ? "\(count.grouped)" : link(count.grouped, sync, kind)
          return #"<td class="number">\#(cell)</td>"# as HTML
        })</tr>

        """ as HTML
      })</tbody></table></div>
      <p class="note">Each leads to the changes since it began, also those of later syncs. Syncs from the command line are \
      not among them.</p></details>
      """
  }

  /// The changes of each day as bars, and in words; `nil` for fewer than two days.
  private func timeline(_ sum: ChangeSummary, _ page: ChangePage?) -> HTML? {
    let days = sum.days.sorted { $0.key < $1.key }.compactMap { day, counts in
      Period(day).map { (day: day, place: Int($0.start) / 86_400, counts: counts) }
    }
    guard let first = days.first, let last = days.last, days.count > 1 else { return nil }
    let most = days.map { $0.counts.values.reduce(0, +) }.max() ?? 1
    let shown = Set((page?.entries ?? []).map { String($0.date.prefix(10)) })
    let kinds = ChangesContent.kinds.compactMap(\.self)
    let bars = days.map { day, place, counts -> HTML in
      var top = 110
      let parts = kinds.map { kind -> HTML? in
        guard let count = counts[kind] else { return nil }
        // A few are seen beside many.
        let height = max(3, count * 100 / most)
        top -= height
        return """
          <rect x="\(place - first.place).1" y="\(top)" width=".8" height="\(height)" class="\(kind.rawValue)" fill="var(--tone)"/>
          """
      }
      return "<g><title>\(day.writtenDay): \(counts.words)</title>\(parts.compactMap(\.self))</g>"
    }
    return """
      <div class="figure"><svg role="img" aria-label="Changes by day, as in the list below" width="100%" height="96" \
      viewBox="0 0 \(last.place - first.place + 1) 110" preserveAspectRatio="none">\(bars)</svg>
      <p class="note ends"><span>\(first.day.writtenDay)</span>\(kinds.map { kind in
        #"<span class="tone \#(kind.rawValue)">\#(kind.rawValue.capitalizedFirst)</span>"# as HTML
      })<span>\(last.day.writtenDay)</span></p></div>
      \(sum.isCut ? #"<p class="note">These are the first \#(sum.count.grouped) changes; there are more.</p>"# : nil)
      <ul class="found" aria-label="Days">\(days.map { day, _, counts in
        let link: HTML? = shown.contains(day) ? ##" href="#\##(day)""## : nil
        return "<li><a\(link)>\(day.writtenDay)</a>: \(counts.words)</li>\n"
      })</ul>
      """
  }

  private func list(_ page: ChangePage, _ content: ChangesContent) -> HTML {
    let (source, summary) = (content.source, page.summary)
    let isWhole = content.query.cursor == nil && page.next == nil
    let number = "\(summary.count.grouped) change\(summary.count == 1 ? "" : "s")"
    let count =
      switch (summary.count, isWhole) {
      case (0, true): summary.firstSync?.capitalizedFirst ?? "No changes"
      case (0, false): "No changes here"
      case (_, true): summary.counts.words.capitalizedFirst
      case (_, false): content.query.cursor == nil ? "The first \(number)" : "\(number) more"
      }
    let hasStart = content.query.cursor == nil && (summary.count > 0 || summary.hasEarlierSync)
    let isCutShort = content.syncs.first?.outcome.isCutShort == true
    let sync = summary.startWords(isCutShort: isCutShort)
    let start = content.query.since == "sync" ? "\(sync), " : ""
    let since = hasStart ? summary.date.map { " since \(start)\($0.written)" } : nil
    let omissions = (isWhole ? summary : content.sum)?.omissions ?? []
    let notes =
      omissions.map(\.sentence)
      + summary.warnings(of: source.name).map(\.warning.message.sentence)
    let days = Dictionary(grouping: page.entries) { $0.date.prefix(10) }
    let parts = days.sorted { $0.key < $1.key }.map { day, entries -> HTML in
      let entries = entries.sorted { ($0.kind.order, $0.date) < ($1.kind.order, $1.date) }
      // Those of the only day have been said above.
      let words = isWhole && days.count == 1 ? nil : counts(of: entries, isWhole: isWhole)
      let sum = words.map { #" <small class="difference">\#($0)</small>"# as HTML }
      return """
        <h2 id="\(String(day))">\(String(day).writtenDay)\(sum)</h2>
        <ul class="changes">\(entries.map { item($0, content) })</ul>

        """
    }
    let more: HTML? = page.next.map { next in
      let address = WebAddress.changes(
        source.name, since: content.asked.since, of: content.query.kind, in: content.query.field,
        at: next)
      return """
        <p class="more"><a class="button" rel="next" href="\(address)">More changes</a></p>
        """
    }
    let links = formats(ofFile: "\(source.name)-changes") {
      WebAddress.api(source.name, changes: content.asked, as: $0)
    }
    let isEmpty = summary.count == 0 && page.next == nil
    let first = content.baseline.map { sync -> HTML in
      let address = WebAddress.changes(source.name, since: sync.beginning.iso8601)
      return """
        <p class="note">The history begins with the first sync: these are the changes after it. \
        <a href="\(address)">With what it added</a></p>
        """
    }
    let files: HTML? =
      isEmpty
      ? nil
      : #"<p class="note">All of them as \#(links). They were found by syncs, and by lists that were fetched from the service.</p>"#
    let day = content.lastDay.flatMap { $0.count > 0 ? $0.number(of: nil) : nil }
    let latest = day.map { number -> HTML in
      #" · <a href="\#(WebAddress.changes(source.name, since: "1d"))">\#(number) in the last day</a>"#
    }
    return """
      <p class="count">\(count)\(since ?? "")\(latest)</p>
      \(first)
      \(files)
      \(notes.map { #"<p class="note" dir="auto">\#($0)</p>"# as HTML })
      \(changedFields(page.entries, content, isWhole: isWhole))
      \(parts)
      \(more)
      """
  }

  /// The number of changes of a day by kind; those of a page are said to be that.
  private func counts(of entries: [ChangeEntry], isWhole: Bool) -> String {
    Dictionary(grouping: entries, by: \.kind).mapValues(\.count).words
      + (isWhole ? "" : " on this page")
  }

  /// The number of changes of each field, the largest first, each with the way to them; of a page of one field, the way back.
  private func changedFields(
    _ entries: [ChangeEntry], _ content: ChangesContent, isWhole: Bool
  ) -> HTML? {
    let (source, query) = (content.source, content.query)
    func address(_ field: String?) -> String {
      WebAddress.changes(source.name, since: query.since, of: query.kind, in: field)
    }
    if let field = query.field {
      return """
        <p class="note" dir="auto">Only changes of <bdi>\(label(of: field, source))</bdi> · \
        <a href="\(address(nil))">Changes of all fields</a></p>
        """
    }
    let counts = Dictionary(grouping: entries.flatMap(\.names)) { $0 }.mapValues(\.count)
    guard !counts.isEmpty else { return nil }
    let fields = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.enumerated()
    let links = fields.map { index, field -> HTML in
      """
      \(index == 0 ? "" : ", ")<a href="\(address(field.key))">\(label(of: field.key, source)) \
      \(field.value.grouped)</a>
      """
    }
    return """
      <p class="note" dir="auto">Changed fields\(isWhole ? "" : " on this page"): \(links)</p>
      """
  }

  private func label(of field: String, _ source: any ServedSource) -> String {
    (source.fields.first { $0.id == field }?.label ?? field).fieldLabel
  }

  private func item(_ change: ChangeEntry, _ content: ChangesContent) -> HTML {
    let source = content.source
    let name = change.name.isEmpty ? change.id : change.name
    let title: HTML = """
      <a href="\(WebAddress.record(source.name, change.id, ServedQuery.plain))" dir="auto">\(name.safeLine)</a>
      """
    let kind = change.kind.rawValue
    let time = change.date.writtenTime.map { time -> HTML in
      #" <time datetime="\#(change.date)" title="\#(time) UTC">\#(time)</time>"#
    }
    return """
      <li class="\(kind)"><span class="kind">\(kind.capitalizedFirst)\(time)</span> \
      <div>\(title) \(differences(change, source, content.sample))\(values(of: change, content))</div></li>

      """
  }

  /// The most fields of a record on the page of changes; the record itself has all.
  private static let maxFields = 20

  /// The values of a record that was added, or those it had when it was removed, to be opened; `nil` for any other change.
  private func values(of change: ChangeEntry, _ content: ChangesContent) -> HTML? {
    let lines = change.record.members.filter { member in
      !member.value.present.isEmpty && ![change.name, change.id].contains(member.value.cell)
    }
    guard change.kind != .changed, !lines.isEmpty else { return nil }
    let rest = lines.count - Self.maxFields
    return """
      <details><summary>\(change.kind == .removed ? "Its last values" : "Its values")</summary>
      \(lines.prefix(Self.maxFields).map { line in
        let value = HTML(line.value, of: line.name, atMost: 200)
        return #"<span class="difference">\#(label(of: line.name, content.source)) <ins dir="auto">\#(value)</ins></span>"# as HTML
      })\(rest > 0 ? #"<span class="difference">and \#(rest.of("more field"))</span>"# as HTML : nil)</details>
      """
  }

  private func differences(
    _ change: ChangeEntry, _ source: any ServedSource, _ sample: FieldSample
  ) -> [HTML] {
    change.names.map { name in
      let excerpts = change.values(of: name)
      let (old, new) = (change.before[name], change.after[name])
      let decimals = [old, new].compactMap {
        $0?.decimals(atMost: FieldSample.maxDecimals)
      }.reduce(sample.decimals[name] ?? 0, max)
      let growth = old.flatMap { old in new.flatMap { old.growth(to: $0, in: name) } }
      return """
        <span class="difference">\(label(of: name, source)) <del dir="auto">\(old?.written(in: name, decimals: decimals) ?? excerpts.before)</del> → \
        <ins dir="auto">\(new?.written(in: name, decimals: decimals) ?? excerpts.after)</ins>\
        \(growth.map { " (\($0))" } ?? "")</span>
        """
    }
  }

  /// The history of a record, as a part of its card.
  func history(
    _ history: ServedHistory, _ source: any ServedSource, _ sample: FieldSample
  ) -> HTML {
    let facts = [
      "First seen \(history.firstSeen.iso8601.writtenDay)",
      history.knownSince.map { "Changes before \($0.iso8601.writtenDay) are not known" },
      history.isComplete ? nil : "Earlier changes are not shown",
    ]
    let entries = history.entries.map { change -> HTML in
      let words =
        switch change.kind {
        case .added: "The service has it again"
        case .changed: "Changed"
        case .removed: "Not found by a sync"
        }
      return """
        <li class="\(change.kind.rawValue)"><time class="kind" datetime="\(change.date)" title="\(change.date)">\(change.date.writtenDate ?? change.date)</time> \
        <div>\(words) \(differences(change, source, sample))</div></li>

        """
    }
    let count = entries.isEmpty ? "no changes" : entries.count.of("change")
    return """
      <details class="history"><summary>History (\(count))</summary>
      <ul class="changes">\(entries)<li>\(facts.compactMap(\.self).joined(separator: ". "))</li></ul></details>
      """
  }
}

extension ServedSync.Outcome {
  /// True for a sync that did not come to its end: changes are counted since an earlier one.
  var isCutShort: Bool { [.stopped, .failed, .interrupted].contains(self) }
}

extension ServedSync {
  /// A time before its own changes, whose dates have whole seconds.
  fileprivate var beginning: Date {
    Date(timeIntervalSince1970: startedAt.timeIntervalSince1970.rounded(.down) - 1)
  }

  /// Its end in ISO 8601, to the millisecond after it, so that its own changes are before; `nil` while it runs.
  fileprivate var end: String? {
    guard let duration else { return nil }
    let milliseconds = ((startedAt.timeIntervalSince1970 + duration / .seconds(1)) * 1000)
      .rounded(.up)
    let second = Date(timeIntervalSince1970: (milliseconds / 1000).rounded(.down))
    let rest = Int(milliseconds.truncatingRemainder(dividingBy: 1000))
    return "\(second.iso8601.dropLast()).\(String(1000 + rest).dropFirst())Z"
  }
}

extension ChangeSummary {
  /// The sync with whose end the records are compared: what it shows is more than the last one has found.
  func startWords(isCutShort: Bool) -> String {
    "the \(hasEarlierSync ? "sync before the last" : "last sync")\(isCutShort ? " that ended" : "")"
  }

  /// The number of the changes of a kind, or of all: `2,600`, or the least that there are: `5,000+`; `nil` if that is none.
  fileprivate func number(of kind: ChangeEntry.Kind?) -> String? {
    let number = kind.map { counts[$0] ?? 0 } ?? count
    return isCut && number == 0 ? nil : number.grouped + (isCut ? "+" : "")
  }
}

extension [ChangeEntry.Kind: Int] {
  /// `2,600 added, 1 removed`.
  var words: String {
    ChangesContent.kinds.compactMap(\.self).compactMap { kind in
      self[kind].map { "\($0.grouped) \(kind.rawValue)" }
    }.joined(separator: ", ")
  }
}

extension ChangeEntry.Kind {
  /// Changes of known records come before new ones, which may be all there are.
  fileprivate var order: Int {
    switch self {
    case .changed: 0
    case .removed: 1
    case .added: 2
    }
  }
}
