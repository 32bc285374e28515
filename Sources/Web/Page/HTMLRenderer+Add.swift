import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The page where a source is added: the form, and what was found at a URL; and the one where it is removed.

struct AddContent: Sendable {
  var url = ""
  /// Empty for one that is made of the URL.
  var name = ""
  /// True for another URL, or paging, of the source that has the name.
  var isReplacing = false
  /// The choices in the form, by the keys of ``SourceAdding/hints``.
  var hints: [String: String] = [:]
  /// Where the key is sent, as it was typed; `nil` for the usual place.
  var keyPlace: String?
  /// The ID of the key that was typed last; `nil` if there is none.
  var keyID: String?
  /// The name of a source that has the URL already; `nil` if there is none.
  var known: String?
  /// `nil` before a URL was typed.
  var answer: Result<SourceAdding.Answer, Problem>?
}

extension HTMLRenderer {
  func add(_ content: AddContent) -> String {
    let action = RoutePath(PagePath.add).text
    let title = content.isReplacing ? "Change the URL of \(content.name)" : "Add a source"
    let summary =
      content.isReplacing
      ? "Its records and paging are found by requests again. With the same host, it keeps its key, the fields that its records still have, and the rest; what else they have becomes fields, too. The records of another URL are fetched anew; those cached so far are kept, but no longer shown."
      : "Any JSON, CSV, NDJSON or XML list on the web. Its records, IDs and paging are found by requests to its service."
    return document(
      Frame(title: title, place: content.isReplacing ? content.name : "add"),
      """
      <div class="column">
      <div class="heading"><div><h1>\(title)</h1>
      <p class="summary">\(summary) Nothing is saved before you say so.</p></div></div>
      <form id="add" class="fields" action="\(action)" method="post">
      <p><label for="url">URL of the list</label>
      <input inputmode="url" id="url" name="url" required value="\(content.url)" \
      placeholder="https://api.example.com/items" autocomplete="off" autocapitalize="off" spellcheck="false"\(attributes(of: .url, content))></p>
      \(alert(.url, content))
      \(replaced(content) ?? name(content.name, "if empty, it is a word of the URL, or “list”", attributes(of: .name, content)))
      \(alert(.name, content))
      \(path(content))
      \(key(content))
      <div class="actions"><button type="submit" class="button primary" data-busy="Asking the service…" data-cancel="Cancel">Preview</button></div>
      </form>
      \((try? content.answer?.get()).map { found($0, content, at: action) })
      </div>
      """
    ).text
  }

  /// The field that says which source is to be replaced; nothing for a new one.
  private func replaced(_ content: AddContent) -> HTML? {
    content.isReplacing ? hidden("replace", content.name) : nil
  }

  /// The field for the path of the list, of which people need to know nothing unless a response has none.
  private func path(_ content: AddContent) -> HTML? {
    let given = content.hints["rows"]
    let hasNoList = content.answer?.failure?.code == SourceError.Code.malformed.description
    guard given != nil || hasNoList else { return nil }
    return """
      <p><label for="path">Where the list is in the response <small>(its path, such as data.items; $ is the \
      whole response; if empty, it is looked for)</small></label>
      <input id="path" name="rows" value="\(given ?? "")" autocomplete="off" autocapitalize="off" spellcheck="false"\(attributes(of: .path, content))></p>
      \(alert(.path, content))
      """
  }

  /// The fields of a key, which are folded unless the service wants one; they never have the key that was typed.
  private func key(_ content: AddContent) -> HTML {
    let wanted = content.answer?.failure?.keyPlace
    let place = wanted.flatMap { content.keyID == nil ? $0 : nil } ?? content.keyPlace
    let isOpen = wanted != nil || content.keyID != nil
    let note = content.keyID == nil ? "" : "; if empty, the one that was typed before"
    return """
      <details\(attribute: "open", isOpen ? "" : nil)><summary>Key of the service</summary>
      \(content.keyID.map { hidden("keyID", $0) })
      <p><label for="key">Key <small>(saved in your settings file, and sent to the host of the URL only\(note))</small></label>
      <input type="password" id="key" name="key" autocomplete="off"\(attributes(of: .key, content))></p>
      \(alert(.key, content))
      <p><label for="key-place">Sent in <small>(a header field, such as “Authorization: Bearer” or “X-Api-Key”, or a \
      query parameter after a question mark, such as “?api_key”)</small></label>
      <input id="key-place" name="keyPlace" value="\(place ?? SourceAdding.usualKeyPlace)" autocomplete="off" \
      autocapitalize="off" spellcheck="false"></p></details>
      """
  }

  /// A field of the form, beside which its problem is said.
  private enum FormField { case url, name, path, key }

  /// The field that has to be changed; `nil` if nothing has failed.
  private func faultyField(_ content: AddContent) -> FormField? {
    guard let problem = content.answer?.failure else { return nil }
    if problem.keyPlace != nil { return .key }
    if problem.code == SourceError.Code.malformed.description { return .path }
    let isTaken = !content.isReplacing && sources.contains { $0.name == content.name }
    return isTaken ? .name : .url
  }

  /// The attributes of a field with a problem, and of the first one of an empty form, which has the focus.
  private func attributes(of field: FormField, _ content: AddContent) -> HTML? {
    if faultyField(content) == field {
      return #" aria-invalid="true" aria-describedby="fault" autofocus"#
    }
    return field == .url && content.answer == nil ? " autofocus" : nil
  }

  /// The problem of a field, below it.
  private func alert(_ field: FormField, _ content: AddContent) -> HTML? {
    guard faultyField(content) == field, let problem = content.answer?.failure else { return nil }
    let words = [problem.message, problem.hint].compactMap(\.self).map(\.sentence)
    // The service has not been asked about a name that is taken, or while others are added.
    let isRefused = field == .name || ["invalidRequest", "usage", "busy"].contains(problem.code)
    return """
      <p id="fault" class="note failed" role="alert" dir="auto">\(Icon.warning.html)\
      <span>\(isRefused ? "" : "This is not a source yet. ")\(words.joined(separator: " "))</span></p>
      """
  }

  private func found(
    _ answer: SourceAdding.Answer, _ content: AddContent, at action: String
  ) -> HTML {
    let proposal = answer.proposal
    return """
      <section aria-labelledby="found"><h2 id="found" tabindex="-1" autofocus>Preview of “\(proposal.name)”</h2>
      \(content.known.map { known in
        """
        <p class="note failed" dir="auto">\(Icon.warning.html)<span>The source \
        <a href="\(WebAddress.list(known, ServedQuery.plain))">\(known.safeLine)</a> has this URL already.</span></p>
        """ as HTML
      })
      <ul class="found">\(([proposal.countWords] + proposal.evidence.map(\.words)).compactMap(\.self).map { "<li>\($0.safeLine)</li>" as HTML })</ul>
      \(proposal.warnings.map { #"<p class="note" dir="auto">\#($0.sentence)</p>"# as HTML })
      \(choices(of: proposal, content, at: action))
      \(rows(of: proposal))
      \(decision(on: answer, at: action, isKnown: content.known != nil))
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
      </section>
      """
  }

  /// The form of what else may fit; nothing if all is clear.
  private func choices(
    of proposal: ProposedSource, _ content: AddContent, at action: String
  ) -> HTML? {
    let labels = ["rows": "Where the records are", "id": "What identifies a record"]
    var offered = proposal.choices
    // An ID that was found may be the wrong one, and an empty list shows none to choose from.
    if offered["id"] == nil {
      offered["id"] = proposal.otherIDs ?? (proposal.rowCount == 0 ? [] : nil)
    }
    let keys = SourceAdding.hints.filter { offered[$0] != nil }
    guard !keys.isEmpty else { return nil }
    let given = SourceAdding.hints.filter { !keys.contains($0) }
    let fields = keys.map { key -> HTML in
      guard offered[key] != [] else {
        return """
          <p><label for="choice-\(key)">\(labels[key] ?? key) <small>(the path of a member, such as id)</small></label>
          <input id="choice-\(key)" name="\(key)" value="\(content.hints[key] ?? "")" autocomplete="off" \
          autocapitalize="off" spellcheck="false"></p>
          """
      }
      let options = offered[key, default: []].enumerated().map { index, value in
        // The ID that was found is inferred again, perhaps of other rows.
        let isFound = key == "id" && index == 0 && proposal.choices[key] == nil
        let sent = isFound ? content.hints[key] ?? "" : value
        let words = value == "$" ? "the whole response" : value.safeLine
        return #"<option value="\#(sent)">\#(words)</option>"# as HTML
      }
      // The first place of records is the one that was found; no ID was.
      let none: HTML? =
        key == "id" && proposal.choices[key] != nil ? #"<option value="">–</option>"# : nil
      return """
        <p><label for="choice-\(key)">\(labels[key] ?? key)</label>
        <select id="choice-\(key)" name="\(key)">\(none)\(options)</select></p>
        """
    }
    return """
      <form class="fields" action="\(action)" method="post">
      \(hidden("url", content.url))\(replaced(content) ?? hidden("name", proposal.name))\
      \(given.compactMap { key in content.hints[key].map { hidden(key, $0) } })\
      \(content.keyID.map { hidden("keyID", $0) })
      \(fields)
      <div class="actions"><button type="submit" class="button" data-busy="Asking the service…" data-cancel="Cancel">Preview again</button></div>
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

  /// The form that changes an added source: what was found, as it is saved, or as it was typed before it could not be saved.
  ///
  /// - Parameter record: A cached record of the source, as a sample.
  func edit(
    _ answer: SourceAdding.Answer, _ typed: ProposedSource.Edits = .init(),
    _ problem: Problem? = nil, record: JSON? = nil
  ) -> String {
    let proposal = answer.proposal
    let ids = proposal.document["manifest"]?["id"]
    let id = ids?.string ?? ids?.array?.compactMap(\.string).joined(separator: ", ")
    let others = proposal.fields.map(\.path).filter { $0 != id }
    let isOnline = proposal.document["manifest"]?["url"]?.string?.hasPrefix("http") == true
    let change: HTML =
      isOnline
      ? #"<a href="\#(RoutePath(PagePath.add).text)?replace=\#(proposal.name)">Change its URL or paging…</a>"#
      : "Its source is changed there, by <code>\(program) sources edit \(proposal.name)</code>."
    return document(
      Frame(title: "Edit \(proposal.name)", place: proposal.name),
      """
      <div class="column">
      <div class="heading"><div><h1>Edit the source \(proposal.name)</h1>
      <p class="summary">What you change here holds for the command line, too. \(change)</p></div></div>
      \(proposal.warnings.map { #"<p class="note" dir="auto">\#($0.sentence)</p>"# as HTML })
      \(problem.map { #"<p class="note" role="alert" dir="auto">Not saved: \#($0.message.sentence)</p>"# as HTML })
      <form class="fields" action="\(RoutePath(PagePath.edit, proposal.name).text)" method="post">\(hidden("proposal", answer.id))
      \(name(typed.name ?? proposal.name, "its records move with it"))
      \(others.isEmpty ? nil : """
        <p><label for="id">What identifies a record <small>(with another one, cached records are fetched anew)</small></label>
        <select id="id" name="id"><option value="">\(id?.safeLine ?? "–")</option>\
        \(others.map { #"<option value="\#($0)"\#(attribute: "selected", $0 == typed.id ? "" : nil)>\#($0.safeLine)</option>"# as HTML })</select></p>
        """)
      \(proposal.keys.map { key($0, as: "key:\($0)", "if empty, it stays") })
      \(edits(of: proposal, typed, samples: proposal.samples(in: record), isOpen: true))
      <div class="actions"><button type="submit" class="button primary" data-busy="Saving…">Save source</button>
      <a class="button" href="\(WebAddress.list(proposal.name, ServedQuery.plain))">Cancel</a></div>
      </form>
      </div>
      """
    ).text
  }

  private func name(_ name: String, _ note: String, _ attributes: HTML? = nil) -> HTML {
    """
    <p><label for="name">Name</label>
    <input id="name" name="name" value="\(name)" pattern="[a-z][a-z0-9\\-]{0,31}" \
    title="1 to 32 lower-case letters, digits and hyphens" autocomplete="off" autocapitalize="off" spellcheck="false"\
    \(attributes ?? #" aria-describedby="name-note""#)>
    <small id="name-note">Up to 32 lower-case letters, digits and hyphens, a letter first; \(note)</small></p>
    """
  }

  /// The field of a key, which is a setting; no page ever has its value.
  func key(_ setting: String, as name: String, _ note: String) -> HTML {
    """
    <p><label>\(setting.safeLine) <small>(\(note))</small>
    <input type="password" name="\(name)" autocomplete="off"></label></p>
    """
  }

  /// Says that the keys of a source were saved, but not that they are right.
  func unverified(_ name: String, because reason: String) -> String {
    document(
      Frame(title: "Saved \(name)", place: name),
      """
      <div class="column">
      \(state(.warning, "Saved, but the key could not be verified", level: 1, [reason]) {
        #"<a class="button primary" href="\#(WebAddress.list(name, ServedQuery.plain))">Show \#(name)</a>"#
      })
      </div>
      """
    ).text
  }

  /// The question whether a source is to be removed.
  func removal(of source: any ServedSource, _ leftovers: SourceAdding.Leftovers) -> String {
    func choice(_ name: String, _ words: String, _ note: String) -> HTML {
      """
      <p><label><input type="checkbox" name="\(name)" value="yes"> Also remove \(words.safeLine)</label>
      <small>\(note)</small></p>
      """
    }
    let data = leftovers.data.map { data in
      choice(
        "data", "its \(data)",
        "Unless you choose this, they stay on this machine, and a source of the same name and address has them again. "
          + "What is removed can only be fetched again.")
    }
    let keys =
      leftovers.keys.isEmpty
      ? nil
      : choice(
        "keys", leftovers.keys.listText,
        "Unless you choose this, your settings file keeps what no other source uses.")
    return document(
      Frame(title: "Remove \(source.name)", place: source.name),
      """
      <div class="column">
      <div class="heading"><div><h1>Remove the source \(source.name)?</h1>
      <p class="summary">Its definition is removed from this machine, also for the command line. The service is not \
      changed.\(data == nil ? " Nothing of it is cached." : "")</p></div></div>
      <form class="fields" action="\(RoutePath(PagePath.remove, source.name).text)" method="post">
      \(hidden("confirm", "yes"))\(data)\(keys)
      <div class="actions"><button type="submit" class="button danger" data-busy="Removing…">Remove</button>
      <a class="button" href="\(WebAddress.list(source.name, ServedQuery.plain))">Keep it</a></div>
      </form>
      </div>
      """
    ).text
  }

  /// Says that a source was removed, and what is left of it.
  ///
  /// - Parameter undo: The ID of the proposal that adds it again; `nil` if that is not possible.
  func removed(
    _ source: any ServedSource, leaving leftovers: SourceAdding.Leftovers, undo: String?
  ) -> String {
    let data = leftovers.data.map {
      leftover("Still in the store: \($0)", "store clear \(source.name) --forget-deleted", undo)
    }
    let keys = leftovers.keys.map { leftover("Still set: \($0)", "config unset \($0)") }
    return document(
      Frame(title: "Removed \(source.name)"),
      """
      <div class="column">
      \(state(.delete, "Removed the source \(source.name)", level: 1, []) {
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
      \(data)\(keys)
      </div>
      """
    ).text
  }

  /// A note on records or a key of a removed source that are still there, with the command that removes them.
  private func leftover(_ words: String, _ command: String, _ undo: String? = nil) -> HTML {
    """
    <p class="note" dir="auto">\(words.safeLine). \(undo == nil ? "Run" : "Undo this and remove the source with its data, or run") <code>\(program) \(command)</code>.</p>
    """
  }

  /// The form of the title, the web page, the picture and the names of the fields, which can be changed before the source is
  /// saved.
  private func edits(
    of proposal: ProposedSource, _ typed: ProposedSource.Edits = .init(),
    samples: [String: JSON] = [:], isOpen: Bool = false
  ) -> HTML? {
    let fields = proposal.fields
    guard !fields.isEmpty else { return nil }
    func choice(_ key: String, _ label: String, _ none: String, _ typed: String?) -> HTML {
      let saved = proposal.document["manifest"]?[key]?.string
      // What was found need not be a field.
      let other = saved.map { path in
        fields.contains { $0.path == path } ? [] : [(name: path, path: path)]
      }
      let options = ((other ?? []) + fields).map { field -> HTML in
        let isChosen = field.path == typed ?? saved ? "" : nil
        return
          #"<option value="\#(field.path)"\#(attribute: "selected", isChosen)>\#(field.name.safeLine)</option>"#
      }
      return """
        <p><label for="\(key)">\(label)</label>
        <select id="\(key)" name="\(key)"><option value="">Not set: \(none)</option>\(options)</select></p>
        """
    }
    return """
      <details\(attribute: "open", isOpen ? "" : nil)><summary>Title, web page, picture and fields</summary>
      \(choice("title", "Title of a record", "the first text, else the ID", typed.title))
      \(choice("link", "Web page of a record", "no Website button", typed.link))
      \(choice("image", "Picture of a record", "no picture", typed.image))
      <p class="note">A field whose name is empty is left out.</p>
      <table class="names"><caption class="visually-hidden">Fields</caption>
      <thead><tr><th scope="col">Field</th><th scope="col">Name here</th>\
      \(samples.isEmpty ? nil : #"<th scope="col">First value</th>"#)</tr></thead>
      <tbody>\(fields.map { field -> HTML in
        let value = samples[field.path]
        let sample: HTML? =
          samples.isEmpty
          ? nil : #"<td dir="auto">\#(value.map { HTML($0, of: field.name, atMost: 80) })</td>"#
        return """
          <tr><td dir="auto" title="\(field.path.safeLine)">\(field.path.safeLine)</td>\
          <td><input name="field:\(field.path)" value="\(typed.names?[field.path] ?? field.name)" \
          aria-label="Name of \(field.path.safeLine)" maxlength="64" autocomplete="off" autocapitalize="off" spellcheck="false"></td>\
          \(sample)</tr>

          """
      })</tbody></table></details>
      """
  }

  private func decision(
    on answer: SourceAdding.Answer, at action: String, isKnown: Bool
  ) -> HTML {
    let proposal = answer.proposal
    if let obstacle = proposal.obstacle {
      let advice: HTML? =
        proposal.rowCount == 0
        ? " Preview it again when it has records, or name what identifies a record above, preview it again, and save it."
        : nil
      return #"<p class="note" role="alert">\#(obstacle.sentence)\#(advice)</p>"#
    }
    return """
      \(proposal.isProved ? nil : """
        <p class="note">It could not be shown that all pages are read: lists will warn that records may be missing\(proposal.rowCount == 0 ? ", once there are some" : "").</p>
        """)
      <form class="fields" action="\(action)" method="post">\(hidden("proposal", answer.id))
      \(edits(of: proposal, samples: proposal.samples))
      <div class="actions"><button type="submit" class="button\(isKnown ? "" : " primary")" data-busy="Saving…">\
      \(proposal.isProved && !isKnown ? "Save source" : "Save source anyway")</button></div></form>
      """
  }
}

extension ProposedSource {
  /// The fields of the manifest, with their paths; of several with one path the first.
  fileprivate var fields: [(name: String, path: String)] {
    var paths: Set<String> = []
    return (document["manifest"]?["fields"]?.array ?? []).compactMap { field in
      guard let path = (field["path"] ?? field["name"] ?? field).string,
        paths.insert(path).inserted
      else { return nil }
      return (field["name"]?.string ?? path, path)
    }
  }

  /// The first value of each field, by its path, as far as there is one.
  fileprivate var samples: [String: JSON] {
    let values = fields.map { field in
      let names = field.path.split(separator: ".").map(String.init)
      let found = rows.lazy.compactMap { row in names.reduce(row as JSON?) { $0?[$1] } }
      return (field.path, found.first { $0 != .null })
    }
    return Dictionary(values) { first, _ in first }.compactMapValues(\.self)
  }

  /// The values of a cached record, by the paths of their fields.
  fileprivate func samples(in record: JSON?) -> [String: JSON] {
    let values = fields.map { ($0.path, record?[$0.name]) }
    return Dictionary(values) { first, _ in first }.compactMapValues(\.self)
  }

  /// The paths that could identify a record instead, after the one that was found; `nil` if none could.
  fileprivate var otherIDs: [String]? {
    guard let id = document["manifest"]?["id"]?.string else { return nil }
    let paths = fields.map(\.path).filter { $0 != id }
    return paths.isEmpty ? nil : [id] + paths
  }

  /// The number of records, as far as it is known; `nil` if nothing was read.
  fileprivate var countWords: String? {
    let said = evidence.first { $0.subject == "total" }?.reason.wholeMatch(of: /([0-9]+) records/)
    if let total = said.flatMap({ Int($0.1) }) {
      return "The service reports \(total.grouped("record"))"
    }
    return rowCount.map { "\($0.grouped("record")) in the first response" }
  }
}

extension ProposedSource.Evidence {
  /// The finding in words; `nil` for one that only matters as evidence.
  fileprivate var words: String? {
    switch (subject, value) {
    case ("rows", "$"): "The whole response is the list"
    case ("rows", _): "The list is at “\(value)”"
    case ("id", "–"): "Nothing identifies the records\(because)"
    case ("id", "#"):
      "The records are identified by the numbers of their rows\(reason.trimmingPrefix("the number of the row"))"
    // A member that seems to be the ID is not it.
    case ("id", _):
      "The records are identified by “\(value)”\(reason.contains(", while ") ? ", \(reason)" : "")"
    case ("paging", "single"): "All records come in one response\(because)"
    case ("paging", "–"): "No way to further pages was found\(because)"
    case ("paging", _):
      "Further pages are read\(value.hasPrefix("by ") ? " \(value)" : "")\(because)"
    case ("link", "–") where reason.hasSuffix(" API are"):
      "No web page of a record: \(reason); choose it below if it is for people"
    case ("link", _) where value != "–": "“\(value)” leads to the web page of a record"
    case ("fields", _) where value != "–":
      "The records have \(value)\(reason.contains(" more") ? " and " : reason.isEmpty ? "" : "; ")\(reason)"
    case ("left out", _): "Left out of the fields: \(value)\(because)"
    default: nil
    }
  }

  private var because: String { reason.isEmpty ? "" : " (\(reason))" }
}
