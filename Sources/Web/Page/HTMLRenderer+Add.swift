import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The page where a source is added: the form, and what was found at a URL; and the one where it is removed.

struct AddContent: Sendable {
  var url = ""
  /// Empty for one that is made of the URL.
  var name = ""
  /// The choices in the form, by the keys of ``SourceAdding/hints``.
  var hints: [String: String] = [:]
  /// `nil` before a URL was typed.
  var answer: Result<SourceAdding.Answer, Problem>?
}

extension HTMLRenderer {
  func add(_ content: AddContent) -> String {
    let action = RoutePath(PagePath.add).text
    return document(
      Frame(title: "Add a source", place: "add"),
      """
      <div class="column">
      <div class="heading"><div><h1>Add a source</h1>
      <p class="summary">Any JSON, CSV, NDJSON or XML list on the web. Its records, IDs and paging are found by \
      requests to its service; nothing is saved before you say so.</p></div></div>
      <form id="add" class="fields" action="\(action)" method="post">
      <p><label for="url">URL of the list</label>
      <input type="url" id="url" name="url" required pattern="https?://.+" value="\(content.url)" \
      placeholder="https://api.example.com/items" autocomplete="off" autocapitalize="off" spellcheck="false"\(attribute: "autofocus", content.answer == nil ? "" : nil)></p>
      <p><label for="name">Name <small>(up to 32 lower-case letters, digits and hyphens, a letter first; \
      if empty, a word of the URL, or “list”)</small></label>
      <input id="name" name="name" value="\(content.name)" pattern="[a-z][a-z0-9\\-]{0,31}" \
      title="1 to 32 lower-case letters, digits and hyphens" autocomplete="off" autocapitalize="off" spellcheck="false"></p>
      \(path(content))
      <div class="actions"><button type="submit" class="button primary" data-busy="Asking the service…">Preview</button></div>
      </form>
      \(content.answer.map { answer in
        switch answer {
        case .success(let answer): found(answer, content, at: action)
        case .failure(let problem): failure(problem)
        }
      })
      </div>
      """
    ).text
  }

  /// The field for the path of the list, of which people need to know nothing unless a response has none.
  private func path(_ content: AddContent) -> HTML? {
    let given = content.hints["rows"]
    let hasNoList = content.answer?.failure?.code == SourceError.Code.malformed.description
    guard given != nil || hasNoList else { return nil }
    return """
      <p><label for="path">Where the list is in the response <small>(its path, such as data.items; if empty, \
      it is looked for)</small></label>
      <input id="path" name="rows" value="\(given ?? "")" autocomplete="off" autocapitalize="off" spellcheck="false"></p>
      """
  }

  private func failure(_ problem: Problem) -> HTML {
    """
    <div role="alert">\(state(.warning, "This is not a source yet", [problem.message, problem.hint]))</div>
    """
  }

  private func found(
    _ answer: SourceAdding.Answer, _ content: AddContent, at action: String
  ) -> HTML {
    let proposal = answer.proposal
    return """
      <section aria-labelledby="found"><h2 id="found" tabindex="-1" autofocus>Preview of “\(proposal.name)”</h2>
      <ul class="found">\(([proposal.countWords] + proposal.evidence.map(\.words)).compactMap(\.self).map { "<li>\($0.safeLine)</li>" as HTML })</ul>
      \(proposal.warnings.map { #"<p class="note" dir="auto">\#($0.sentence)</p>"# as HTML })
      \(decision(on: answer, at: action))
      \(choices(of: proposal, content, at: action))
      <details class="history"><summary>How this was found</summary>
      <div class="table-box" tabindex="0" role="region" aria-label="What was found"><table>
      <caption class="visually-hidden">What was found</caption>
      <thead><tr><th scope="col">Part</th><th scope="col">Found</th><th scope="col">Because</th></tr></thead>
      <tbody>\(proposal.evidence.map { line in
        """
        <tr><th scope="row">\(line.subject.safeLine)</th><td dir="auto">\(line.value.safeLine)</td>\
        <td dir="auto">\(line.reason.safeLine)</td></tr>

        """
      })</tbody></table></div></details>
      \(rows(of: proposal))
      </section>
      """
  }

  /// The form of what else may fit; nothing if all is clear.
  private func choices(
    of proposal: ProposedSource, _ content: AddContent, at action: String
  ) -> HTML? {
    let labels = ["rows": "Where the records are", "id": "What identifies a record"]
    let keys = SourceAdding.hints.filter { proposal.choices[$0] != nil }
    guard !keys.isEmpty else { return nil }
    let given = SourceAdding.hints.filter { !keys.contains($0) }
    let fields = keys.map { key -> HTML in
      let options = proposal.choices[key, default: []].map { value in
        #"<option value="\#(value)">\#(value == "$" ? "the whole response" : value.safeLine)</option>"#
          as HTML
      }
      // The first place of records is the one that was found; no ID was.
      let none: HTML? = key == "id" ? #"<option value="">–</option>"# : nil
      return """
        <p><label for="choice-\(key)">\(labels[key] ?? key)</label>
        <select id="choice-\(key)" name="\(key)">\(none)\(options)</select></p>
        """
    }
    return """
      <form class="fields" action="\(action)" method="post">
      \(hidden("url", content.url))\(hidden("name", proposal.name))\
      \(given.compactMap { key in content.hints[key].map { hidden(key, $0) } })
      \(fields)
      <div class="actions"><button type="submit" class="button" data-busy="Asking the service…">Preview again</button></div>
      </form>
      """
  }

  private func rows(of proposal: ProposedSource) -> HTML? {
    guard !proposal.rows.isEmpty else { return nil }
    var columns: [String] = []
    for member in proposal.rows.flatMap(\.members)
    where !columns.contains(member.name) && columns.count < Self.maxColumns {
      columns.append(member.name)
    }
    func member(_ name: String, of row: JSON) -> JSON {
      row.members.first { $0.name == name }?.value ?? .null
    }
    let numeric = Set(
      columns.filter { name in
        let values = proposal.rows.map { member(name, of: $0) }.filter { $0 != .null }
        return !values.isEmpty && values.allSatisfy(\.isNumber)
      })
    func alignment(of name: String) -> String? { numeric.contains(name) ? "number" : nil }
    let cells = proposal.rows.map { row in
      columns.map { name -> HTML in
        let value = member(name, of: row)
        let words = HTML.opaque(value.cell) ?? HTML(value, of: name, atMost: 80)
        return "<td\(attribute: "class", alignment(of: name)) dir=\"auto\">\(words)</td>"
      }
    }
    return """
      <h3 id="rows">The first records</h3>
      <div class="table-box" tabindex="0" role="region" aria-labelledby="rows"><table>
      <caption class="visually-hidden">The first records</caption>
      <thead><tr>\(columns.map { #"<th scope="col"\#(attribute: "class", alignment(of: $0))>\#($0.safeLine)</th>"# as HTML })</tr></thead>
      <tbody>\(cells.map { "<tr>\($0)</tr>" as HTML })</tbody></table></div>
      """
  }

  private static let maxColumns = 8

  /// The question whether a source is to be removed.
  ///
  /// - Parameter data: Its cached data in words; `nil` if there is none.
  func removal(of source: any ServedSource, _ data: String?) -> String {
    let choice: HTML? = data.map { data in
      """
      <p><label><input type="checkbox" name="data" value="yes"> Also remove its \(data.safeLine)</label>
      <small>What is removed can only be fetched again. Otherwise they stay in the store, and a source of the same name \
      and address finds them again.</small></p>
      """
    }
    return document(
      Frame(title: "Remove \(source.name)", place: source.name),
      """
      <div class="column">
      <div class="heading"><div><h1>Remove the source \(source.name)?</h1>
      <p class="summary">Its definition is removed from this machine, also for the command line. The service is not \
      changed.</p></div></div>
      <form class="fields" action="\(RoutePath(PagePath.remove, source.name).text)" method="post">
      \(hidden("confirm", "yes"))\(choice)
      <div class="actions"><button type="submit" class="button danger" data-busy="Removing…">Remove</button>
      <a class="button" href="\(WebAddress.list(source.name, ServedQuery.plain))">Keep it</a></div>
      </form>
      </div>
      """
    ).text
  }

  /// Says that a source was removed, and what of its data is left.
  ///
  /// - Parameter undo: The ID of the proposal that adds it again; `nil` if that is not possible.
  func removed(_ source: any ServedSource, keeping data: String?, undo: String?) -> String {
    let rest = data.map { data in
      "Still in the store: \(data), which \(program) store clear \(source.name) --forget-deleted removes"
    }
    return document(
      Frame(title: "Removed \(source.name)"),
      """
      <div class="column">
      \(state(.delete, "Removed the source \(source.name)", level: 1, [rest]) {
        """
        \(undo.map { id in
          """
          <form action="\(RoutePath(PagePath.add).text)" method="post">\(hidden("proposal", id))\
          <button type="submit" class="button">Undo</button></form>
          """ as HTML
        })
        <a class="button primary" href="/">All sources</a>
        """
      })
      </div>
      """
    ).text
  }

  private func decision(on answer: SourceAdding.Answer, at action: String) -> HTML {
    let proposal = answer.proposal
    if let obstacle = proposal.obstacle {
      return #"<p class="note" role="alert">\#(obstacle.sentence)</p>"#
    }
    return """
      \(proposal.isProved ? nil : """
        <p class="note">It could not be shown that all pages are read: lists will warn that records may be missing.</p>
        """)
      <form action="\(action)" method="post">\(hidden("proposal", answer.id))
      <div class="actions"><button type="submit" class="button primary">\
      \(proposal.isProved ? "Save source" : "Save source anyway")</button></div></form>
      """
  }
}

extension ProposedSource {
  /// The number of records, as far as it is known; `nil` if nothing was read.
  fileprivate var countWords: String? {
    let said = evidence.first { $0.subject == "total" }?.reason.wholeMatch(of: /([0-9]+) records/)
    if let total = said.flatMap({ Int($0.1) }) {
      return "The service has \(total.grouped) \(total == 1 ? "record" : "records"), as it says"
    }
    return rowCount.map { "\($0.of("record")) in the first response" }
  }
}

extension ProposedSource.Evidence {
  /// The finding in words; `nil` for one that only matters as evidence.
  fileprivate var words: String? {
    switch (subject, value) {
    case ("rows", "$"): "The whole response is the list"
    case ("rows", _): "The list is at “\(value)”"
    case ("id", "–"): "Nothing identifies the records"
    case ("id", _): "The records are identified by “\(value)”"
    case ("paging", "single"): "All records come in one response"
    case ("paging", "–"): "No way to further pages was found"
    case ("paging", _): "Further pages are read"
    case ("link", _) where value != "–": "“\(value)” leads to the web page of a record"
    case ("fields", _) where value != "–":
      "The records have \(value)\(reason.hasSuffix(" more") ? " and \(reason)" : "")"
    default: nil
    }
  }
}
