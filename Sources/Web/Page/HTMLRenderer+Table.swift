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
    let numbers = NumberColumns(page.records, content.decimals)
    return """
      <div class="table-box" tabindex="0" role="region" aria-label="Table of \(content.source.noun.plural.safeLine)"><table>
      <caption class="visually-hidden">\(title(content).safeLine)</caption>
      <thead><tr>\(name == nil ? #"<th scope="col">Name</th>"# : nil)\(columns.map { heading($0, content) })</tr></thead>
      <tbody class="records">
      \(page.records.map { row($0, columns, naming: name, numbers, content) })
      </tbody></table></div>
      """
  }

  private func heading(_ column: FieldEntry, _ content: SourceContent) -> HTML {
    let isNumber: HTML? = column.isNumeric ? #" class="number""# : nil
    guard content.source.hasStore else {
      return "<th scope=\"col\"\(isNumber)>\(column.label.fieldLabel)</th>"
    }
    let order = content.query.order
    let (isAscending, isDescending) = (order == column.id, order == "-\(column.id)")
    let next = isAscending ? "-\(column.id)" : isDescending ? nil : column.id
    let sort = isAscending ? "ascending" : isDescending ? "descending" : nil
    return """
      <th scope="col"\(attribute: "aria-sort", sort)\(isNumber)>\
      <a href="\(narrowed(content) { $0.order = next })" title="\(column.about.safeLine)">\
      \(column.label.fieldLabel)</a></th>
      """
  }

  private func row(
    _ record: ServedRecord, _ columns: [FieldEntry], naming name: Int?, _ numbers: NumberColumns,
    _ content: SourceContent
  ) -> HTML {
    let address = WebAddress.record(content.source.name, record.id, content.query.forLinks)
    let link: HTML = """
      <th scope="row"><a class="record" href="\(address)" data-id="\(record.id)"\
      \(attribute: "aria-current", record.id == content.detail?.id ? "true" : nil) dir="auto">\
      \(HTML.opaque(record.name) ?? "\(record.name.safeLine)")</a></th>
      """
    let cells = columns.enumerated().map { index, column -> HTML in
      if index == name { return link }
      let value = record.cells.first { $0.field == column.id }
        .map { HTML.opaque($0.value) ?? HTML($0, in: numbers) }
      return
        "<td\(attribute: "class", column.isNumeric ? "number" : nil) dir=\"auto\">\(value)</td>"
    }
    return "<tr>\(name == nil ? link : nil)\(cells)</tr>\n"
  }

  /// How the list is shown, narrowed and taken away.
  func tools(_ content: SourceContent) -> HTML {
    let source = content.source
    let query = content.query.forLinks
    let views: HTML? =
      source.hasImages
      ? """
      <span class="views" role="group" aria-label="View">\(ServedQuery.View.allCases.map { view in
        """
        <a class="button" href="\(WebAddress.list(source.name, query))\(query.isPlain ? "?" : "&")view=\(view.rawValue)"\
        \(attribute: "aria-current", view == query.view ? "true" : nil)>\(view == .table ? "Table" : "Gallery")</a>
        """
      })</span>
      """ : nil
    let filter: HTML? =
      source.hasStore
      ? """
      <a class="button filter" href="\(narrowed(content) { $0.showsFilters.toggle() })"\
      \(attribute: "aria-expanded", query.showsFilters ? "true" : "false")>Filter</a>
      """ : nil
    return """
      <div class="tools">\(filter)\(chips(content))<span class="actions">\(views)\
      \(query.view == .table ? columnPicker(content) : sortMenu(content))\(dataMenu(content))</span></div>
      """
  }

  /// The orders of a gallery; a table has them in its heading.
  private func sortMenu(_ content: SourceContent) -> HTML? {
    guard content.source.hasStore else { return nil }
    let order = content.query.order
    let items = content.source.fields.filter(\.isShown).map { field -> HTML in
      let orders = (content.kinds[field.id] ?? .any).orders
      let ways = [(field.id, orders.ascending), ("-\(field.id)", orders.descending)].map {
        key, way in
        """
        <a href="\(narrowed(content) { $0.order = key })"\
        \(attribute: "aria-current", order == key ? "true" : nil)>\(way)\
        <span class="visually-hidden"> by \(field.label.fieldLabel)</span></a>
        """ as HTML
      }
      return "<li>\(field.label.fieldLabel): \(ways[0]) · \(ways[1])</li>"
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
      chosen == usual ? nil : #"<p><a href="\#(address)column=">The usual columns</a></p>"#
    return """
      <details class="menu"><summary class="button">Columns</summary>
      <form class="panel" action="\(WebAddress.list(content.source.name, ServedQuery.plain))" method="get">
      \(hiddenFields(rest))\(hidden("column", ""))\(reset)
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
    let address = WebAddress.api(content.source.name, query)
    var whole = query.with(\.limit, nil).with(\.offset, nil).with(\.isWhole, true)
    // It reads the cache.
    if whole.cache != .offline { whole.cache = .normal }
    func link(_ query: ServedQuery, _ format: Format, _ label: String) -> HTML {
      let address = WebAddress.api(content.source.name, query.with(\.format, format))
      let file = query.isWhole ? "\(content.source.name).\(label.lowercased())" : nil
      return #"<a href="\#(address)"\#(attribute: "download", file)>\#(label)</a>"#
    }
    let name = content.source.name
    let removal: HTML? =
      mayRemove(name)
      ? #"<p><a href="\#(RoutePath(PagePath.remove, name).text)">Remove this source…</a></p>"# : nil
    let isNarrowed = query.query != nil || !query.conditions.isEmpty
    return """
      <details class="menu"><summary class="button">Data</summary>
      <div class="panel"><p>\(link(query, .json, "JSON")) · \(link(query, .csv, "CSV")) of this page</p>
      \(content.source.hasStore ? """
        <p>\(link(whole, .json, "JSON")) · \(link(whole, .csv, "CSV")) · \(link(whole, .ndjson, "NDJSON"))\
        \(content.source.hasParquet ? " · \(link(whole.with(\.isParquet, true), .json, "Parquet"))" : nil) \
        of all \(isNarrowed ? "matching" : "cached") records</p>
        """ : nil)
      \(hasSQL ? sqlLink(content) : nil)
      \(copies(of: address, command(content)))\(removal)</div></details>
      """
  }

  /// The buttons that copy where a program finds the same, and the command that prints it.
  func copies(of address: String, _ command: String) -> HTML {
    """
    <p><button type="button" class="button" data-copy="\(address)" data-as="url" hidden>\
    Copy the API’s address</button></p>
    <p><button type="button" class="button" data-copy="\(address)" data-as="curl" hidden>\
    Copy a curl command</button></p>
    <p><button type="button" class="button" data-copy="\(command)" hidden>Copy the command</button></p>
    <p class="command"><code>\(command)</code></p>
    """
  }

  private func sqlLink(_ content: SourceContent) -> HTML {
    let columns = Set(content.source.fields.map(\.id))
    let isSame =
      content.query.query == nil
      && Self.filters(of: content.query).joined().allSatisfy { $0.sql(in: columns) != nil }
    return """
      <p><a href="\(WebAddress.sql(Self.query(of: content)))">SQL</a>\
      \(isSame ? "" : ", which is narrowed less than this list")</p>
      """
  }

  /// The command that lists the same records.
  private func command(_ content: SourceContent) -> String {
    let query = content.query
    var words = [program, content.source.name]
    words += query.query.map { ["search", $0.shellQuoted] } ?? ["list"]
    for condition in query.conditions { words += ["--where", condition.shellQuoted] }
    if let order = query.order { words += ["--sort", order.shellQuoted] }
    if let fields = query.chosenFields {
      words += ["--fields", fields.joined(separator: ",").shellQuoted]
    }
    return words.joined(separator: " ").safeLine
  }

  /// What a form must send to keep the query, but for its position.
  func hiddenFields(_ query: ServedQuery) -> HTML {
    """
    \(query.query.map { hidden("query", $0) })\(query.conditions.map { hidden("where", $0) })\
    \(query.order.map { hidden("sort", $0) })\(query.limit.map { hidden("limit", String($0)) })\
    \(query.fields.map { hidden("fields", $0.joined(separator: ",")) })\
    \(query.showsFilters ? hidden("filters", "shown") : nil)\
    \(query.cache == .normal ? nil : hidden("cache", query.cache.rawValue))
    """
  }
}
