import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// What a list is narrowed and sorted by, and how it can be.

extension HTMLRenderer {
  /// The filters of a list in words, each with a link that removes it.
  func chips(_ content: SourceContent) -> HTML? {
    let filters = Self.filters(of: content.query)
    guard !filters.isEmpty else { return nil }
    let chips = filters.enumerated().map { index, filter -> HTML in
      var rest = filters.map(\.quoted)
      rest.remove(at: index)
      let words = filter.words { label(of: $0, content) }.safeLine
      return """
        <li><a class="chip" href="\(narrowed(content) { $0.conditions = rest })">\
        <span class="visually-hidden">Remove: </span><bdi>\(words)</bdi>\(Icon.close.html)</a></li>
        """
    }
    let clear: HTML? =
      filters.count > 1
      ? #"<li><a class="chip clear" href="\#(narrowed(content) { $0.conditions = [] })">Clear</a></li>"#
      : nil
    return #"<ul class="chips" aria-label="Filters">\#(chips)\#(clear)</ul>"#
  }

  /// The filters that must all hold, each for itself; none of texts that are no filters.
  static func filters(of query: ServedQuery) -> [TypedFilter] {
    query.conditions.flatMap { (try? TypedFilter($0).conjuncts) ?? [] }
  }

  /// What the list is narrowed by and in which order it is, as the end of a sentence; `nil` for neither.
  func selectionWords(_ content: SourceContent) -> String? {
    let filters = Self.filters(of: content.query)
    let conditions = filters.map { filter in
      let words = filter.words { label(of: $0, content).lowercasedFirst }
      return if case .any = filter, filters.count > 1 { "(\(words))" } else { words }
    }
    let order = content.query.order.map { text in
      let keys = text.split(separator: ",").map { key in
        let isDescending = key.hasPrefix("-")
        let name = String(isDescending ? key.dropFirst() : key)
        let shown = (try? content.list?.get())?.columns ?? []
        let isNumber = (shown + content.source.fields).first { $0.id == name }?.isNumeric == true
        let direction =
          isNumber
          ? (isDescending ? ", highest first" : ", lowest first")
          : (isDescending ? ", descending" : "")
        return label(of: name, content).lowercasedFirst + direction
      }
      return "sorted by \(keys.joined(separator: ", then by "))"
    }
    let filter = conditions.isEmpty ? nil : "where \(conditions.joined(separator: " and "))"
    let parts = [filter, order].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private func label(of field: String, _ content: SourceContent) -> String {
    (content.source.fields.first { $0.id == field }?.label ?? field).fieldLabel
  }

  /// The address of the list from its beginning, with a change.
  func narrowed(_ content: SourceContent, _ change: (inout ServedQuery) -> Void) -> String {
    var query = content.query.forLinks
    (query.cursor, query.offset) = (nil, nil)
    change(&query)
    if query.cache == .live { query.cache = .normal }
    return WebAddress.list(content.source.name, query)
  }

  /// The form of a condition, and the values that the records have.
  func filters(_ content: SourceContent) -> HTML? {
    guard content.query.showsFilters, content.source.hasStore else { return nil }
    let operators = [
      ("=", "is"), ("!=", "is not"), ("~", "contains"), (">=", "is at least"), ("<=", "is at most"),
      ("empty", "is empty"),
    ]
    return """
      <section class="filters" aria-label="Filter">
      <form action="\(WebAddress.list(content.source.name, ServedQuery()))" method="get">
      \(hiddenFields(content.query.forLinks))
      <select name="field" aria-label="Field">\(content.source.fields.map {
        #"<option value="\#($0.id)">\#($0.label.fieldLabel)</option>"#
      })</select>
      <select name="operator" aria-label="Comparison">\(operators.map {
        #"<option value="\#($0.0)">\#($0.1)</option>"#
      })</select>
      <input name="value" aria-label="Value" autocomplete="off" dir="auto">
      <button type="submit" class="button">Add filter</button>
      </form>
      \(content.facets.isEmpty ? nil : #"<div class="facets" tabindex="0" role="group" aria-label="Values">\#(content.facets.map { facet($0, content) })</div>"#)
      </section>
      """
  }

  private func facet(_ facet: Facet, _ content: SourceContent) -> HTML {
    let most = facet.values.map(\.count).max() ?? 1
    func item(
      _ value: HTML, _ count: Int, _ condition: String, label: String = "", isBar: Bool = true
    ) -> HTML {
      let address = narrowed(content) { $0.conditions.append(condition) }
      // In hundredths of the largest one.
      let length = isBar && count > 0 ? max(3, (count * 100 + most - 1) / max(1, most)) : 0
      let bar: HTML =
        facet.isRange
        ? #"<rect y="\#(100 - length)" width="100" height="\#(length)"/>"#
        : #"<rect width="\#(length)" height="100"/>"#
      return """
        <li><a href="\(address)"\(attribute: "title", facet.isRange ? "\(label): \(count.grouped)" : nil)><bdi>\(value)</bdi> <span class="number">\(count.grouped)</span>\
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">\(bar)</svg></a></li>
        """
    }
    let values = facet.values.map {
      item("\($0.text.safeLine)", $0.count, $0.condition, label: $0.text.safeLine)
    }
    let missing: HTML? =
      facet.missing > 0
      ? #"<ul>\#(item("<i>empty</i>", facet.missing, "\(facet.field)=", isBar: false))</ul>"# : nil
    let others: HTML? =
      facet.others > 0
      ? #"<p class="rest">\#(facet.others.grouped) more \#(facet.others == 1 ? "value" : "values")</p>"#
      : nil
    let ends: HTML? =
      facet.isRange
      ? """
      <p class="ends" aria-hidden="true"><bdi>\(facet.values.first?.text.safeLine ?? "")</bdi>\
      <bdi>\(facet.values.last?.text.safeLine ?? "")</bdi></p>
      """ : nil
    return """
      <section><h2>\(facet.label.fieldLabel)</h2>
      <ul\(attribute: "class", facet.isRange ? "range" : nil)>\(values)</ul>\(ends)\(others)\(missing)</section>
      """
  }
}

extension String {
  /// The name of a member as people write it: `Created at` of `created_at`.
  var fieldLabel: String {
    let words = safeLine.split { $0 == "_" || $0 == "." }
    return words.joined(separator: " ").capitalizedFirst
  }
}

extension FieldEntry {
  var isNumeric: Bool { ["integer", "number"].contains(kind) }
}

extension Int {
  /// `20,000`.
  var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }
}
