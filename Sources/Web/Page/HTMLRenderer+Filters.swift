import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

// The filters and the order of a list, and those that it can have.

extension HTMLRenderer {
  /// The filters of a list in words, each with a link that changes it and one that removes it.
  func chips(_ content: SourceContent) -> HTML? {
    let filters = Self.filters(of: content.query)
    guard !filters.isEmpty else { return nil }
    let chips = filters.enumerated().map { index, filter -> HTML in
      var rest = filters
      rest.remove(at: index)
      let conditions = rest.map(\.condition)
      let wording = wording(content) { $0 }
      let words = Self.words(of: filter, in: wording, between: "").safeLine
      let title = filter.condition.safeLine
      let change = narrowed(content) { $0.showsFilters = true }
      return """
        <li class="chip" title="\(title)" data-where="\(filter.condition)"><a href="\(change)&#38;edit=\(index)"><bdi>\(words)</bdi></a><a class="remove" href="\(narrowed(content) { $0.conditions = conditions })" \
        aria-label="Remove: \(words)">\(Icon.close.html)</a></li>
        """
    }
    let clear: HTML? =
      filters.count > 1
      ? #"<li><a class="chip clear" href="\#(narrowed(content) { $0.conditions = [] })">Remove all filters</a></li>"#
      : nil
    return #"<ul class="chips" aria-label="Filters">\#(chips)\#(clear)</ul>"#
  }

  /// The filters that must all hold, but the bounds of a range together; none of texts that are no filters.
  static func filters(of query: ServedQuery) -> [[TypedFilter]] {
    var rest = query.conditions.flatMap { (try? TypedFilter($0).conjuncts) ?? [] }
    var filters: [[TypedFilter]] = []
    while let first = rest.first {
      rest.removeFirst()
      let other = rest.firstIndex { first.isLowerBound(with: $0) || $0.isLowerBound(with: first) }
      guard let bound = other.map({ rest.remove(at: $0) }) else {
        filters.append([first])
        continue
      }
      filters.append(first.isLowerBound(with: bound) ? [first, bound] : [bound, first])
    }
    return filters
  }

  /// A filter as `price is at least 10`; `verb` is that of a range, `price is 10–20`.
  private static func words(
    of filter: [TypedFilter], in wording: FilterWording, between verb: String
  ) -> String {
    guard filter.count == 2, let lower = filter[0].conditions.first,
      let upper = filter[1].conditions.first
    else { return filter[0].words(in: wording) }
    return "\(wording.label(lower.field))\(verb) \(lower.range(to: upper, in: wording))"
  }

  private func wording(
    _ content: SourceContent, _ change: @escaping (String) -> String
  ) -> FilterWording {
    FilterWording(
      label: { change(label(of: $0, content)) }, value: { written($0, of: $1, content) },
      isDate: { content.sample.kinds[$0] == .date })
  }

  /// A filter as `Price is at least 10`.
  func words(of filter: TypedFilter, _ content: SourceContent) -> String {
    filter.words(in: wording(content) { $0 })
  }

  /// The value of a condition as people write it.
  private func written(_ text: String, of field: String, _ content: SourceContent) -> String {
    let value: JSON? =
      switch content.sample.kinds[field] {
      case .number: Int(text).map(JSON.integer) ?? Double(text).map(JSON.number)
      case .bool: ["true": true, "false": false][text]
      case .date: .string(text)
      case .text, .list, .any, nil: nil
      }
    return value.map { ($0.written(in: field) ?? text).withMinus } ?? text
  }

  /// The filters and the order of the list, as the end of a sentence; `nil` for neither.
  func selectionWords(_ content: SourceContent) -> String? {
    let filters = Self.filters(of: content.query)
    let wording = wording(content, \.lowercasedFirst)
    let conditions = filters.map { filter in
      let words = Self.words(of: filter, in: wording, between: " is")
      return if case .any = filter[0], filters.count > 1 { "(\(words))" } else { words }
    }
    let order = content.query.order.map { text in
      Self.words(ofOrder: text, label: { label(of: $0, content).lowercasedFirst }) {
        content.sample.orderKind(of: $0)
      }
    }
    let filter = conditions.isEmpty ? nil : "where \(conditions.joined(separator: " and "))"
    let parts = [filter, order].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// An order as `sorted by price, largest first`.
  static func words(
    ofOrder text: String, label: (String) -> String, kind: (String) -> ValueKind
  ) -> String {
    let keys = text.split(separator: ",").map { key in
      let isDescending = key.hasPrefix("-")
      let name = String(isDescending ? key.dropFirst() : key)
      let orders = kind(name).orders
      return "\(label(name)), \(isDescending ? orders.descending : orders.ascending)"
    }
    return "sorted by \(keys.joined(separator: ", then by "))"
  }

  private func label(of field: String, _ content: SourceContent) -> String {
    (content.source.fields.first { $0.id == field }?.label ?? field).fieldLabel
  }

  /// The address of the list from its beginning, with a change.
  ///
  /// - Parameter id: That of the record beside it; `nil` for the list alone.
  func narrowed(
    _ content: SourceContent, beside id: String? = nil, _ change: (inout ServedQuery) -> Void
  ) -> String {
    var query = content.query.forLinks
    (query.cursor, query.offset) = (nil, nil)
    change(&query)
    if query.cache == .live { query.cache = .normal }
    let name = content.source.name
    return id.map { WebAddress.record(name, $0, query) } ?? WebAddress.list(name, query)
  }

  /// The filters that have matches for words which no searched field has.
  func matchingFilters(_ content: SourceContent) -> [HTML] {
    guard let advice = (try? content.list?.get())?.advice else { return [] }
    let noun = content.source.noun
    return advice.filters.flatMap { facet in
      facet.values.map { value in
        let address = narrowed(content) { ($0.query, $0.conditions) = (nil, [value.condition]) }
        return """
          <a class="button primary" href="\(address)"><span><bdi>\(facet.label.fieldLabel) is \
          \(written(value.text, of: facet.field, content).safeLine)</bdi>: \
          \(value.count.grouped) \(noun.word(for: value.count))</span></a>
          """
      }
    }
  }

  /// The form of a condition, and the values that the records have.
  func filters(_ content: SourceContent) -> HTML? {
    guard content.query.showsFilters, content.source.hasStore else { return nil }
    let all = Self.filters(of: content.query)
    let form = content.edited.flatMap { index in
      all.indices.contains(index) ? FilterForm(all[index], content.sample.kinds) : nil
    }
    let edited = content.edited.flatMap { all.indices.contains($0) ? all[$0].condition : nil }
    var rest = content.query.forLinks
    if edited != nil, let index = content.edited {
      rest.conditions = all.enumerated().filter { $0.offset != index }.map(\.element.condition)
    }
    /// Fields that people filter by come first: those of few values, then dates and numbers; measures, IDs and codes come last.
    func rank(_ field: FieldEntry) -> Int {
      if content.facets.contains(where: {
        $0.field == field.id && !$0.isRange && !$0.isNearlyUnique
          && ($0.different != 1 || !$0.isUniform)
      }) {
        return 0
      }
      if field.id.namesCodes || field.id.namesMeasures { return 4 }
      return [ValueKind.date: 1, .number: 2][content.sample.kinds[field.id] ?? .any] ?? 3
    }
    let ranked = (0...4).flatMap { number in content.source.fields.filter { rank($0) == number } }
    let fields = ranked.map { field -> HTML in
      let kind = content.sample.kinds[field.id] ?? .any
      return """
        <option value="\(field.id)" data-kind="\(kind.rawValue)"\
        \(attribute: "selected", form?.field == field.id ? "" : nil)\
        \(attribute: "data-choices", choices(of: field.id, kind, content))>\(field.label.fieldLabel)</option>
        """
    }
    // The script leaves those that fit the field.
    let comparisons = FilterForm.comparisons.map { name, words, kinds -> HTML in
      """
      <option value="\(name)" data-kinds="\(kinds.map(\.rawValue).joined(separator: " "))"\
      \(attribute: "selected", form?.comparison == name ? "" : nil)>\(words)</option>
      """
    }
    return """
      <section class="filters" aria-label="Filter">
      <form action="\(WebAddress.list(content.source.name, ServedQuery.plain))" method="get">
      \(hiddenFields(rest))
      <select name="field" aria-label="Field">\(fields)</select>
      <select name="operator" aria-label="Comparison"\(attribute: "autofocus", form.map { _ in "" })>\(comparisons)</select>
      <input name="value" value="\(form?.value ?? "")" aria-label="Value" autocomplete="off" dir="auto">
      <select name="value" aria-label="Value" hidden disabled></select>
      <div class="choices" role="group" aria-label="Values" hidden></div>
      <input name="to" value="\(form?.end ?? "")" aria-label="End of the range" autocomplete="off" placeholder="to">
      <button type="submit" class="button">\(form == nil ? "Add" : "Change") filter</button>
      </form>
      \(typedFilter(form == nil ? edited : nil, rest, content))
      \(facets(content))
      \(toRecords(content))
      </section>
      """
  }

  /// The way from the filters to the records, which are below them on small screens.
  private func toRecords(_ content: SourceContent) -> HTML? {
    guard let page = try? content.list?.get(), !page.records.isEmpty else { return nil }
    let total = page.summary.total ?? content.cachedCount
    let noun = content.source.noun
    return """
      <a class="button primary" href="#records">Show \(total.map { "\($0.grouped) " })\(noun.word(for: total ?? 2))</a>
      """
  }

  /// The field for a filter as `--where` takes it, which can say more than the form.
  ///
  /// - Parameter text: The filter to be changed; `nil` for a new one.
  func typedFilter(_ text: String?, _ rest: ServedQuery, _ content: SourceContent) -> HTML {
    """
    <form class="save" action="\(WebAddress.list(content.source.name, ServedQuery.plain))" method="get">
    \(hiddenFields(rest))
    <input name="where" value="\(text ?? "")" aria-label="Filter as text" required autocomplete="off" spellcheck="false" \
    placeholder="\(exampleFilter(content))"\(attribute: "autofocus", text.map { _ in "" }) dir="auto">
    <button type="submit" class="button">Apply</button>
    </form>
    """
  }

  /// The filters that do not work, to be corrected, above the list that the others select.
  func wrongFilters(_ content: SourceContent) -> HTML? {
    guard let wrong = content.wrong else { return nil }
    let typed =
      wrong.filters.count == 1
      ? wrong.filters[0] : wrong.filters.map { "(\($0))" }.joined(separator: " and ")
    let near = nearFilter(typed, content)
    let hint = near == nil ? wrong.problem.hint.map { " \($0.sentence)" } ?? "" : ""
    let (subject, rest) =
      wrong.filters.count == 1
      ? ("This filter does not work", "it") : ("These filters do not work", "them")
    return """
      <div class="failure">\(Icon.warning.html)<div>\
      <p>\(subject), so the list is shown without \(rest).</p><p dir="auto">\(wrong.problem.message.sentence)\(hint)</p>
      \(typedFilter(typed, content.query.forLinks, content))
      <div class="actions">\(near)<a class="button" href="\(narrowed(content) { _ in })">Remove \(rest)</a></div></div></div>
      """
  }

  /// The way to the list with the nearest field in the place of one that the source does not have.
  private func nearFilter(_ typed: String, _ content: SourceContent) -> HTML? {
    let names = content.source.fields.map(\.id)
    guard let filter = try? TypedFilter(typed),
      let unknown = filter.conditions.map(\.field).first(where: { !names.contains($0) }),
      let near = nearest(to: unknown, in: names)
    else { return nil }
    let meant = filter.mapConditions { condition in
      condition.field == unknown ? TypedCondition(near, condition.test) : condition
    }
    return """
      <a class="button primary" href="\(narrowed(content) { $0.conditions.append(meant.quoted) })">\
      <span>Did you mean “<bdi>\(words(of: meant, content).safeLine)</bdi>”?</span></a>
      """
  }

  /// A filter with fields and values that the records have, which is no longer than its field is wide.
  private func exampleFilter(_ content: SourceContent) -> String {
    let value = content.facets.lazy.filter { !$0.isRange && !$0.isNearlyUnique }.compactMap {
      facet in
      facet.values.first { $0.text.allSatisfy { $0.isLetter || $0.isNumber } }
        .map { "\(facet.field.asField) = \($0.text)" }
    }.first
    let number = content.source.fields.first {
      content.sample.kinds[$0.id] == .number && !$0.id.namesCodes
    }.map { "\($0.id.asField) > 20" }
    let both = [number, value].compactMap(\.self)
    let examples = [both.joined(separator: " or "), value, number].compactMap(\.self)
    return examples.first { 1...26 ~= $0.count }
      ?? content.source.fields.first.map { "\($0.id.asField) = …" } ?? ""
  }

  /// The most values without an order that are all shown.
  private static let maxShown = 7

  /// The values of the first fields, and of the others on demand.
  ///
  /// Texts whose values are all shown come first, then numbers and dates, then texts of more values, each in the order
  /// of the columns; measures and codes come last. Half of the first fields are numbers and dates, if there are as many. All
  /// records decide the order, so that a filter moves no field.
  private func facets(_ content: SourceContent) -> HTML? {
    func rank(_ facet: Facet) -> Int {
      if facet.isNearlyUnique { return 5 }
      if facet.field.namesCodes || facet.field.namesMeasures { return 4 }
      guard !facet.isRange, content.sample.kinds[facet.field] != .number else { return 1 }
      return facet.different <= Self.maxShown ? 0 : facet.different <= 30 ? 2 : 3
    }
    let filtered = Set(Self.filters(of: content.query).joined().flatMap(\.conditions).map(\.field))
    // Where nothing matches, the fields stay where they are, with what can be chosen instead.
    let page = try? content.list?.get()
    let hasMatches = page?.records.isEmpty != true
    // Nobody chooses from web addresses, nor from a value that all records have.
    let useful = content.facets.filter { facet in
      let isIdle =
        hasMatches ? facet.different > 0 || facet.values.isEmpty : facet.different < 2
      if facet.isUniform, isIdle { return facet.isOfLists && filtered.contains(facet.field) }
      return facet.isRange || facet.values.isEmpty
        || facet.values.contains { $0.text.webAddress == nil }
    }
    let ranked = (0...5).flatMap { number in useful.filter { rank($0) == number } }
    let usable = ranked.prefix { !$0.isNearlyUnique }
    // A single one is not worth a click.
    let room = usable.count == 7 ? 7 : 6
    let numbers = usable.count { rank($0) == 1 }
    let few = usable.filter { rank($0) == 0 }.prefix(room - min(numbers, room / 2))
    let shown = Set((few + usable.filter { rank($0) > 0 }).prefix(room).map(\.field))
    let first = ranked.filter { shown.contains($0.field) }
    let others = ranked.filter { !shown.contains($0.field) }
    func group(_ facets: [Facet], _ label: String) -> HTML {
      """
      <div class="facets" role="group" aria-label="\(label)">\(facets.map { facet($0, content) })</div>
      """
    }
    let isNarrowed = others.contains { filtered.contains($0.field) }
    let isShown = isNarrowed || content.query.showsAllFilters
    let more: HTML? =
      others.isEmpty || isNarrowed
      ? nil
      : """
      <a class="filter" href="\(narrowed(content) { $0.showsAllFilters.toggle() })" \
      aria-expanded="\(isShown ? "true" : "false")">\(isShown ? "Fewer fields" : others.count.of("more field"))</a>
      """
    // A list that is narrowed or sorted says so itself.
    let said = page?.summary.warnings.map(\.warning) ?? []
    let gap = content.local?.warnings.first?.warning
    let fetched = content.local?.provenance?.fetchedAt
    var note: HTML?
    if let gap {
      note = said.contains(gap) ? nil : #"<p class="note">\#(gap.message.sentence)</p>"#
    } else if page?.summary.provenance?.origin == .live, let fetched {
      // The list may be newer.
      note =
        #"<p\#(attribute: "data-age", ages([fetched], at: now)) class="note">Counts of the records cached, fetched \#(fetched.age(at: now))</p>"#
    }
    return """
      \(useful.isEmpty ? nil : note)\
      \(first.isEmpty ? nil : group(first, "Values"))
      \(isShown ? nil : more)\(isShown && !others.isEmpty ? group(others, "More values") : nil)\(isShown ? more : nil)
      """
  }

  /// The words for a value, or a range of numbers.
  private func words(of value: Facet.Value, _ facet: Facet, _ content: SourceContent) -> String {
    guard facet.isRange, value.text.writtenDate == nil else {
      return written(value.text, of: facet.field, content)
    }
    return value.text.replacing(/-?[0-9]+(\.[0-9]+)?(?![0-9-])/) {
      written(String($0.output.0), of: facet.field, content)
    }
  }

  /// The least and the largest number, or the bounds of other ranges: `2010` and `2019` of `2010 to 2012` … `2016 to 2019`;
  /// a range without a bound as it is, with what it ends with, such as `160 or more (up to 997)`.
  private func ends(of facet: Facet, _ content: SourceContent) -> [String] {
    guard let first = facet.values.first, let last = facet.values.last else { return [] }
    let words = [
      words(of: first, facet, content).replacing(#/ to .*/#, with: ""),
      words(of: last, facet, content).replacing(/.* to (under )?/, with: ""),
    ]
    // A range without a bound is no wider than the others, wherever its numbers end.
    let ends = facet.ends.map { written($0, of: facet.field, content) }
    return zip(words, zip(["from", "up to"], ends + words)).map { words, end in
      words.contains(" ") ? ends.isEmpty ? words : "\(words) (\(end.0) \(end.1))" : end.1
    }
  }

  /// The values of a field whose values are all known, each with its words, as JSON; `nil` for any other.
  private func choices(
    of field: String, _ kind: ValueKind, _ content: SourceContent
  ) -> String? {
    let facet = content.facets.first {
      $0.field == field && !$0.isRange && $0.omitted == 0 && ($0.different == 0 || !$0.isUniform)
    }
    let known = facet.map { $0.ordered?.map(\.text) ?? $0.values.map(\.text).sortedAsNames } ?? []
    let values = kind == .bool ? ["true", "false"] : known
    guard !values.isEmpty else { return nil }
    return JSON.array(
      values.map { .array([.string($0), .string(written($0, of: field, content).safeLine)]) }
    ).text
  }

  private func facet(_ facet: Facet, _ content: SourceContent) -> HTML {
    let choice = FacetChoice(facet, in: content.query)
    // Few of many, so that the list stays in sight; where a rare value is chosen, all are shown, so that none moves.
    let ordered = facet.isRange ? nil : facet.ordered
    let values = ordered ?? facet.values
    let isShort = facet.isRange || values.count <= (ordered == nil ? Self.maxShown : 12)
    let hidden = isShort ? [] : values.dropFirst(5)
    func items(_ values: some Sequence<Facet.Value>) -> [HTML] {
      values.map { item($0, choice, content) }
    }
    let missing: HTML? =
      facet.missing > 0 ? "<ul>\(item(facet.empty, choice, content, isEmpty: true))</ul>" : nil
    let all = narrowed(content) { $0.conditions = choice.rest }
    let whole: HTML? =
      facet.isDivided ? #"<ul><li><a href="\#(all)"><bdi>Whole range</bdi></a></li></ul>"# : nil
    let omitted: HTML? =
      facet.omitted > 0
      ? #"<p class="note">and \#(facet.omitted.of("rarer value"))</p>"# : nil
    let others: HTML? =
      hidden.isEmpty
      ? nil
      : """
      <details\(attribute: "open", hidden.contains(where: choice.isChosen) ? "" : nil)>\
      <summary>\((hidden.count + facet.omitted).of("more value"))</summary>\
      <ul>\(items(hidden))</ul>\(omitted)</details>
      """
    let ends: HTML? =
      facet.isRange
      ? """
      <p class="ends" aria-hidden="true">\(ends(of: facet, content).map {
        "<bdi>\($0.safeLine)</bdi>" as HTML
      })</p>
      """ : nil
    let none: HTML? =
      facet.values.isEmpty && facet.missing == 0 ? #"<p class="ends">No matches</p>"# : nil
    return """
      <section><details open><summary><h2>\(facet.label.fieldLabel)</h2>\
      \(state(of: choice, content).map { " <span>\($0)</span>" as HTML })</summary>
      <ul\(attribute: "class", facet.isRange ? "range" : nil)\(attribute: "data-href", facet.isRange ? all : nil)>\
      \(items(values.prefix(values.count - hidden.count)))</ul>\(none)\(ends)\(others)\(missing)\(whole)</details></section>
      """
  }

  /// The summary of a folded field: its filter, or else the number or the range of its values; `nil` if it has neither.
  private func state(of choice: FacetChoice, _ content: SourceContent) -> String? {
    let facet = choice.facet
    guard choice.own.isEmpty else {
      let wording = wording(content) { _ in "" }
      return choice.own.map { $0.words(in: wording).trimmingPrefix(" ") }
        .joined(separator: " and ").safeLine
    }
    guard facet.isRange else { return (facet.values.count + facet.omitted).of("value") }
    // Beside no bars, the bounds of these say nothing.
    let known = facet.ends.map { written($0, of: facet.field, content) }
    let ends = known.isEmpty ? ends(of: facet, content) : known
    return ends.isEmpty ? nil : ends.joined(separator: " – ").safeLine
  }

  /// A value with its number of records, which leads to the list that is narrowed by it, or by it no longer.
  private func item(
    _ value: Facet.Value, _ choice: FacetChoice, _ content: SourceContent, isEmpty: Bool = false
  ) -> HTML {
    let facet = choice.facet
    let part = choice.bounds(of: value).flatMap { bounds in
      bounds == FacetChoice.whole(value) ? nil : bounds.condition
    }
    // A bar that a filter cuts is called by what it holds.
    let text =
      (part.flatMap { try? TypedFilter($0).conjuncts }.map { bounds in
        Self.words(of: bounds, in: wording(content) { _ in "" }, between: "")
          .replacing(/^ (is )?/, with: "")
      } ?? words(of: value, facet, content)).safeLine
    let label = facet.isRange ? "\(text): \(value.count.grouped)" : value.text.safeLine
    let (isOn, isOut) = (choice.isChosen(value), choice.excluded.contains(value.text))
    let address = narrowed(content) {
      $0.conditions = choice.rest + [choice.condition(toggling: value)].compactMap(\.self)
    }
    // In hundredths of the largest one.
    let length =
      value.count == 0
      ? 0 : min(100, max(3, (value.count * 100 + choice.most - 1) / max(1, choice.most)))
    let bar: HTML =
      facet.isRange && !isEmpty
      ? #"<rect y="\#(100 - length)" width="100" height="\#(length)"\#(attribute: "fill-opacity", isOn || facet.isDivided || choice.own.isEmpty ? nil : ".4")/>"#
      : #"<rect width="\#(length)" height="100"/>"#
    // The script makes the range from one to another.
    let bounds = choice.bounds(of: value)
    let shown: HTML = isEmpty ? "<i>empty</i>" : "\(text)"
    return """
      <li><a href="\(address)"\(attribute: "title", isOut ? "\(isEmpty ? "empty" : label): excluded" : isEmpty ? nil : label)\(attribute: "aria-current", isOn ? "true" : nil)\
      \(attribute: "data-from", bounds?.lower?.condition)\(attribute: "data-to", bounds?.upper?.condition)\
      \(attribute: "draggable", bounds.map { _ in "false" })>\
      <bdi>\(isOut ? "<s>\(shown)</s>" : shown)</bdi> <span class="number">\(value.count.grouped)</span>\
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">\(bar)</svg></a></li>
      """
  }
}

/// The values of a field, and those of them that a list is narrowed by.
private struct FacetChoice {
  let facet: Facet
  /// The filters of this field alone; of lists those that ask for one value.
  let own: [TypedFilter]
  /// The other filters, as conditions.
  let rest: [String]
  /// The chosen values; an empty text stands for a missing one.
  private let chosen: [String]
  /// The values that a filter leaves out.
  let excluded: Set<String>
  /// The bounds of each range.
  private let bounds: [RangeBounds?]
  /// The indices of the ranges that the chosen one consists of; `nil` for any other filter.
  private let span: ClosedRange<Int>?
  /// The number of records of the most frequent value.
  let most: Int

  init(_ facet: Facet, in query: ServedQuery) {
    func isOwn(_ filter: TypedFilter) -> Bool {
      filter.conditions.allSatisfy { $0.field == facet.field }
        && (!facet.isOfLists || filter.equalValues.count == 1)
    }
    let filters = HTMLRenderer.filters(of: query)
    self.facet = facet
    own = filters.joined().filter(isOwn)
    rest = filters.filter { !$0.allSatisfy(isOwn) }.map(\.condition)
    chosen = facet.isRange ? [] : own.flatMap(\.equalValues)
    let excluding = filters.joined().filter { $0.conditions.allSatisfy { $0.field == facet.field } }
    excluded = facet.isRange ? [] : Set(excluding.flatMap(\.excludedValues))
    let range = RangeBounds(own)
    bounds =
      !facet.isRange
      ? []
      : facet.values.map { value in
        let bounds = Self.whole(value)
        return facet.isDivided ? bounds?.within(range) : bounds
      }
    if let range, !facet.isDivided,
      let first = bounds.firstIndex(where: { $0.map { $0.lower == range.lower } ?? false }),
      let last = bounds.lastIndex(where: { $0.map { $0.upper == range.upper } ?? false }),
      first <= last
    {
      span = first...last
    } else {
      span = nil
    }
    most = max(facet.values.map(\.count).max() ?? 1, facet.isRange ? 0 : facet.missing)
  }

  func isChosen(_ value: Facet.Value) -> Bool {
    guard facet.isRange else { return chosen.contains(value.text) }
    return index(of: value).map { span?.contains($0) ?? false }
      ?? ((try? TypedFilter(value.condition))?.conjuncts == own)
  }

  /// The condition with a value beside the others or no longer; `nil` for none.
  ///
  /// Of lists, each must be among the values. A range is extended to another one, and one of several that it consists of is
  /// chosen alone.
  func condition(toggling value: Facet.Value) -> String? {
    let isOn = isChosen(value)
    if facet.isRange {
      if isOn, span?.count ?? 1 == 1 { return nil }
      if facet.isDivided, let part = bounds(of: value) { return part.condition }
      guard let index = index(of: value), let span, !isOn else { return value.condition }
      // From the first range to the last one are all values.
      return RangeBounds(
        lower: bounds[min(index, span.lowerBound)]?.lower,
        upper: bounds[max(index, span.upperBound)]?.upper
      ).condition
    }
    let values = isOn ? chosen.filter { $0 != value.text } : chosen + [value.text]
    guard let first = values.first else { return nil }
    // A record can have all of them.
    guard !facet.isOfLists else {
      return values.map { TypedCondition(facet.field, .equal, $0).quoted }.joined(
        separator: " and ")
    }
    return TypedCondition(
      facet.field, values.count == 1 ? .compare(.equal, first) : .oneOf(values)
    ).quoted
  }

  /// The bounds of a range; `nil` for any other value.
  func bounds(of value: Facet.Value) -> RangeBounds? {
    facet.isRange ? index(of: value).flatMap { bounds[$0] } : nil
  }

  /// The bounds of a range without those of the filter.
  static func whole(_ value: Facet.Value) -> RangeBounds? {
    (try? TypedFilter(value.condition)).flatMap { RangeBounds($0.conjuncts) }
  }

  /// The index of a range; `nil` for missing values.
  private func index(of value: Facet.Value) -> Int? {
    facet.values.firstIndex { $0.condition == value.condition }
  }
}

extension [TypedFilter] {
  /// One condition of filters that must all hold.
  var condition: String { map(\.quoted).joined(separator: " and ") }
}

extension Facet {
  /// The values in the order that they have, such as numbers, dates, sizes and texts that begin with numbers; `nil` if they have
  /// none.
  fileprivate var ordered: [Value]? {
    let scale = ["true", "false", "XXS", "XS", "S", "M", "L", "XL", "XXL", "XXXL"]
    let places = values.map { value -> Double? in
      let number = value.text.prefixMatch(of: /-?[0-9]+(\.[0-9]+)?/).flatMap { Double($0.output.0) }
      return number ?? scale.firstIndex(of: value.text).map(Double.init)
    }
    guard !places.contains(nil) else { return nil }
    // Dates of a year follow each other as their texts do.
    return zip(values, places).sorted { ($0.1 ?? 0, $0.0.text) < ($1.1 ?? 0, $1.0.text) }.map(\.0)
  }
}

extension [String] {
  /// These names in the order of an index, in which `item 9` comes before `item 10`.
  fileprivate var sortedAsNames: [String] {
    let keys = map { name in
      FoldedText(name).text.replacing(/[0-9]+/) { match in
        String(repeating: "0", count: Swift.max(0, 20 - match.output.count)) + match.output
      }
    }
    return zip(keys, self).sorted(by: <).map(\.1)
  }
}

extension TypedFilter {
  /// The values that a field must not have; none for any other filter.
  fileprivate var excludedValues: [String] {
    switch self {
    case .not(let filter): return filter.equalValues
    case .condition(let condition):
      if case .compare(.notEqual, let value) = condition.test { return [value] }
      return []
    case .all, .any: return []
    }
  }
}

extension String {
  /// The name of a member as people write it: `Created at` of `created_at` and `createdAt`.
  var fieldLabel: String {
    let words = safeLine.split { $0 == "_" || $0 == "." }.joined(separator: " ")
    // One with spaces is written as it is meant.
    let label =
      words.contains(" ") && words == safeLine
      ? words
      : words.replacing(/([a-z])([A-Z][a-z]?)/) { match in
        let (end, start) = (match.output.1, match.output.2)
        return "\(end) \(start.count == 2 ? start.lowercased() : String(start))"
      }
    return label.capitalizedFirst
  }
}

extension FieldEntry {
  var isNumeric: Bool { ["integer", "number"].contains(kind) }
}
