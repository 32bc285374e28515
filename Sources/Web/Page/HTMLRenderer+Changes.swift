import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// How the records of a source have changed, by day.

struct ChangesContent: Sendable {
  let source: any ServedSource
  /// The point since which, as typed for `--since`.
  let since: String
  let changes: Result<ServedChanges?, Problem>

  static let limit = 500

  /// The points that are offered, the usual one first.
  static let starts = [
    (typed: "sync", words: "Last sync"), (typed: "1d", words: "1 day"),
    (typed: "7d", words: "7 days"),
    (typed: "30d", words: "30 days"),
  ]
}

extension HTMLRenderer {
  func changes(_ content: ChangesContent) -> String {
    let source = content.source
    let body: HTML
    switch content.changes {
    case .success(let changes?): body = list(changes, source)
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
        <a class="button" href="\(WebAddress.changes(source.name, since: start.typed))"\
        \(attribute: "aria-current", start.typed == content.since ? "page" : nil)>\(start.words)</a>
        """
      })</nav>
      \(body)
      </div>
      """
    ).text
  }

  private func list(_ changes: ServedChanges, _ source: any ServedSource) -> HTML {
    let summary = changes.summary
    let count =
      summary.count == 0
      ? "No changes"
      : summary.isCut ? "The first \(summary.count.grouped) changes" : summary.text.capitalizedFirst
    let days = Dictionary(grouping: changes.entries) { $0.date.prefix(10) }
    return """
      <p class="count">\(count)\(summary.date.map { " since \($0.written)" } ?? "")</p>
      \(summary.warnings(of: source.name).map { #"<p class="note" dir="auto">\#($0.warning.message.safeLine.capitalizedFirst)</p>"# })
      \(days.sorted { $1.key < $0.key }.map { day, entries in
        "<h2>\(String(day).writtenDay)</h2>\n<ul class=\"changes\">\(entries.sorted { $0.kind.order < $1.kind.order }.map { item($0, source) })</ul>\n"
      })
      """
  }

  private func item(_ change: ChangeEntry, _ source: any ServedSource) -> HTML {
    let name = change.name.isEmpty ? change.id : change.name
    let title: HTML = """
      <a href="\(WebAddress.record(source.name, change.id, ServedQuery.plain))" dir="auto">\(name.safeLine)</a>
      """
    return """
      <li class="\(change.kind.rawValue)"><span class="kind">\(change.kind.rawValue.capitalizedFirst)</span> \
      \(title) \(differences(change, source))</li>

      """
  }

  private func differences(_ change: ChangeEntry, _ source: any ServedSource) -> [HTML] {
    change.names.map { name in
      let excerpts = change.values(of: name)
      let (old, new) = (change.before[name], change.after[name])
      let label = source.fields.first { $0.id == name }?.label ?? name
      return """
        <span class="difference">\(label.fieldLabel) <del dir="auto">\(old?.written(in: name) ?? excerpts.before)</del> → \
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
        \(words) \(differences(change, source))</li>

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
