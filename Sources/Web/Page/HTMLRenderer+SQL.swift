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

  /// The names of the parameters of the query, at most a hundred.
  var parameters: [String] { Array(SQLStatement(text ?? "").parameterNames.prefix(100)) }

  /// The first parameter without a value, if the query failed: it is typed next.
  var missingParameter: String? {
    answer?.failure == nil ? nil : parameters.first { values[$0, default: ""].isEmpty }
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
      Nothing can be changed.</p>\
      </div></div>
      <div class="query">
      <form id="sql-form" action="\(RoutePath(PagePath.sql).text)" method="get">
      <label for="sql">Query</label>
      <div class="editor"><textarea id="sql" name="sql" rows="5" required spellcheck="false" \
      autocomplete="off" autocapitalize="off" autocorrect="off"\
      \(attribute: "autofocus", content.missingParameter == nil ? "" : nil)\
      \(attribute: "aria-describedby", content.answer == nil ? nil : "outcome")\
      \(attribute: "aria-invalid", isFailure ? "true" : nil)>
      \(text)</textarea></div>
      \(parameters(of: content))
      <div class="actions"><button type="submit" class="button primary">Run</button>
      <details class="menu" id="saved" hidden><summary class="button">Saved queries</summary>
      <div class="panel"></div></details>
      <span class="keys" hidden><kbd>Ctrl</kbd> <kbd>Enter</kbd> runs, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes</span></div>
      </form>
      \(content.answer.map { result($0, of: content) })
      \(tables(content.tables))
      </div>
      </div>
      """
    ).text
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

  /// The query that shows a table.
  static func query(
    of table: String, selecting columns: [String] = [], where condition: String? = nil,
    order: String? = nil
  ) -> String {
    let names = columns.map(\.sqlSpelling).joined(separator: ", ")
    return "SELECT \(columns.isEmpty ? "*" : names) FROM \(table.sqlSpelling)"
      + "\(condition.map { " WHERE \($0)" } ?? "")\(order.map { " ORDER BY \($0)" } ?? "") LIMIT 100"
  }

  /// The query that shows the table of a list, with the columns that were chosen, in its order.
  static func query(of content: SourceContent) -> String {
    let columns = Set(content.source.fields.map(\.id))
    let keys = (content.query.order ?? "").split(separator: ",").map { key in
      let isDescending = key.hasPrefix("-")
      return (name: String(isDescending ? key.dropFirst() : key), isDescending: isDescending)
    }
    let isStored = !keys.isEmpty && keys.allSatisfy { columns.contains($0.name) }
    let order = keys.map { $0.name.sqlSpelling + ($0.isDescending ? " DESC" : "") }
    let conditions = filters(of: content.query).joined().compactMap { $0.sql(in: columns) }
    return query(
      of: content.source.name,
      selecting: (content.query.chosenFields ?? []).filter(columns.contains),
      where: conditions.isEmpty ? nil : conditions.joined(separator: " AND "),
      order: isStored ? order.joined(separator: ", ") : nil)
  }

  private func tables(_ tables: [ServedTable]) -> HTML {
    """
    <section class="schemas" aria-labelledby="tables" tabindex="0"><h2 id="tables">\(tables.count) table\(tables.count == 1 ? "" : "s")</h2>
    \(tables.map { table in
      """
      <div class="schema-table"><h3><code data-name="\(table.name.sqlSpelling)">\(table.name.safeLine)</code></h3>
      <p>\(table.count.map { "\($0.grouped) row\($0 == 1 ? "" : "s") · " })\
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

  private func result(_ answer: Result<SQLAnswer, Problem>, of content: SQLContent) -> HTML {
    switch answer {
    case .success(let answer):
      return """
        <section id="result" aria-label="Result">
        <div class="bar"><p class="count" id="outcome">\(count(answer))</p>\(downloads(content.boundText))</div>
        \(answer.notes.map { #"<p class="note" dir="auto">\#($0.sentence)</p>"# })
        <div id="chart" data-land="\(Asset.land.address)"\
        \(attribute: "data-sql", answer.hasMore ? content.boundText : nil) hidden></div>
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
        })</div></div>
        </section>
        """
    }
  }

  private static let moreRows: HTML = """
    <p class="note">There are more rows. Narrow the query, or take all of them as CSV or JSON from Data.</p>
    """

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
    return """
      <details class="menu data"><summary class="button">Data</summary>
      <div class="panel">\([("csv", "CSV"), ("json", "JSON"), ("ndjson", "NDJSON")].map { format, label in
        guard isShort else {
          return """
            <form method="post" action="\(WebAddress.api(sqlAs: format))">\(hidden("sql", text))\
            <button type="submit" class="link">All rows as \(label)</button></form>
            """
        }
        let address = WebAddress.api(sql: text, format: format)
        return #"<p><a href="\#(address)" download="result.\#(format)">All rows as \#(label)</a></p>"# as HTML
      })
      \(isShort ? """
        <p><button type="button" class="button" data-copy="\(WebAddress.api(sql: text))" data-as="url" hidden>Copy the API’s address</button></p>
        """ : nil)
      <p><button type="button" class="button" data-copy="\(command)" hidden>Copy the command</button></p>
      <p class="command"><code>\(command)</code></p></div></details>
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
    let content: HTML =
      if shown == text, let address = text.webAddress {
        """
        <a href="\(address)" rel="noopener noreferrer external" referrerpolicy="no-referrer">\(shown)</a>
        """
      } else {
        HTML.opaque(shown) ?? "\(value == .null ? "NULL" : shown)"
      }
    return """
      <td\(attribute: "class", types.isEmpty ? nil : types.joined(separator: " "))\
      \(attribute: "data-value", exact)\(attribute: "title", exact) dir="auto">\(content)</td>
      """
  }
}

/// The way in which all numbers of a column are written.
private struct NumberStyle {
  private let column: String
  private let mayBeYear: Bool

  /// As many as one of the numbers needs: at most four, or four significant digits of numbers that are all smaller than one.
  private let decimals: Int

  init(of numbers: [JSON], in column: String) {
    self.column = column
    mayBeYear = !numbers.contains { $0.isYear == false }
    let fractions: [Double] = numbers.compactMap {
      if case .number(let number) = $0, number.isFinite, number != number.rounded() {
        abs(number)
      } else {
        nil
      }
    }
    let most = min(15, max(4, 3 - Int(log10(fractions.max() ?? 1).rounded(.down))))
    decimals = numbers.map { $0.decimals(atMost: most) }.max() ?? 0
  }

  /// `nil` for a number that is written as it is.
  func text(of value: JSON) -> String? {
    value.written(in: column, mayBeYear: mayBeYear, decimals: decimals)
  }
}

extension TypedFilter {
  /// Nearly the same in SQL, where texts are compared as they are; `nil` if SQL cannot say it of these columns.
  func sql(in columns: Set<String>) -> String? {
    func joined(_ parts: [TypedFilter], by joint: String) -> String? {
      let texts = parts.compactMap { $0.sql(in: columns) }
      return texts.count == parts.count ? "(\(texts.joined(separator: " \(joint) ")))" : nil
    }
    return switch self {
    case .condition(let condition):
      columns.contains(condition.field) ? condition.sql(of: condition.field.sqlSpelling) : nil
    case .not(let filter): filter.sql(in: columns).map { "(\($0)) IS NOT TRUE" }
    case .all(let parts): joined(parts, by: "AND")
    case .any(let parts): joined(parts, by: "OR")
    }
  }
}

extension TypedCondition {
  /// - Parameter column: The name of the column, in quotes if it needs them.
  fileprivate func sql(of column: String) -> String? {
    switch test {
    case .compare(.equal, ""): return "(\(column) IS NULL OR \(column) = '')"
    case .compare(_, ""): return "\(column) IS NOT NULL"
    case .compare(.contains, let value):
      let pattern = value.replacing(/[\\%_]/) { "\\\($0.output)" }
      return "lower(\(column)) LIKE \("%\(pattern.lowercased())%".sqlText) ESCAPE '\\'"
    case .compare(let comparison, let value):
      return "\(column) \(comparison.rawValue) \(Self.literal(value))"
    case .oneOf(let values):
      let literals = values.filter { !$0.isEmpty }.map(Self.literal)
      let isOne = literals.isEmpty ? nil : "\(column) IN (\(literals.joined(separator: ", ")))"
      guard literals.count < values.count else { return isOne }
      return "(\(isOne.map { "\($0) OR " } ?? "")\(column) IS NULL OR \(column) = '')"
    case .range(let low, let high):
      return "\(column) BETWEEN \(Self.literal(low)) AND \(Self.literal(high))"
    case .pattern: return nil
    }
  }

  private static func literal(_ value: String) -> String {
    value.wholeMatch(of: /-?[0-9]{1,15}(\.[0-9]{1,15})?/) != nil ? value : value.sqlText
  }
}
