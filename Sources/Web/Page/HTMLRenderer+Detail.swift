import AggregatorAPI
import AggregatorFilters
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
      <a class="button close" href="\(list)">\(Icon.close.html)<span>Close</span></a>
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
    // The list says that a key is missing, which needs no line here: the origin opens into it.
    let isKeyless = page.summary.provenance?.reason?.code == .missingKey
    let badgeHTML = badge?.html(content.query, hasNotes: !isKeyless) {
      WebAddress.record(source.name, record.id, $0)
    }
    let numbers = content.sample.with([record])
    let (kind, id) = (source.noun.one.safeLine.capitalizedFirst, record.id.safeLine)
    let isNamedSo = record.name == "\(kind) \(record.id)"
    let links = content.detail?.links ?? RecordLinks()
    // A record that a field of the heading leads to may have the same ID.
    let lines = record.card.filter { !$0.isHeading || links.targets[$0.field] != nil }
    let image: HTML? =
      record.hasImage
      ? """
      <div class="portrait"><img \
      src="\(WebAddress.image(source.name, record.id, .large, query.cache))" \
      alt="Picture of \(record.name.safeLine)" decoding="async"></div>
      """ : nil
    return """
      <section id="detail" aria-labelledby="detail-title" data-id="\(record.id)">
      <div class="detail-bar"><span class="actions">\(close)\(steps)</span>\
      <span class="actions">\(website(record))\(delete(record, content))</span></div>
      <article>
      \(image)
      <h2 id="detail-title" tabindex="-1" dir="auto">\(record.name.safeLine)</h2>
      <div class="bar">\(isNamedSo ? nil : #"<p class="id">\#(kind) <bdi>\#(id)</bdi></p>"# as HTML)\
      \(dataMenu(record, source))\(badgeHTML)</div>
      \(removal(page, content.detail?.history))
      \(badge.map { Array($0.notesHTML().dropFirst(isKeyless ? 1 : 0)) } ?? [])
      <dl>
      \(lines.map { line in
        self.line(
          line, content, numbers, line.images.isEmpty ? nil : pictures(line, of: record, content))
      })\(links.referrers.map { self.line(of: $0, naming: source.noun) })
      </dl>
      \(map(record.card))
      \(content.detail?.history.map { history($0, source, content.sample) })
      \(kept(record))
      </article>
      </section>
      """
  }

  /// All that is cached of a record, also what no field shows.
  private func kept(_ record: ServedRecord) -> HTML? {
    guard let json = record.kept,
      let text = JSONFormatter.indented(Array(json.text.utf8), atMost: 500_000)
    else { return nil }
    return """
      <details class="fold whole"><summary>\(record.isAsSent ? "As the service sent it" : "All that is cached")</summary>\
      <pre dir="ltr"><code>\(String(decoding: text, as: UTF8.self).safeCell)</code></pre></details>
      """
  }

  /// The notice that a sync has not found a record any more.
  private func removal(_ page: ServedListing, _ history: ServedHistory?) -> HTML? {
    let last = history?.entries.first.flatMap { $0.kind == .removed ? $0 : nil }
    let isRemoved = page.summary.warnings.contains { $0.warning.code == .removedUpstream }
    guard isRemoved || last != nil && page.summary.provenance?.origin != .live else { return nil }
    let time = last.map { change -> HTML in
      #"the sync of <time datetime="\#(change.date)">\#(change.date.writtenDate ?? change.date)</time>"#
    }
    return """
      <div class="notice"><p>Not found by \(time ?? "a sync"). This is the last copy of it.</p></div>
      """
  }

  /// The buttons that lead to the records beside it in the list, which only the script knows.
  private var steps: HTML {
    """
    <button type="button" class="button step" data-step="-1" hidden aria-label="Previous record">\
    \(Icon.back.html)</button>\
    <button type="button" class="button step" data-step="1" hidden aria-label="Next record">\
    \(Icon.forward.html)</button>
    """
  }

  private func dataMenu(_ record: ServedRecord, _ source: any ServedSource) -> HTML {
    let address = WebAddress.api(source.name, record.id)
    let id = record.id.isPlainWord ? record.id : record.id.shellQuoted
    let command = [program, source.name, "show", id].joined(separator: " ").safeLine
    return """
      <details class="menu"><summary class="button">Export</summary>
      <div class="panel"><p><a href="\(address)">JSON</a></p>
      <p><button type="button" class="button" data-copy="\(record.object.text)" hidden>Copy JSON</button></p>
      \(copies(of: address, command, that: "shows it"))</div></details>
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
      <button type="submit" class="button danger" \
      title="Hides it on this machine until it is restored; the service is not changed">\(Icon.delete.html)<span>Delete</span></button></form>
      """
  }

  private func line(
    _ line: ServedRecord.Line, _ content: SourceContent, _ numbers: FieldSample,
    _ pictures: HTML?
  ) -> HTML {
    let isLong =
      line.elements.isEmpty
      && (line.value.utf8.count > 140 || line.value.contains { $0.isNewline })
    let isFolded = isLong && line.value.count > Self.longest
    let value: HTML =
      if let pictures {
        pictures
      } else if line.value.isEmpty {
        #"<span class="none">–</span>"#
      } else if let target = content.detail?.links.targets[line.field] {
        reference(to: target)
      } else if !line.elements.isEmpty {
        tags(line, content)
      } else if isFolded {
        folded(line.value)
      } else if line.isLink, let link = HTML.external(line.value, atMost: .max) {
        link
      } else {
        plain(line, isLong ? nil : content, numbers)
      }
    // The script copies what is beside it.
    let copy: HTML? =
      pictures != nil || line.value.isEmpty || isFolded
      ? nil
      : """
      <button type="button" class="button copy-value" data-copy="" \
      aria-label="Copy \(line.label.fieldLabel)">\(Icon.copy.html)</button>
      """
    return """
      <div\(attribute: "class", isLong ? "long" : nil)><dt>\(line.label.fieldLabel)</dt>\
      <dd dir="auto"\(attribute: "class", line.isLink && line.elements.isEmpty ? "link" : nil)>\(value)\(copy)</dd></div>

      """
  }

  /// A value as people write it; one that other records share, as the first records of the source tell, leads to them.
  ///
  /// - Parameter content: `nil` for a value that leads nowhere.
  private func plain(
    _ line: ServedRecord.Line, _ content: SourceContent?, _ numbers: FieldSample
  ) -> HTML {
    let words = line.written(in: numbers) ?? .paragraphs(line.value)
    guard let content, content.source.hasStore, line.json != nil,
      content.sample.repeated.contains(line.field)
    else { return words }
    return filter(line.field, line.value, words, content)
  }

  /// The way to those records of the list that have a value, or back from them; the record stays open beside it.
  private func filter(
    _ field: String, _ value: String, _ words: HTML, _ content: SourceContent
  ) -> HTML {
    let condition = TypedCondition(field, .equal, value).quoted
    let conditions = Self.filters(of: content.query).map(\.condition)
    let isOn = conditions.contains(condition)
    let address = narrowed(content, beside: content.detail?.id) {
      $0.conditions = isOn ? conditions.filter { $0 != condition } : conditions + [condition]
    }
    // The script has the filters that the list has by then.
    return """
      <a class="chip" href="\(address)" data-where="\(condition)" title="\(value.safeLine)"\
      \(attribute: "aria-current", isOn ? "true" : nil)><bdi>\(words)</bdi></a>
      """
  }

  /// The most characters of a text that is shown at once.
  private static let longest = 600

  private func folded(_ text: String) -> HTML {
    let words = text.prefix(Self.longest / 2).split(separator: " ").dropLast()
    // An address that is cut would be another one.
    let start: HTML =
      words.isEmpty
      ? "\(String(text.prefix(Self.longest / 2)).safeParagraphs)"
      : .paragraphs(words.joined(separator: " "))
    return """
      <div class="fold"><p>\(start)…</p>\
      <details><summary><span>Show all of it</span> <span>Show less</span></summary>\(HTML.paragraphs(text))</details></div>
      """
  }

  /// The place of a record on a map of the region around it, with links to larger maps; nothing for one without a latitude
  /// and a longitude.
  private func map(_ lines: [ServedRecord.Line]) -> HTML? {
    func degrees(_ names: Set<String>, upTo limit: Double) -> Double? {
      let line = lines.first { line in
        line.field.split(separator: ".").last.map { names.contains($0.lowercased()) } ?? false
      }
      return line.flatMap { Double($0.value) }.flatMap { abs($0) <= limit ? $0 : nil }
    }
    guard let latitude = degrees(["lat", "latitude"], upTo: 90),
      let longitude = degrees(["lon", "lng", "long", "longitude"], upTo: 180)
    else { return nil }
    let words =
      "\(abs(latitude))° \(latitude < 0 ? "south" : "north"), "
      + "\(abs(longitude))° \(longitude < 0 ? "west" : "east")"
    let region = MapRegion(around: latitude, longitude)
    // Eleven metres are exact enough for a map.
    let (lat, lon) = (latitude.inTenThousandths, longitude.inTenThousandths)
    return """
      <svg class="drawing map place" role="img" aria-label="Map of the region around \(words)" viewBox="0 0 400 200">\
      <image href="\(Asset.land.address)" x="\(region.x(-180))" y="\(region.y(90))" width="1800" height="900"/>\
      \(region.grid)\(region.scale(at: latitude))\
      <circle cx="\(region.x(longitude))" cy="\(region.y(latitude))" r="6"/></svg>
      <p class="note"><bdi>\(words)</bdi> · <a rel="noopener noreferrer external" referrerpolicy="no-referrer" \
      href="https://www.openstreetmap.org/?mlat=\(lat)&#38;mlon=\(lon)#map=9/\(lat)/\(lon)">OpenStreetMap</a> · \
      <a href="geo:\(lat),\(lon)">Map app</a></p>
      """
  }

  /// The pictures of a record, each of which the script shows in the place of the large one.
  private func pictures(
    _ line: ServedRecord.Line, of record: ServedRecord, _ content: SourceContent
  ) -> HTML {
    let (name, cache) = (content.source.name, content.query.cache)
    let count = line.images.count
    return """
      <ul class="pictures">\(line.images.enumerated().map { index, number in
        let small = WebAddress.image(name, record.id, number: number, .small, cache)
        return """
          <li><a class="picture hue-\(index % 6)" href="\(WebAddress.image(name, record.id, number: number, .large, cache))" \
          data-image="\(small)" aria-label="Picture \(index + 1) of \(count)">\
          <span class="initial" aria-hidden="true">\(index + 1)</span>\
          <noscript><img src="\(small)" alt="" loading="lazy" decoding="async"></noscript></a></li>
          """ as HTML
      })</ul>
      """
  }

  /// The elements of a list, each of which leads to the cached records that have it, too, by the filter of its facet; of a field
  /// that lists do not include, the list says of how many it is unknown.
  private func tags(_ line: ServedRecord.Line, _ content: SourceContent) -> HTML {
    let tags = line.elements.map { element -> HTML in
      let words: HTML = "\(element.safeLine)"
      guard content.source.hasStore else {
        return #"<li class="chip" title="\#(element.safeLine)"><bdi>\#(words)</bdi></li>"#
      }
      return "<li>\(filter(line.field, element, words, content))</li>\n"
    }
    return #"<ul class="chips">\#(tags)</ul>"#
  }
}

/// 80 × 40 degrees around a place, as near as the outlines of the land allow; each is 5 units of a drawing.
private struct MapRegion {
  let west: Double
  let north: Double

  init(around latitude: Double, _ longitude: Double) {
    west = min(max(longitude - 40, -180), 100)
    north = min(max(latitude + 20, -50), 90)
  }

  func x(_ longitude: Double) -> Int { Int(((longitude - west) * 5).rounded()) }

  func y(_ latitude: Double) -> Int { Int(((north - latitude) * 5).rounded()) }

  /// A line for each ten degrees, with its name.
  var grid: [HTML] {
    let steps = stride(from: -180.0, through: 180, by: 10)
    let meridians = steps.filter { west < $0 && $0 < west + 80 }.map { degrees -> HTML in
      let name = Self.name(of: degrees, "E", "W")
      return """
        <path class="grid" d="M\(x(degrees)) 0V200"/><text x="\(x(degrees) + 3)" y="196">\(name)</text>
        """
    }
    let parallels = steps.filter { north - 37 < $0 && $0 < north }.map { degrees -> HTML in
      let name = Self.name(of: degrees, "N", "S")
      return """
        <path class="grid" d="M0 \(y(degrees))H400"/><text x="4" y="\(y(degrees) - 4)">\(name)</text>
        """
    }
    return meridians + parallels
  }

  private static func name(of degrees: Double, _ positive: String, _ negative: String) -> String {
    "\(Int(abs(degrees)))°\(degrees > 0 ? positive : degrees < 0 ? negative : "")"
  }

  /// A bar as long as a round number of kilometres at a latitude; nothing at the poles.
  func scale(at latitude: Double) -> HTML? {
    func width(_ kilometres: Int) -> Double {
      5 * Double(kilometres) / (111.32 * cos(latitude * .pi / 180))
    }
    guard let kilometres = [2000, 1000, 500, 200, 100].first(where: { 0...110 ~= width($0) }) else {
      return nil
    }
    let start = 392 - Int(width(kilometres).rounded())
    return """
      <path class="scale" d="M\(start) 16v6H392v-6"/>\
      <text x="392" y="12" text-anchor="end">\(kilometres.grouped) km</text>
      """
  }
}

extension Double {
  /// With four digits after the point.
  fileprivate var inTenThousandths: String { String((self * 10_000).rounded() / 10_000) }
}
