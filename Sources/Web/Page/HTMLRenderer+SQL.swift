import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The page for queries in SQL.

struct SQLContent: Sendable {
  /// The query; `nil` before one was typed.
  let text: String?

  let tables: [ServedTable]

  /// `nil` without a query.
  var answer: Result<SQLAnswer, Problem>?

  /// The values of the parameters of the query, as they were typed, by their names.
  var values: [String: String] = [:]

  /// The queries that the command line has saved.
  var saved: [(name: String, text: String)] = []

  /// The names of the parameters of the query, at most a hundred.
  var parameters: [String] { Array(SQLStatement(text ?? "").parameterNames.prefix(100)) }

  /// The first parameter without a value, if the query failed: it is typed next.
  var missingParameter: String? {
    answer?.failure == nil ? nil : parameters.first { values[$0, default: ""].isEmpty }
  }

  /// The word of the query at which the database found a mistake; `nil` if that is not known.
  var mistake: Range<String.Index>? {
    guard let text, let place = answer?.failure?.message.firstMatch(of: /\(character ([0-9]+)\)$/),
      let number = Int(place.1), number > 0,
      let start = text.index(text.startIndex, offsetBy: number - 1, limitedBy: text.endIndex),
      start < text.endIndex
    else { return nil }
    let word = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return start..<(word.isEmpty ? text.index(after: start) : word.endIndex)
  }

  /// The query with the values in the places of its parameters, as a command and the API take it.
  var boundText: String {
    let text = text ?? ""
    var (bound, rest) = ("", text[...])
    for range in SQLStatement(text).parameterRanges {
      guard let value = values[String(text[range].dropFirst())] else { continue }
      bound += rest[..<range.lowerBound] + SQLValue(typed: value).literal
      rest = text[range.upperBound...]
    }
    return bound + rest
  }

  /// The name of the source that alone a query reads, as far as that can be seen; and of the column with the IDs of its records.
  func records(among sources: [any ServedSource]) -> (source: String, column: String)? {
    let names = (text ?? "").matches(of: /(?i)\b(?:from|join)\s+("[^"]+"|\w+)/).map { match in
      match.1.replacing("\"", with: "").lowercased()
    }
    guard let name = names.first, Set(names).count == 1,
      let source = sources.first(where: { $0.name == name }),
      let column = tables.first(where: { $0.name == name })?.columns.first
    else { return nil }
    return (source.name, column)
  }
}

extension HTMLRenderer {
  func sql(_ content: SQLContent) -> String {
    let text = content.text ?? content.tables.first.map { Self.query(of: $0.name) } ?? ""
    let isFailure = content.answer?.failure != nil
    return document(
      Frame(title: "SQL", place: "sql", scripts: [.script, .sqlScript]),
      """
      <div class="column">
      <div class="heading"><div><h1>SQL</h1>
      <p class="summary">One SELECT over the cached records of all sources, stopped after \(SQLRun.defaultTime.text). \
      Nothing can be changed.\(hasMatches ? " A list is JSON: <code>json_each(column)</code> has its elements." as HTML : nil)</p>\
      </div></div>
      <div class="query">
      <form id="sql-form" action="\(RoutePath(PagePath.sql).text)" method="get">
      <label for="sql">Query</label>
      <div class="editor"><textarea id="sql" name="sql" rows="5" required spellcheck="false" \
      autocomplete="off" autocapitalize="off" autocorrect="off"\
      \(attribute: "autofocus", content.missingParameter == nil && (content.answer == nil || isFailure) ? "" : nil)\
      \(attribute: "aria-describedby", content.answer == nil ? nil : "outcome")\
      \(attribute: "aria-invalid", isFailure ? "true" : nil)>
      \(text)</textarea></div>
      \(parameters(of: content))
      <div class="actions"><button type="submit" class="button primary">Run</button>
      <details class="menu" id="saved"\(attribute: "hidden", content.saved.isEmpty ? "" : nil)>\
      <summary class="button">Saved queries</summary>
      <div class="panel"><div></div>\(saved(of: content))</div></details>
      <span class="keys" hidden><kbd>Ctrl</kbd> <kbd>Enter</kbd> runs, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes</span></div>
      </form>
      \(content.answer.map { result($0, of: content) })
      \(tables(content.tables))
      </div>
      </div>
      """
    ).text
  }

  /// The queries that the command line has saved, which alone changes them.
  private func saved(of content: SQLContent) -> HTML? {
    guard !content.saved.isEmpty else { return nil }
    return """
      <p class="note">Saved on the command line:</p>
      <ul>\(content.saved.map { query in
        #"<li><a href="\#(WebAddress.sql(query.text))" title="\#(query.text.oneLine(atMost: 500).safeLine)">\#(query.name)</a></li>"# as HTML
      })</ul>
      """
  }

  /// The fields for the values of the parameters of a query.
  private func parameters(of content: SQLContent) -> HTML? {
    let names = content.parameters
    guard !names.isEmpty else { return nil }
    return """
      <div class="save parameters">\(names.map { name in
        """
        <label for="value-\(name)">:\(name)</label>\
        <input id="value-\(name)" name=":\(name)" value="\(content.values[name] ?? "")" autocomplete="off" spellcheck="false"\
        \(attribute: "autofocus", name == content.missingParameter ? "" : nil)>
        """ as HTML
      })</div>
      """
  }

  /// The query that shows a table, all rows of it: the page shows the first ones and says so.
  ///
  /// - Parameter conditions: All of them hold; several have a line each.
  static func query(
    of table: String, selecting columns: [String] = [], where conditions: [String] = [],
    order: String? = nil
  ) -> String {
    let names = columns.map(\.sqlSpelling).joined(separator: ", ")
    let space = conditions.count > 1 ? "\n" : " "
    return "SELECT \(columns.isEmpty ? "*" : names) FROM \(table.sqlSpelling)"
      + (conditions.isEmpty ? "" : "\(space)WHERE \(conditions.joined(separator: "\n  AND "))")
      + (order.map { "\(space)ORDER BY \($0)" } ?? "")
  }

  /// The query that shows the table of a list, with the columns that were chosen, in its order; `nil` if SQL cannot say
  /// what narrows the list.
  func query(of content: SourceContent) -> String? {
    let columns = SQLColumns(of: content, hasMatches: hasMatches)
    let keys = (content.query.order ?? "").split(separator: ",").map { key in
      let isDescending = key.hasPrefix("-")
      return (name: String(isDescending ? key.dropFirst() : key), isDescending: isDescending)
    }
    let isStored = !keys.isEmpty && keys.allSatisfy { columns.kinds[$0.name] != nil }
    let order = keys.map { $0.name.sqlSpelling + ($0.isDescending ? " DESC" : "") }
    guard let search = searchFilters(of: content) else { return nil }
    let filters = search + Self.filters(of: content.query).joined()
    let conditions = filters.compactMap(columns.sql)
    guard conditions.count == filters.count else { return nil }
    return Self.query(
      of: content.source.name,
      selecting: (content.query.chosenFields ?? []).filter { columns.kinds[$0] != nil },
      where: conditions, order: isStored ? order.joined(separator: ", ") : nil)
  }

  /// The filters that have the cached records of a search, one for each word; `nil` if there are none for it.
  func searchFilters(of content: SourceContent) -> [TypedFilter]? {
    guard let query = content.query.query else { return [] }
    let words =
      query.matches(of: /["“„«]([^"“”„«»]+)["“”»]?|[^\s"“”„«»]*[\p{L}\p{N}][^\s"“”„«»]*/)
      .map { String($0.output.1 ?? $0.output.0).trimmed }
      .filter { !FoldedText($0).text.isEmpty }
    let searched = content.source.fields.filter(\.isSearchable).map(\.id)
    guard !words.isEmpty, !searched.isEmpty else { return nil }
    return words.map { word in
      // A word is in one of them.
      let parts = searched.map { TypedFilter.condition(TypedCondition($0, .contains, word)) }
      return parts.count == 1 ? parts[0] : TypedFilter.any(parts)
    }
  }

  private func tables(_ tables: [ServedTable]) -> HTML {
    """
    <section class="schemas" aria-labelledby="tables" tabindex="0"><h2 id="tables">\(tables.count) table\(tables.count == 1 ? "" : "s")</h2>
    \(tables.map { table in
      """
      <div class="schema-table"><h3><code data-name="\(table.name.sqlSpelling)">\(table.name.safeLine)</code></h3>
      <p\(attribute: "class", table.isPart ? "tone cached part" : nil)>\(amount(of: table))\
      <a href="\(WebAddress.sql(Self.query(of: table.name)))">Show<span class="visually-hidden"> \(table.name.safeLine)</span></a></p>
      <details><summary>\(table.columns.count) column\(table.columns.count == 1 ? "" : "s")<span class="visually-hidden"> of \(table.name.safeLine)</span></summary>
      <ul>\(table.columns.map { name in
        #"<li><code data-name="\#(name.sqlSpelling)">\#(name.safeLine)</code></li>"#
      })</ul></details></div>

      """
    })
    </section>
    """
  }

  /// The number of rows, and of how many if only a part is cached; empty if it is unknown.
  private func amount(of table: ServedTable) -> String {
    guard let count = table.count else { return "" }
    let all = table.total.map { " of \($0.grouped)" }
    let rows = "\(table.isSample ? "sample " : "")row\(count == 1 && all == nil ? "" : "s")"
    let doubt = table.isPart && all == nil ? ", maybe not all" : ""
    return "\(count.grouped)\(all ?? "") \(rows)\(doubt) · "
  }

  private func result(_ answer: Result<SQLAnswer, Problem>, of content: SQLContent) -> HTML {
    switch answer {
    case .success(let answer):
      let records = content.records(among: sources)
      return """
        <section id="result" aria-label="Result">
        <div class="bar"><p class="count" id="outcome">\(count(answer))</p>\(downloads(content.boundText))</div>
        \(answer.notes.map { #"<p class="note" dir="auto">\#($0.sentence)</p>"# })
        <div id="chart" data-land="\(Asset.land.address)"\
        \(attribute: "data-sql", answer.hasMore ? content.boundText : nil)\
        \(attribute: "data-records", records.map { WebAddress.list($0.source, ServedQuery.plain) + "/" })\
        \(attribute: "data-id", records?.column) hidden></div>
        <div id="table">\(answer.hasMore ? Self.moreRows : nil)
        \(answer.columns.isEmpty ? nil : table(answer, of: content))</div>
        </section>
        """
    case .failure(let problem):
      return """
        <section id="result" aria-label="Result">
        <div class="failure" id="outcome">\(Icon.warning.html)<div>\
        \([problem.message, problem.hint].compactMap(\.self).map { text in
          #"<p dir="auto">\#(text.sentence)</p>"#
        })\(line(of: content))</div></div>
        </section>
        """
    }
  }

  /// The line of the query with a mistake, which is marked.
  private func line(of content: SQLContent) -> HTML? {
    guard let text = content.text, let place = content.mistake else { return nil }
    let lines = text[..<place.lowerBound].split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let rest = text[place.upperBound...].prefix { !$0.isNewline }
    return """
      <p class="command">Line \(lines.count)<code dir="ltr">\(String((lines.last ?? "").suffix(80)).safeLine)\
      <mark>\(String(text[place]).safeLine)</mark>\(String(rest.prefix(80)).safeLine)</code></p>
      """
  }

  private static let moreRows: HTML =
    #"<p class="note">There are more rows. Narrow the query, or take all of them as CSV or JSON from Export.</p>"#

  private func count(_ answer: SQLAnswer) -> String {
    let count = answer.rows.count
    let rows = "\(count.grouped) row\(count == 1 ? "" : "s")"
    let took = "in \(answer.time.text)"
    return answer.hasMore
      ? "The first \(rows) \(took)" : count == 0 ? "No rows \(took)" : "\(rows) \(took)"
  }

  private func downloads(_ text: String) -> HTML {
    let command = "\(program) sql \(text.shellQuoted)".safeCell
    let isShort = text.unicodeScalars.count <= ServedSQL.maxLength
    let table = text.firstMatch(of: /\b(?i:from)\s+"?(\w[\w-]*)/).map { "\($0.1)-query" }
    return """
      <details class="menu data"><summary class="button">Export</summary>
      <div class="panel">\(isShort ? """
        <p>All rows as \(formats(ofFile: table ?? "result") { WebAddress.api(sql: text, format: $0.rawValue) })</p>
        """ : """
        <form method="post" action="\(RoutePath(APIPath.sql).text)">All rows as\(hidden("sql", text))\
        \(Format.served.map { format in
          """
           <button type="submit" class="link" formaction="\(WebAddress.api(sqlAs: format.rawValue))">\(format.label)</button>
          """ as HTML
        })</form>
        """)
      \(copies(of: isShort ? WebAddress.api(sql: text) : nil, command, that: "runs it"))</div></details>
      """
  }

  private func table(_ answer: SQLAnswer, of content: SQLContent) -> HTML {
    let records = content.records(among: sources)
    let styles = answer.columns.enumerated().map { index, name in
      answer.rows.areNumbers(at: index)
        ? NumberStyle(of: answer.rows.map { $0[index].json }, in: name) : nil
    }
    return """
      <div class="table-box" tabindex="0" role="region" aria-label="Rows"><table>
      <caption class="visually-hidden">Rows of the query</caption>
      <thead><tr>\(answer.columns.enumerated().map { index, name in
        #"<th scope="col"\#(attribute: "class", styles[index].map { _ in "number" })>\#(name.safeLine)</th>"#
      })</tr></thead>
      <tbody>
      \(answer.rows.map { row in
        let cells = row.indices.map { index -> HTML in
          let (value, column) = (row[index], answer.columns[index])
          if let records, column == records.column, value != .null {
            return link(to: value.json.cell, of: records.source, isNumeric: styles[index] != nil)
          }
          return cell(value, styles[index])
        }
        return "<tr>\(cells)</tr>\n" as HTML
      })
      </tbody></table></div>
      """
  }

  /// The ID of a record, which leads to it.
  private func link(to id: String, of source: String, isNumeric: Bool) -> HTML {
    let address = WebAddress.record(source, id, ServedQuery.plain)
    return """
      <td\(attribute: "class", isNumeric ? "number" : nil) dir="auto">\
      <a href="\(address)">\(HTML.opaque(id) ?? "\(id.safeLine)")</a></td>
      """
  }

  /// - Parameter style: `nil` for a column of texts.
  private func cell(_ value: SQLValue, _ style: NumberStyle?) -> HTML {
    let text = value == .null ? "" : value.json.cell
    let shown = style?.text(of: value.json) ?? text.oneLine(atMost: 200).safeLine
    // The script sorts and draws the exact number.
    let exact = style != nil && shown != text ? text : nil
    let types: [String] = (style == nil ? [] : ["number"]) + (value == .null ? ["null"] : [])
    let content = HTML.external(text) ?? HTML.opaque(shown) ?? "\(value == .null ? "NULL" : shown)"
    return """
      <td\(attribute: "class", types.isEmpty ? nil : types.joined(separator: " "))\
      \(attribute: "data-value", exact)\(attribute: "title", exact) dir="auto">\(content)</td>
      """
  }
}

/// The way in which all numbers of a column are written.
private struct NumberStyle {
  private let column: String

  /// As many as one of the numbers needs; of quotients at most four, or four significant digits of numbers that are all
  /// smaller than one.
  private let decimals: Int

  init(of numbers: [JSON], in column: String) {
    self.column = column
    let fractions: [Double] = numbers.compactMap {
      if case .number(let number) = $0, number.isFinite, number != number.rounded() {
        abs(number)
      } else {
        nil
      }
    }
    let most = min(15, max(4, 3 - Int(log10(fractions.max() ?? 1).rounded(.down))))
    let needed = numbers.map { $0.decimals(atMost: 15) }.max() ?? 0
    let isStored = needed <= FieldSample.maxDecimals
    decimals = isStored ? needed : numbers.map { $0.decimals(atMost: most) }.max() ?? 0
  }

  /// `nil` for a number that is written as it is.
  func text(of value: JSON) -> String? {
    value.written(in: column, decimals: decimals)
  }
}

/// The columns of a source's table, and the filters of its list in SQL, which select the same records.
private struct SQLColumns {
  let kinds: [String: FieldKind]
  /// The columns of Booleans, which SQLite has as 1 and 0.
  private let booleans: Set<String>
  private let hasMatches: Bool

  init(of content: SourceContent, hasMatches: Bool) {
    let fields = content.source.fields
    kinds = Dictionary(
      fields.map { field in
        let kind = FieldKind(rawValue: field.kind) ?? .any
        guard kind == .any else { return (field.id, kind) }
        // PostgreSQL has any value as a text; what was read after a sync is in the sample at best.
        return switch (content.observedKinds[field.id], content.sample.kinds[field.id]) {
        case ([.text]?, .text?), ([.text]?, .date?): (field.id, .text)
        case ([.number]?, .number?) where hasMatches: (field.id, .number)
        case ([.boolean]?, .bool?) where hasMatches: (field.id, .bool)
        default: (field.id, .any)
        }
      }
    ) { $1 }
    booleans = Set(
      fields.map(\.id).filter { [kinds] name in
        kinds[name] == .bool || content.sample.kinds[name] == .bool
      })
    self.hasMatches = hasMatches
  }

  /// `nil` if SQL cannot say the same of these columns.
  func sql(_ filter: TypedFilter) -> String? {
    func joined(_ parts: [TypedFilter], by joint: String) -> String? {
      let texts = parts.compactMap(sql)
      return texts.count == parts.count ? "(\(texts.joined(separator: " \(joint) ")))" : nil
    }
    return switch filter {
    case .condition(let condition): sql(condition)
    case .not(let filter): sql(filter).map { "(\($0)) IS NOT TRUE" }
    case .all(let parts): joined(parts, by: "AND")
    case .any(let parts): joined(parts, by: "OR")
    }
  }

  private func sql(_ condition: TypedCondition) -> String? {
    guard let kind = kinds[condition.field] else { return nil }
    if let plain = condition.plainSQL(of: kind) { return plain }
    let test = condition.quotedTest.trimmed
    guard hasMatches, test.unicodeScalars.count <= ValueCondition.maxLength else { return nil }
    switch condition.test {
    // The text of 1 is not `true`.
    case .compare(.contains, _), .pattern:
      guard !booleans.contains(condition.field) else { return nil }
    case .compare, .oneOf, .range: break
    }
    return "matches(\(condition.field.sqlSpelling), \(test.sqlText))"
  }
}
