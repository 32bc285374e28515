import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// A record beside the list.

extension HTMLRenderer {
  func detailPart(_ content: SourceContent) -> HTML {
    guard let detail = content.detail else {
      return #"<section id="detail" aria-label="Details" hidden></section>"#
    }
    let list = WebAddress.list(content.source.name, content.query.forLinks)
    let close: HTML = """
      <a class="button close" href="\(list)">\(Icon.back.html)\(Icon.close.html)\
      <span>Close</span></a>
      """
    let failure: Problem
    switch detail.answer {
    case .success(let page):
      if let record = page.records.first { return card(of: record, page, close, content) }
      failure = Problem(404, "notFound", "The record was not found.")
    case .failure(let problem): failure = problem
    }
    return """
      <section id="detail" aria-label="Details" data-id="\(detail.id)">
      <div class="detail-bar">\(close)</div>
      \(failureState(failure, content, detail))
      </section>
      """
  }

  private func card(
    of record: ServedRecord, _ page: ServedListing, _ close: HTML, _ content: SourceContent
  ) -> HTML {
    let source = content.source
    let query = content.query.forLinks
    let badge = Badge(page, query.cache, now)
    let badgeHTML = badge?.html(content.query) { WebAddress.record(source.name, record.id, $0) }
    let image: HTML? =
      record.hasImage
      ? """
      <div class="portrait"><img \
      src="\(WebAddress.image(source.name, record.id, .large, query.cache))" \
      alt="Picture of \(record.name.safeLine)" decoding="async"></div>
      """ : nil
    return """
      <section id="detail" aria-labelledby="detail-title" data-id="\(record.id)">
      <div class="detail-bar">\(close)<span class="actions">\(website(record))\(delete(record, content))</span></div>
      <article>
      \(image)
      <h2 id="detail-title" tabindex="-1" dir="auto">\(record.name.safeLine)</h2>
      <div class="bar"><p class="id">\(source.noun.singular.safeLine.capitalizedFirst) \
      <bdi>\(record.id.safeLine)</bdi></p>\(badgeHTML)</div>
      \(badge?.notesHTML ?? [])
      <dl>
      \(record.card.filter { $0.value != record.name && $0.value != record.id }.map(line))
      </dl>
      </article>
      </section>
      """
  }

  private func website(_ record: ServedRecord) -> HTML? {
    record.link?.webAddress.map { address in
      """
      <a class="button" href="\(address)" rel="noopener noreferrer external" \
      referrerpolicy="no-referrer">\(Icon.external.html)<span>Website</span></a>
      """
    }
  }

  private func delete(_ record: ServedRecord, _ content: SourceContent) -> HTML? {
    guard !isReadOnly, content.source.hasStore else { return nil }
    let name = content.source.name
    let action = WebAddress.record(name, record.id, content.query.forLinks, .delete)
    return """
      <form class="delete" method="post" action="\(action)" \
      data-api="\(WebAddress.api(name, record.id))" data-name="\(record.name.safeLine)">\
      <button type="submit" class="button danger">\(Icon.delete.html)<span>Delete</span></button></form>
      """
  }

  private func line(_ line: ServedRecord.Line) -> HTML {
    let isLong = line.value.utf8.count > 140 || line.value.contains { $0.isNewline }
    let value: HTML =
      if line.isLink, let address = line.value.webAddress {
        """
        <a href="\(address)" rel="noopener noreferrer external" referrerpolicy="no-referrer">\
        \(address.safeLine)</a>
        """
      } else {
        "\(line.value.safeParagraphs)"
      }
    return """
      <div\(attribute: "class", isLong ? "long" : nil)><dt>\(line.label.safeLine)</dt>\
      <dd dir="auto"\(attribute: "class", line.isLink ? "link" : nil)>\(value)</dd></div>

      """
  }
}
