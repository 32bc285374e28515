import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// A list as a table, and what belongs to a list besides its records.

extension HTMLRenderer {
  func table(_ page: ServedListing, _ content: SourceContent) -> HTML {
    let columns = page.columns
    // The column that names the records leads to them, also where it is empty; else one of its own.
    let name = columns.firstIndex { column in
      let values = page.records.map { record in
        (record, record.cells.first { $0.field == column.id }?.value)
      }
      return values.contains { $1 != nil }
        && values.allSatisfy { record, value in (value ?? record.id) == record.name }
    }
    let numbers = content.sample.with(page.records)
    return """
      <div class="table-box" id="records" tabindex="0" role="region" aria-label="Table of \(content.source.noun.plural.safeLine)"><table>
      <caption class="visually-hidden">\(title(content).safeLine)</caption>
      <thead><tr>\(name == nil ? #"<th scope="col" class="name">Name</th>"# : nil)\
      \(columns.enumerated().map { heading($1, content, isName: $0 == name) })</tr></thead>
      <tbody class="records">
      \(page.records.map { row($0, columns, naming: name, numbers, content) })
      </tbody></table></div>
      """
  }

  private func heading(_ column: FieldEntry, _ content: SourceContent, isName: Bool) -> HTML {
    let kind = isName ? "name" : kind(of: column, content)
    guard content.source.hasStore else {
      return "<th scope=\"col\"\(attribute: "class", kind)>\(column.label.fieldLabel)</th>"
    }
    // Of a field that may have any value, only its place is known, which its name says.
    let isDescribed = content.source.fields.contains {
      $0.id == column.id && $0.kind != FieldKind.any.rawValue
    }
    let keys = SortKeys(content.query.order)
    let (alone, beside) = (keys.choosing(column.id), keys.adding(column.id))
    let place = keys.names.count > 1 ? keys.index(of: column.id) : nil
    let titles = [
      isDescribed ? column.about.safeLine : nil,
      content.source.fields.count > 1 ? "Hold Shift to sort by several columns" : nil,
    ].compactMap(\.self)
    return """
      <th scope="col"\(attribute: "aria-sort", keys.direction(of: column.id))\(attribute: "class", kind)>\
      <a href="\(narrowed(content) { $0.order = alone })"\
      \(attribute: "data-then", narrowed(content) { $0.order = beside })\
      \(attribute: "data-key", place.map { String($0 + 1) })\
      \(attribute: "title", titles.isEmpty ? nil : titles.joined(separator: " · "))>\
      \(column.label.fieldLabel)</a></th>
      """
  }

  /// The class of a column; that of an ID which nobody has chosen gives way to the others where there is little room.
  private func kind(of column: FieldEntry, _ content: SourceContent) -> String? {
    let givesWay = column.id.lowercased() == "id" && content.query.chosenFields == nil
    let kinds = [column.isNumeric ? "number" : nil, givesWay ? "identity" : nil].compactMap(\.self)
    return kinds.isEmpty ? nil : kinds.joined(separator: " ")
  }

  private func row(
    _ record: ServedRecord, _ columns: [FieldEntry], naming name: Int?, _ numbers: FieldSample,
    _ content: SourceContent
  ) -> HTML {
    let address = WebAddress.record(content.source.name, record.id, content.query.forLinks)
    let excerpt = excerpt(of: record, content.query, columns: columns.map(\.id))
    let link: HTML = """
      <th scope="row"><a class="record" href="\(address)" data-id="\(record.id)"\
      \(attribute: "aria-current", record.id == content.detail?.id ? "true" : nil) dir="auto">\
      \(HTML.opaque(record.name) ?? "\(record.name.safeLine)")\(excerpt?.html)</a></th>
      """
    let cells = columns.enumerated().map { index, column -> HTML in
      if index == name { return link }
      let line = record.cells.first { $0.field == column.id }
      let text = line.map {
        HTML.external($0.value) ?? HTML.opaque($0.value) ?? HTML($0, in: numbers)
      }
      let value = line.flatMap { thumbnail($0, of: record, content, or: text) } ?? text
      return
        "<td\(attribute: "class", kind(of: column, content)) dir=\"auto\">\(value)</td>"
    }
    return "<tr>\(name == nil ? link : nil)\(cells)</tr>\n"
  }

  /// The first of the pictures whose addresses a cell has, in the place of these; `nil` for other values.
  private func thumbnail(
    _ line: ServedRecord.Line, of record: ServedRecord, _ content: SourceContent, or text: HTML?
  ) -> HTML? {
    guard let number = line.images.first else { return nil }
    let address = WebAddress.image(
      content.source.name, record.id, number: number, .small, content.query.cache)
    let others: HTML? = line.images.count > 1 ? " +\(line.images.count - 1)" : nil
    return """
      <span class="picture" data-image="\(address)"><span class="address">\(text)</span></span>\(others)
      """
  }

  /// How the list is shown, narrowed and taken away.
  func tools(_ content: SourceContent) -> HTML {
    let source = content.source
    let query = content.query.forLinks
    let views = ServedQuery.View.allCases.map { view -> HTML in
      let label: HTML =
        switch view {
        case .gallery: "Gallery"
        case .small: #"Small<span class="visually-hidden"> cards</span>"#
        case .table: "Table"
        }
      return """
        <a class="button" href="\(WebAddress.list(source.name, query.with(\.chosenView, view)))&#38;keep=true"\
        \(attribute: "aria-current", view == query.view ? "true" : nil)>\(label)</a>
        """
    }
    let filter: HTML? =
      source.hasStore
      ? """
      <a class="button filter" href="\(narrowed(content) { $0.showsFilters.toggle() })"\
      \(attribute: "aria-expanded", query.showsFilters ? "true" : "false")>Filter</a>
      """ : nil
    return """
      <div class="tools">\(filter)\(chips(content))<span class="actions">\
      <span class="views" role="group" aria-label="View">\(views)</span>\
      \(query.view == .table ? columnPicker(content) : sortMenu(content))\(dataMenu(content))</span>\(wrongFilters(content))</div>
      """
  }

  /// The orders of a gallery; a table has them in its heading.
  private func sortMenu(_ content: SourceContent) -> HTML? {
    guard content.source.hasStore else { return nil }
    let order = content.query.order
    let items = content.source.fields.map { field -> HTML in
      let orders = content.sample.orderKind(of: field.id).orders
      let label = field.label.fieldLabel
      let ways = [(field.id, "↑", orders.ascending), ("-\(field.id)", "↓", orders.descending)].map {
        key, arrow, way in
        """
        <a href="\(narrowed(content) { $0.order = key })" title="\(way)" aria-label="\(label): \(way)"\
        \(attribute: "aria-current", order == key ? "true" : nil)>\(arrow)</a>
        """ as HTML
      }
      return "<li><span title=\"\(label)\">\(label)</span>\(ways)</li>"
    }
    let standard: HTML? =
      order == nil
      ? nil
      : #"<p><a href="\#(narrowed(content) { $0.order = nil })">As the service has them</a></p>"#
    return """
      <details class="menu sort"><summary class="button">Sort</summary>
      <div class="panel">\(standard)<ul>\(items)</ul></div></details>
      """
  }

  private func columnPicker(_ content: SourceContent) -> HTML {
    let usual = content.source.fields.filter(\.isShown).map(\.id)
    let chosen = content.query.chosenFields ?? usual
    let rest = content.query.forLinks.with(\.fields, nil)
    let address = WebAddress.list(content.source.name, rest) + (rest.isPlain ? "?" : "&")
    let reset: HTML? =
      chosen == usual
      ? nil : #"<p><a href="\#(address)column=&#38;keep=true">The usual columns</a></p>"#
    return """
      <details class="menu"><summary class="button">Columns</summary>
      <form class="panel" action="\(WebAddress.list(content.source.name, ServedQuery.plain))" method="get">
      \(hiddenFields(rest))\(hidden("column", ""))\(hidden("keep", "true"))\(reset)
      <ul>\(content.source.fields.map { field in
        """
        <li><label><input type="checkbox" name="column" value="\(field.id)"\
        \(attribute: "checked", chosen.contains(field.id) ? "" : nil)> \(field.label.fieldLabel)</label></li>
        """
      })</ul>
      <button type="submit" class="button primary">Show</button></form></details>
      """
  }

  private func dataMenu(_ content: SourceContent) -> HTML {
    let query = content.query.forLinks.with(\.cursor, nil)
      .with(\.fields, content.query.chosenFields)
    var whole = query.with(\.limit, nil).with(\.offset, nil).with(\.isWhole, true)
    // It reads the cache.
    if whole.cache != .offline { whole.cache = .normal }
    let name = content.source.name
    let files = content.source.files.map { file -> HTML in
      """
       · <a href="\(WebAddress.api(name, whole.with(\.file, file)))" download="\(name).\(file.ending)">\(file.label)</a>
      """
    }
    let isNarrowed = query.query != nil || !query.conditions.isEmpty
    let page = try? content.list?.get()
    let warnings = page?.summary.warnings ?? []
    // The service may find others.
    let words =
      page?.cachedMatches.map { "\($0.grouped) cached \($0 == 1 ? "match" : "matches")" }
      ?? (page?.summary.provenance?.origin == .bundled
        ? "\(isNarrowed ? "matching " : "")sample records" : isNarrowed ? "matching" : "cached")
    return """
      <details class="menu data"><summary class="button">Export</summary>
      <div class="panel">\(content.source.hasStore ? """
        <p>All \(words)\(warnings.contains { $0.warning.code == .unreadable } ? " that can be read" : ""): \
        \(formats(ofFile: name) { WebAddress.api(name, whole.with(\.format, $0)) })\(files)</p>
        """ : nil)
      <p>This page: \(formats { WebAddress.api(name, query.with(\.format, $0)) })</p>
      \(hasSQL ? sqlLink(content) : nil)
      \(copies(of: WebAddress.api(name, content.source.hasStore ? whole : query), command(content), that: "lists them"))
      \(content.source.hasStore && !content.source.hasParquet ? """
        <p class="aside">Parquet requires duckdb on the server: \(DuckDB.installation)</p>
        """ : nil)</div></details>
      """
  }

  /// Links to the same answer in each format, as a file if it has a name.
  func formats(ofFile name: String? = nil, _ address: (Format) -> String) -> [HTML] {
    Format.served.map { format in
      let file = name.flatMap { name in format.fileEndings.first.map { "\(name).\($0)" } }
      return """
        \(format == .json ? "" : " · ")\
        <a href="\(address(format))"\(attribute: "download", file)>\(format.label)</a>
        """
    }
  }

  /// The buttons that copy where a program finds the same, and the command that prints it.
  ///
  /// - Parameters:
  ///   - address: `nil` for what only the command prints.
  ///   - purpose: What the command does: `lists them`.
  func copies(of address: String?, _ command: String, that purpose: String) -> HTML {
    """
    \(address.map { address in
      """
      <p class="actions"><button type="button" class="button" data-copy="\(address)" data-as="url" hidden>\
      Copy the API’s address</button>
      <button type="button" class="button" data-copy="\(address)" \
      data-as="\(hasToken ? "curl with token" : "curl")" hidden>Copy a curl command</button></p>
      \(hasToken ? """
        <p class="aside"><code>$TOKEN</code> is in the address that <code>serve</code> has printed</p>
        """ : nil)
      """ as HTML
    })
    <p><button type="button" class="button" data-copy="\(command)" hidden>Copy the command that \(purpose)</button></p>
    <p class="command"><code>\(command)</code></p>
    """
  }

  private func sqlLink(_ content: SourceContent) -> HTML {
    let isSearch = content.query.query != nil
    guard let query = query(of: content) else {
      return
        "<p>This list cannot be opened as an SQL query: SQL cannot express its \(isSearch ? "search" : "filter")</p>"
    }
    // What may be simpler is seen when it is opened, as that takes its time.
    let address = WebAddress.sql(
      query, ofList: query.contains("matches(") ? content.source.name : nil)
    return """
      <p><a href="\(address)">Open this list as an SQL query</a>\
      \(isSearch ? ", which searches cached records only" : "")</p>
      """
  }

  /// The options of the command line for conditions and the order of a list.
  private func selection(_ conditions: [String], _ content: SourceContent) -> [String] {
    conditions.flatMap { ["--where", $0.shellQuoted] }
      + (content.query.order.map { ["--sort", $0.shellQuoted] } ?? [])
  }

  /// The command that lists all cached records of the list.
  private func command(_ content: SourceContent) -> String {
    let query = content.query
    var words = [program, content.source.name]
    words += query.query.map { ["search", $0.shellQuoted] } ?? ["list"]
    words += selection(query.conditions, content)
    if let fields = query.chosenFields {
      words += ["--fields", fields.joined(separator: ",").shellQuoted]
    }
    // The records of the API's address; from its service, a list ends after some pages.
    if content.source.hasStore { words += ["--all", "--offline"] }
    return words.joined(separator: " ").safeLine
  }

  /// The fields that a form must send to keep the query, but for its position.
  func hiddenFields(_ query: ServedQuery) -> HTML {
    """
    \(query.query.map { hidden("query", $0) })\(query.conditions.map { hidden("where", $0) })\
    \(query.order.map { hidden("sort", $0) })\(query.limit.map { hidden("limit", String($0)) })\
    \(query.fields.map { hidden("fields", $0.joined(separator: ",")) })\
    \(query.shownFilters.map { hidden("filters", $0) })\
    \(query.chosenView.map { hidden("view", $0.rawValue) })\
    \(query.cache == .normal ? nil : hidden("cache", query.cache.rawValue))
    """
  }
}

/// The keys of an order, the first of which decides first.
private struct SortKeys {
  /// Each with a hyphen if it is descending.
  private let keys: [String]

  init(_ order: String?) {
    keys = order?.split(separator: ",").map { String($0.trimmingPrefix("+")) } ?? []
  }

  /// The names of the fields.
  var names: [String] { keys.map { String($0.trimmingPrefix("-")) } }

  func index(of field: String) -> Int? { names.firstIndex(of: field) }

  /// The value of `aria-sort`; `nil` if the field is no key.
  func direction(of field: String) -> String? {
    index(of: field).map { keys[$0].hasPrefix("-") ? "descending" : "ascending" }
  }

  /// The order by a field alone: ascending, then descending, then none.
  func choosing(_ field: String) -> String? {
    keys == [field] ? "-\(field)" : keys == ["-\(field)"] ? nil : field
  }

  /// The order in which a field is the last key, or, where it is one, the opposite or none.
  func adding(_ field: String) -> String? {
    var keys = keys
    switch index(of: field) {
    case nil: keys.append(field)
    case let index? where keys[index] == field: keys[index] = "-\(field)"
    case let index?: keys.remove(at: index)
    }
    return keys.isEmpty ? nil : keys.joined(separator: ",")
  }
}

extension Format {
  /// `JSON`, `Markdown`.
  var label: String {
    self == .markdown ? rawValue.capitalizedFirst : rawValue.uppercased()
  }
}
