import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The frame of all pages, and what is in it without records: nothing found, deleted, failed.

extension HTMLRenderer {
  struct Frame {
    let title: String
    /// The name of the source, `search`, `sql` or `home`; `nil` for none of them.
    var place: String?
    /// Of the style inside the page, for a client that may neither fetch files nor see the sources.
    var nonce: String?
    var showsDetail = false
    /// True for a list with records, to which the keyboard may skip.
    var hasRecords = false
    var scripts = [Asset.script]
  }

  func document(_ frame: Frame, _ main: HTML) -> HTML {
    let name = frame.title.isEmpty ? program : "\(frame.title.safeLine) – \(program)"
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>\(name)</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="same-origin">
      <meta name="robots" content="noindex">
      \(frame.nonce.map(style) ?? files(frame.scripts))
      </head>
      <body\(attribute: "class", frame.showsDetail ? "has-detail" : nil)>
      <a class="skip" href="\(frame.hasRecords ? "#records" : "#main")">Skip to \(frame.hasRecords ? "the records" : "content")</a>
      <header class="side">
      <a class="brand" href="/"><span class="brand-mark" aria-hidden="true"></span>\(program)</a>
      \(frame.nonce == nil ? navigation(frame.place) : nil)
      </header>
      <main id="main" tabindex="-1">
      \(main)
      </main>
      <p id="announcer" class="visually-hidden" role="status"></p>
      <div id="toast" class="toast" role="status"></div>
      \(frame.nonce == nil ? keys : nil)
      </body>
      </html>

      """
  }

  private func files(_ scripts: [Asset]) -> HTML {
    """
    <link rel="icon" type="image/svg+xml" href="\(Asset.icon.address)">
    <link rel="stylesheet" href="\(Asset.stylesheet.address)">
    \(scripts.map { #"<script type="module" src="\#($0.address)"></script>"# })
    """
  }

  private func style(_ nonce: String) -> HTML {
    let style = String(decoding: (try? Asset.stylesheet.body) ?? [], as: UTF8.self)
    return #"<style nonce="\#(nonce)">\#(HTML(stringLiteral: style))</style>"#
  }

  private func navigation(_ place: String?) -> HTML {
    """
    <nav aria-label="Sources">
    <ul>
    <li\(attribute: "class", hasSQL ? nil : "apart")><a href="/search"\
    \(attribute: "aria-current", place == "search" ? "page" : nil)>\
    \(Icon.search.html)<span>Search</span></a></li>
    \(hasSQL ? sqlLink(isCurrent: place == "sql") : nil)
    \(sources.map { source in
      """
      <li><a href="\(WebAddress.list(source.name, ServedQuery.plain))"\
      \(attribute: "title", source.summary.safeLine.capitalizedFirst) data-source="\(source.name)"\
      \(attribute: "data-sync", isReadOnly || !source.hasStore ? nil : syncAddress(of: source))\
      \(attribute: "aria-current", place == source.name ? "page" : nil)>\
      <span class="initial" aria-hidden="true">\(initial(of: source))</span>\
      <span>\(source.title)</span></a></li>

      """
    })
    \(mayAdd ? """
      <li class="add"><a href="\(RoutePath(PagePath.add).text)"\
      \(attribute: "aria-current", place == "add" ? "page" : nil)>\
      \(Icon.add.html)<span>Add a source</span></a></li>
      """ : nil)
    </ul>
    </nav>
    <p class="shortcuts" hidden><button type="button" class="button" id="go-to">\
    \(Icon.menu.html)Go to… <kbd>Ctrl K</kbd></button></p>
    <p class="shortcuts" hidden><label><input type="checkbox" id="shortcuts" checked>\
    <span>Keyboard shortcuts</span> <kbd class="hint" hidden>?</kbd></label></p>
    """
  }

  /// The first letter of a source, or two if others begin with it, too.
  private func initial(of source: any ServedSource) -> String {
    let first = source.title.prefix(1)
    let isShared = sources.count { $0.title.hasPrefix(first) } > 1
    return isShared ? String(source.title.prefix(2)) : String(first)
  }

  private func syncAddress(of source: any ServedSource) -> String {
    WebAddress.sync(source.name) + syncBound(of: source)
  }

  /// The bound of a sync of a source without an end.
  func syncBound(of source: any ServedSource) -> String { source.isEndless ? "?pages=5" : "" }

  private var keys: HTML {
    let keys = [
      (["/"], "search"), (["j", "k"], "the next record, the previous one"),
      (["↑", "↓", "←", "→"], "move in the list"), (["Page ↑", "Page ↓"], "move by a page"),
      (["Home", "End"], "the first record, the last one"), (["Enter"], "open the record"),
      (isReadOnly ? ["c"] : ["c", "d"], "copy the record\(isReadOnly ? "" : ", delete it")"),
      (["f", "v"], "show the filters, the next view"),
      (isReadOnly ? ["o"] : ["o", "s"], "sort the list\(isReadOnly ? "" : ", sync the source")"),
      (["Shift Enter"], "sort by several columns, extend a range of bars"),
      (["Esc"], "close it, or leave the search"),
      (["Ctrl K"], "go to a page, a record or an action"), (["?"], "show these keys"),
    ]
    return """
      <dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
      <dl>\(keys.map { keys, words in
        "<div><dt>\(keys.map { "<kbd>\($0)</kbd> " as HTML })</dt><dd>\(words)</dd></div>" as HTML
      })</dl>
      <form method="dialog"><button type="submit" class="button primary">Close</button></form></dialog>
      """
  }

  private func sqlLink(isCurrent: Bool) -> HTML {
    """
    <li class="apart"><a href="/sql"\(attribute: "aria-current", isCurrent ? "page" : nil)>\
    \(Icon.database.html)<span>SQL</span></a></li>
    """
  }

  func searchForm(_ address: String, _ label: String, _ query: ServedQuery) -> HTML {
    """
    <form class="search" role="search" action="\(address)" method="get">
    <label class="visually-hidden" for="query">\(label)</label>
    <div class="field">\(Icon.search.html)
    <input type="search" id="query" name="query" value="\(query.query ?? "")" placeholder="\(label)…" \
    autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search" dir="auto">
    \(query.conditions.map { hidden("where", $0) })\
    \(query.order.map { hidden("sort", $0) })\
    \(query.limit.map { hidden("limit", String($0)) })\
    \(query.chosenView.map { hidden("view", $0.rawValue) })\
    \(query.cache == .normal ? nil : hidden("cache", query.cache.rawValue))\
    <kbd class="hint" hidden>/</kbd>
    <button type="submit" class="button">Search</button></div>
    </form>
    """
  }

  func hidden(_ name: String, _ value: String) -> HTML {
    #"<input type="hidden" name="\#(name)" value="\#(value)">"#
  }

  /// Returns a page for a failure, such as an unknown address.
  ///
  /// - Parameters:
  ///   - name: The source that the address names, if any.
  ///   - nonce: For a client without access, who must not see the sources: the nonce that
  ///     ``contentSecurityPolicy(nonce:)`` has.
  func failure(_ failure: Problem, of name: String? = nil, nonce: String? = nil) -> String {
    let source = sources.first { nonce == nil && $0.name == name }
    let list = source.map { source -> HTML in
      let address = WebAddress.list(source.name, ServedQuery.plain)
      return """
        <a class="button primary" href="\(address)">All \(source.noun.word(for: 2).safeLine)</a>
        """
    }
    let all: HTML? =
      nonce == nil
      ? #"<a class="button\#(list == nil ? " primary" : "")" href="/">All sources</a>"# : nil
    return document(
      Frame(title: failure.title, place: source?.name, nonce: nonce),
      """
      <div class="column">
      \(state(.warning, failure.title, level: 1, [failure.message, failure.pageHint]) {
        "\(list)\(all)"
      })
      </div>
      """
    ).text
  }

  func state(
    _ icon: Icon, _ title: String, level: Int = 2, _ paragraphs: [String?],
    links: () -> HTML? = { nil }
  ) -> HTML {
    """
    <div class="state">\(icon.html)<h\(level)>\(title.safeLine)</h\(level)>
    \(paragraphs.compactMap(\.self).map { #"<p dir="auto">\#($0.sentence)</p>"# as HTML })
    <div class="actions">\(links())</div></div>
    """
  }

  func empty(_ content: SourceContent) -> HTML {
    let (source, page) = (content.source, try? content.list?.get())
    let isWhole = page?.shortcoming == nil
    let title = isWhole ? "No matches" : "No matches so far"
    if !content.query.conditions.isEmpty {
      let words = selectionWords(content) ?? ""
      let meant = content.query.query == nil ? page?.suggestion : nil
      let near: HTML? = meant.flatMap { try? TypedFilter($0) }.map { filter in
        """
        <a class="button primary" href="\(narrowed(content) { $0.conditions = [filter.quoted] })">\
        <span>Did you mean “<bdi>\(self.words(of: filter, content).safeLine)</bdi>”?</span></a>
        """
      }
      let rest = isWhole ? "" : ", as far as was searched"
      return state(.search, title, ["No \(source.noun.word(for: 0)) \(words)\(rest)."]) {
        """
        \(near)
        <a class="button\(near == nil ? " primary" : "")" href="\(narrowed(content) { $0.conditions = [] })">Remove all filters</a>
        """
      }
    }
    guard let query = content.query.query else {
      let origin = page?.summary.provenance?.origin
      let isAnswer = origin == .live || origin == .cached
      let all = content.hidden?.records.isEmpty == false ? "All are deleted here." : nil
      return state(
        .information, "No \(source.noun.word(for: 0))\(isAnswer ? "" : " yet")",
        [isAnswer ? all ?? "The service has none." : "Nothing is cached so far."]
      ) {
        refresh(content)
      }
    }
    let example = source.exampleQuery
    let all = content.query.forLinks.with(\.cursor, nil).with(\.query, nil)
    func button(_ query: ServedQuery, _ words: HTML, isPrimary: Bool = true) -> HTML {
      #"<a class="button\#(isPrimary ? " primary" : "")" href="\#(WebAddress.list(source.name, query))">\#(words)</a>"#
    }
    // The service has no search of its own, and many records.
    let further = page?.summary.next.map { next in
      button(content.query.forLinks.with(\.cursor, next.description), "Search further")
    }
    let cached = page?.matchesBesides.map { _ in
      button(content.query.forLinks.with(\.cache, .offline), "Show cached matches")
    }
    let matching = matchingFilters(content)
    let isOnlyWay =
      further == nil && cached == nil && matching.isEmpty && page?.suggestion == nil
    return state(
      .search, title,
      [
        (page?.shortcoming ?? page?.matchesBesides)?.capitalizedFirst
          ?? "No \(source.noun.word(for: 0)) match “\(query.withoutQuotes)”."
      ]
        + (page?.advice?.words(\.label.fieldLabel.lowercasedFirst) ?? [])
    ) {
      """
      \(further)\(cached)\(matching)\(page?.suggestion.map { near in
        button(all.with(\.query, near), "<span>Did you mean “<bdi>\(near.safeLine)</bdi>”?</span>")
      })
      \(button(all, "Show all \(source.noun.word(for: 2).safeLine)", isPrimary: isOnlyWay))
      \(example.map { example in
        button(all.with(\.query, example), "<span>Try “<bdi>\(example.safeLine)</bdi>”</span>", isPrimary: false)
      })
      <a class="button" href="\(WebAddress.search(ServedQuery.plain.with(\.query, query).with(\.cache, all.cache)))">Search all sources</a>
      """
    }
  }

  private func refresh(_ content: SourceContent) -> HTML {
    let query = content.query.with(\.cursor, nil).with(\.cache, .reload)
    return """
      <a class="button primary" href="\(WebAddress.list(content.source.name, query))">\
      \(Icon.refresh.html)<span>Try again</span></a>
      """
  }

  func failureState(
    _ failure: Problem, _ content: SourceContent, _ detail: DetailContent? = nil
  ) -> HTML {
    let name = content.source.name
    let address = { (query: ServedQuery) in
      detail.map { WebAddress.record(name, $0.id, query) } ?? WebAddress.list(name, query)
    }
    let isTimed = failure.hint?.hasPrefix("try again in ") == true
    let wait = failure.retryAfter.map { "Try again in \(Duration.seconds($0).text)." }
    let isLocal = content.query.cache == .offline
    // A page that cannot be continued can be started over.
    let isInvalid = failure.status == 400
    let asked = content.query.cache
    let cache = failure.isUnasked ? .reload : isLocal ? .normal : asked
    let query = isInvalid ? ServedQuery.plain : content.query.with(\.cache, cache)
    let isPaused = failure.code == SourceError.Code.circuitOpen.description
    // The cached records with which a list may go on.
    let rest = content.cachedCount.map { count in
      "\(count.grouped) \(content.source.noun.word(for: count).safeLine)"
    }
    if let detail, failure.isOfDeleted { return deletedState(detail.id, content) }
    let isUnknown = detail != nil && failure.status == 404 && !isLocal && !failure.isUnasked
    let failed = state(
      isLocal ? .offline : .warning, failure.title,
      isPaused
        ? [OriginBadge.pauseWords, wait]
        : [failure.message, failure.pageHint, isTimed ? nil : wait]
    ) {
      isUnknown
        ? nil
        : """
        <a class="button primary" href="\(address(query))">\(Icon.refresh.html)\
        <span>\(isInvalid ? "Start over" : cache == asked ? "Try again" : "Ask the service")</span></a>
        \(isLocal || isInvalid || failure.status == 404 ? nil : """
        <a class="button"\(attribute: "rel", rest == nil ? nil : "next") href="\(address(content.query.with(\.cache, .offline)))">\
        \(Icon.offline.html)<span>\(rest.map { "Continue from the cache, which has \($0)" } ?? "Use local data")</span></a>
        """)
        """
    }
    return "\(failed)\(keyForm(of: failure))"
  }

  /// The page of a record that was deleted on this machine.
  private func deletedState(_ id: String, _ content: SourceContent) -> HTML {
    let source = content.source
    let action = WebAddress.record(source.name, id, content.query.forLinks, .restore)
    return state(
      .delete, "Deleted",
      [
        "The \(source.noun.one) \(id) was deleted on this machine",
        "The service is not changed",
      ]
    ) {
      isReadOnly
        ? nil
        : """
        <form method="post" action="\(action)"><button type="submit" class="button primary">Restore</button></form>
        """
    }
  }

  func deletedNotice(_ id: String, _ content: SourceContent) -> HTML {
    let action = WebAddress.record(content.source.name, id, content.query.forLinks, .restore)
    return """
      <div class="notice"><p>Deleted \(content.source.noun.one.safeLine) \
      <bdi>\(id.safeLine)</bdi></p>\
      <form method="post" action="\(action)"><button type="submit" class="button">Undo</button></form>\
      </div>
      """
  }
}

extension Problem {
  /// The hint, unless it is for programs, or a link.
  fileprivate var pageHint: String? { self == .unknownPath || isUnasked ? nil : hint }
}

extension String {
  /// This message as a sentence with its end; the words of a service that it quotes are followed by one, too.
  var sentence: String {
    let words = safeLine.withWrittenDates.capitalizedFirst
    return words.last.map { ".!?…".contains($0) } == true ? words : "\(words)."
  }
}

extension ServedSource {
  /// A search that finds something; `nil` for an added source, of which none is known.
  var exampleQuery: String? { example.query == PluginExample.unknown.query ? nil : example.query }

  package var title: String { noun.plural.safeLine.capitalizedFirst }
}
