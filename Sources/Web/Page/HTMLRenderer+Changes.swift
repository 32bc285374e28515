import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// How the records of a source have changed, by day.

struct ChangesContent: Sendable {
  let source: any ServedSource
  let query: ChangesQuery
  let page: Result<ChangePage?, Problem>
  /// The last sync that a server has run, in words; `nil` if none is known.
  var lastSync: String?

  /// The points that are offered, the usual one first.
  static let starts = [
    (typed: "sync", words: "Last sync"), (typed: "1d", words: "1 day"),
    (typed: "7d", words: "7 days"),
    (typed: "30d", words: "30 days"),
  ]

  static let kinds: [ChangeEntry.Kind?] = [nil, .added, .changed, .removed]
}

extension HTMLRenderer {
  func changes(_ content: ChangesContent) -> String {
    let source = content.source
    let body: HTML
    switch content.page {
    case .success(let page?): body = list(page, content)
    case .success(nil):
      body = state(
        .information, "Nothing is known of that time",
        ["The changes of \(source.noun.plural) are known from the first sync on"])
    case .failure(let problem):
      body = state(.warning, problem.title, [problem.message, problem.hint])
    }
    return document(
      Frame(title: "Changes of \(source.noun.plural)", place: source.name),
      """
      <div class="column">
      <div class="heading"><div><h1>Changes of \(source.noun.plural.safeLine)</h1>
      <p class="summary"><a href="\(WebAddress.list(source.name, ServedQuery.plain))">All \(source.noun.plural.safeLine)</a></p></div></div>
      <nav class="tools" aria-label="Time">\(ChangesContent.starts.map { start in
        """
        <a class="button" href="\(WebAddress.changes(source.name, since: start.typed, of: content.query.kind))"\
        \(attribute: "aria-current", start.typed == content.query.since ? "page" : nil)>\(start.words)</a>
        """
      })</nav>
      <nav class="tools" aria-label="Kind">\(ChangesContent.kinds.map { kind in
        """
        <a class="button" href="\(WebAddress.changes(source.name, since: content.query.since, of: kind))"\
        \(attribute: "aria-current", kind == content.query.kind ? "page" : nil)>\(kind?.rawValue.capitalizedFirst ?? "All")</a>
        """ as HTML
      })</nav>
      \(content.lastSync.map { #"<p class="note" dir="auto">\#($0.sentence)</p>"# as HTML })
      \(body)
      </div>
      """
    ).text
  }

  private func list(_ page: ChangePage, _ content: ChangesContent) -> HTML {
    let (source, summary) = (content.source, page.summary)
    let isWhole = content.query.cursor == nil && page.next == nil
    let number = "\(summary.count.grouped) change\(summary.count == 1 ? "" : "s")"
    let count =
      switch (summary.count, isWhole) {
      case (0, true): "No changes"
      case (0, false): "No changes here"
      case (_, true): summary.text.capitalizedFirst
      case (_, false): content.query.cursor == nil ? "The first \(number)" : "\(number) more"
      }
    let since = content.query.cursor == nil ? summary.date.map { " since \($0.written)" } : nil
    let notes = summary.warnings(of: source.name).map(\.warning.message.sentence)
    let days = Dictionary(grouping: page.entries) { $0.date.prefix(10) }
    let sortedDays = days.sorted { $0.key < $1.key }
    let parts = sortedDays.map { day, entries -> HTML in
      let entries = entries.sorted { ($0.kind.order, $0.date) < ($1.kind.order, $1.date) }
      return """
        <h2 id="\(String(day))">\(String(day).writtenDay) <small class="difference">\(counts(of: entries, isWhole: isWhole))</small></h2>
        <ul class="changes">\(entries.map { item($0, source) })</ul>

        """
    }
    let more: HTML? = page.next.map { next in
      let address = WebAddress.changes(
        source.name, since: content.query.since, of: content.query.kind, at: next)
      return """
        <p class="more"><a class="button" rel="next" href="\(address)">More changes</a></p>
        """
    }
    let formats: [(format: Format, label: String)] = [
      (.csv, "CSV"), (.ndjson, "NDJSON"), (.json, "JSON"),
    ]
    let links = formats.map { format, label -> HTML in
      let address = WebAddress.api(source.name, changes: content.query, as: format)
      let file = "\(source.name)-changes.\(format.rawValue)"
      return #"<a href="\#(address)" download="\#(file)">\#(label)</a> "#
    }
    let isEmpty = summary.count == 0 && page.next == nil
    let files: HTML? = isEmpty ? nil : #"<p class="note">All of them as \#(links)</p>"#
    return """
      <p class="count">\(count)\(since ?? "")</p>
      \(files)
      \(notes.map { #"<p class="note" dir="auto">\#($0)</p>"# as HTML })
      \(changedFields(page.entries, source, isWhole: isWhole))
      \(days.count < 2 ? nil : """
        <ul class="found" aria-label="Days">\(sortedDays.map { day, entries in
          """
          <li><a href="#\(String(day))">\(String(day).writtenDay)</a>: \(counts(of: entries, isWhole: isWhole))</li>

          """ as HTML
        })</ul>
        """)
      \(parts)
      \(more)
      """
  }

  /// The number of changes of a day by kind; those of a page are said to be that.
  private func counts(of entries: [ChangeEntry], isWhole: Bool) -> String {
    let counts = ChangesContent.kinds.compactMap(\.self).compactMap { kind -> String? in
      let count = entries.count { $0.kind == kind }
      return count > 0 ? "\(count.grouped) \(kind.rawValue)" : nil
    }
    return counts.joined(separator: ", ") + (isWhole ? "" : " on this page")
  }

  /// The number of changes of each field, the largest first.
  private func changedFields(
    _ entries: [ChangeEntry], _ source: any ServedSource, isWhole: Bool
  ) -> HTML? {
    let counts = Dictionary(grouping: entries.flatMap(\.names)) { $0 }.mapValues(\.count)
    guard !counts.isEmpty else { return nil }
    let words = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { name, count in
      "\(label(of: name, source)) \(count.grouped)"
    }
    return """
      <p class="note" dir="auto">Changed fields\(isWhole ? "" : " on this page"): \(words.joined(separator: ", "))</p>
      """
  }

  private func label(of field: String, _ source: any ServedSource) -> String {
    (source.fields.first { $0.id == field }?.label ?? field).fieldLabel
  }

  private func item(_ change: ChangeEntry, _ source: any ServedSource) -> HTML {
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
      <div>\(title) \(differences(change, source))</div></li>

      """
  }

  private func differences(_ change: ChangeEntry, _ source: any ServedSource) -> [HTML] {
    change.names.map { name in
      let excerpts = change.values(of: name)
      let (old, new) = (change.before[name], change.after[name])
      return """
        <span class="difference">\(label(of: name, source)) <del dir="auto">\(old?.written(in: name) ?? excerpts.before)</del> → \
        <ins dir="auto">\(new?.written(in: name) ?? excerpts.after)</ins></span>
        """
    }
  }

  /// The history of a record, as a part of its card.
  func history(_ history: ServedHistory, _ source: any ServedSource) -> HTML {
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
        case .removed: "Removed by the service"
        }
      return """
        <li class="\(change.kind.rawValue)"><time class="kind" datetime="\(change.date)">\(change.date.writtenDay)</time> \
        <div>\(words) \(differences(change, source))</div></li>

        """
    }
    let count =
      switch entries.count {
      case 0: "no changes"
      case 1: "1 change"
      case let count: "\(count) changes"
      }
    return """
      <details class="history"><summary>History (\(count))</summary>
      <ul class="changes">\(entries)<li>\(facts.compactMap(\.self).joined(separator: ". "))</li></ul></details>
      """
  }
}

extension ChangeEntry.Kind {
  /// What has happened to known records comes before new ones, which may be all there are.
  fileprivate var order: Int {
    switch self {
    case .changed: 0
    case .removed: 1
    case .added: 2
    }
  }
}
