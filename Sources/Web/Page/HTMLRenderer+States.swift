import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// Pages without records: nothing found, deleted, failed.

extension HTMLRenderer {
  /// A picture, a heading, paragraphs and links.
  func state(
    _ icon: Icon, _ title: String, level: Int = 2, _ paragraphs: [String?],
    links: () -> HTML? = { nil }
  ) -> HTML {
    """
    <div class="state">\(icon.html)<h\(level)>\(title.safeLine)</h\(level)>
    \(paragraphs.compactMap(\.self).map { text in
      let sentence = text.safeLine.capitalizedFirst
      return #"<p dir="auto">\#(sentence)\#(sentence.last?.isPunctuation == true ? "" : ".")</p>"#
    })
    <div class="actions">\(links())</div></div>
    """
  }

  func empty(_ content: SourceContent) -> HTML {
    let source = content.source
    guard let query = content.query.query else {
      return state(.information, "No \(source.noun.plural) yet", ["Nothing is cached so far."]) {
        refresh(content)
      }
    }
    let example = source.example.query
    let all = content.query.forLinks.with(\.cursor, nil).with(\.query, nil)
    return state(
      .search, "No matches", ["No \(source.noun.singular) matches “\(query)”."]
    ) {
      """
      <a class="button primary" href="\(WebAddress.list(source.name, all))">\
      Show all \(source.noun.plural.safeLine)</a>
      <a class="button" href="\(WebAddress.list(source.name, all.with(\.query, example)))">\
      <span>Try “<bdi>\(example.safeLine)</bdi>”</span></a>
      <a class="button" href="\(WebAddress.search(query, all.cache))">Search all sources</a>
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
    let wait = failure.retryAfter.map { "Try again in \(Duration.seconds($0).text)." }
    let isLocal = content.query.cache == .offline
    // A page that cannot be continued can be started over.
    let isInvalid = failure.status == 400
    let query =
      isInvalid
      ? ServedQuery() : content.query.with(\.cache, isLocal ? .normal : content.query.cache)
    return state(
      isLocal ? .offline : .warning, failure.title,
      [failure.message, failure.hint, wait]
    ) {
      """
      <a class="button primary" href="\(address(query))">\(Icon.refresh.html)\
      <span>\(isInvalid ? "Start over" : isLocal ? "Ask the service" : "Try again")</span></a>
      \(isLocal || isInvalid || failure.status == 404 ? nil : """
        <a class="button" href="\(address(content.query.with(\.cache, .offline)))">\
        \(Icon.offline.html)<span>Use local data</span></a>
        """)
      """
    }
  }

  func deletedNotice(_ id: String, _ content: SourceContent) -> HTML {
    let action = WebAddress.record(content.source.name, id, content.query.forLinks, .restore)
    return """
      <div class="notice"><p>Deleted \(content.source.noun.singular.safeLine) \
      <bdi>\(id.safeLine)</bdi></p>\
      <form method="post" action="\(action)"><button type="submit" class="button">Undo</button></form>\
      </div>
      """
  }
}
