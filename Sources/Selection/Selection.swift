package import AggregatorFilters
package import AggregatorKit
package import AggregatorTerminal

/// The conditions and the order of a listing, as typed.
package struct SelectionText: Hashable, Codable, Sendable {
  package var conditions: [String]
  package var order: String?

  package init(conditions: [String], order: String? = nil) {
    self.conditions = conditions
    self.order = order
  }

  /// The names of the fields that it reads; errors have the code `usage`.
  package func fieldNames() throws(CommandError) -> [String] {
    var names: [String] = []
    for text in conditions {
      do { names += try TypedFilter(text).conditions.map(\.field) } catch {
        throw CommandError(error)
      }
    }
    for name in order?.split(separator: ",").map(\.trimmed) ?? [] {
      let isSigned = name.first == "-" || name.first == "+"
      names.append(String(isSigned ? name.dropFirst() : name[...]))
    }
    return names
  }

  /// Fails with code `usage` if none of several sources has all fields that it reads.
  ///
  /// - Parameter fields: The names of the fields of each source.
  package func requireFields(in fields: [[String]]) throws(CommandError) {
    let names = try fieldNames()
    let all = Set(fields.joined())
    // A source without the field of half a condition would look for it as a text.
    let known = Set(all.map { $0.lowercased() })
    do throws(FilterError) {
      for text in conditions {
        for condition in try TypedFilter(text).conditions {
          try condition.checkValue(isField: known.contains)
        }
      }
    } catch {
      throw CommandError(error)
    }
    guard !fields.contains(where: { Set($0).isSuperset(of: names) }) else { return }
    if let name = names.first(where: { !all.contains($0) }) {
      throw CommandError(
        .usage, "unknown field \"\(name)\"", suggestion: nearest(to: name, in: all.sorted()),
        hint: "no source has it")
    }
    let list = Set(names).sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    throw CommandError(.usage, "no source has all of the fields \(list)")
  }
}

extension SelectionText {
  /// The conditions as one, with that of a value of a facet in the place of those that its counts leave out; errors have
  /// the code `usage`.
  package func condition(
    with value: Facet.Value, of facet: Facet
  ) throws(CommandError) -> String {
    do throws(FilterError) {
      let own = try ownParts(of: facet)
      var parts: [TypedFilter] = []
      for text in conditions { parts += try TypedFilter(text).conjuncts }
      var added = try TypedFilter(value.condition).conjuncts
      if facet.isDivided, let range = RangeBounds(own),
        let part = RangeBounds(added)?.within(range).condition
      {
        parts.removeAll(where: own.contains)
        added = try TypedFilter(part).conjuncts
      } else if !facet.isWithinOwnConditions {
        parts.removeAll(where: own.contains)
      }
      parts += added.filter { !parts.contains($0) }
      return parts.map(\.typed).joined(separator: " and ")
    } catch {
      throw CommandError(error)
    }
  }

  /// The conditions that the counts of a facet leave out, as one text; `nil` for none.
  package func omission(from facet: Facet) -> String? {
    guard !facet.isWithinOwnConditions, let own = try? ownParts(of: facet), !own.isEmpty else {
      return nil
    }
    return own.map(\.typed).joined(separator: " and ")
  }

  /// The values of a field that conditions ask for which must all hold.
  func values(of field: String) -> [String] {
    let parts = conditions.flatMap { (try? TypedFilter($0).conjuncts) ?? [] }
    return parts.filter { $0.conditions.first?.field == field }.flatMap(\.equalValues)
  }

  /// The conditions on the field of a facet alone.
  private func ownParts(of facet: Facet) throws(FilterError) -> [TypedFilter] {
    var parts: [TypedFilter] = []
    for text in conditions { parts += try TypedFilter(text).conjuncts }
    return parts.filter { $0.conditions.allSatisfy { $0.field == facet.field } }
  }

  /// The field and the text of the last condition that compares with `=`; `nil` if there is none.
  package var lastComparison: (field: String, text: String)? {
    let typed = conditions.last.flatMap { try? TypedFilter($0) }
    guard let last = typed?.conditions.last, case .compare(.equal, let text) = last.test,
      !text.isEmpty
    else { return nil }
    return (last.field, text)
  }
}

extension TypedFilter {
  /// The values of which a field must have one; none for any other filter.
  package var equalValues: [String] {
    guard case .condition(let condition) = self else { return [] }
    return switch condition.test {
    case .compare(.equal, _), .oneOf: condition.values
    case .compare, .range, .pattern: []
    }
  }

  /// The filter as a part of others that must all hold, as people type it: a number has no quotes.
  fileprivate var typed: String {
    guard case .condition(let condition) = self,
      case .compare(let comparison, let text) = condition.test,
      Double(text) != nil, text.first?.isLetter == false
    else { return TypedFilter.all([self]).quoted }
    return "\(condition.field.asField)\(comparison.rawValue)\(text)"
  }
}

/// The records that a listing shows, and their order.
package struct Selection<Item: SourceRecord>: Sendable {
  package let text: SelectionText
  package let order: RecordOrder<Item>?

  /// All must hold.
  private(set) var filters: [Filter<Item>]

  /// Of values that each record is compared with.
  private static var maxConditions: Int { 100 }

  /// Errors have the code `usage`.
  ///
  /// - Parameters:
  ///   - now: The time from which words such as `yesterday` tell another one.
  ///   - inAnyCase: True if the names of fields may be as in ``Swift/Array/names(shownAs:)``, as people type them.
  package init(
    _ text: SelectionText, _ fields: [Field<Item>], at now: Date, inAnyCase: Bool = false
  ) throws(CommandError) {
    self.text = text
    do throws(FilterError) {
      var filters: [Filter<Item>] = []
      var seen: Set<TypedFilter> = []
      var count = 0
      for typed in text.conditions {
        var typed = try TypedFilter(typed)
        if inAnyCase {
          typed = typed.mapConditions { $0.on(fields.names(shownAs: [$0.field])[0]) }
        }
        for filter in typed.conjuncts where seen.insert(filter).inserted {
          count += filter.conditions.reduce(0) { $0 + $1.values.count }
          guard count <= Self.maxConditions else {
            throw FilterError(
              "too many conditions (maximum \(Self.maxConditions))", hint: "use the command sql")
          }
          filters.append(try Filter(filter, fields, at: now))
        }
      }
      self.filters = filters
      let names = text.order.map { $0.split(separator: ",").map { $0.trimmed } }
      if names?.isEmpty == true {
        throw FilterError("missing field to sort by")
      }
      order = try names.map { names throws(FilterError) in
        try RecordOrder(inAnyCase ? fields.names(sortedBy: names) : names, fields)
      }
    } catch {
      throw CommandError(error)
    }
  }

  /// A warning if some of the records that were read lack fields that the selection reads.
  func warnings(unfetched count: Int) -> [Warning] {
    guard count > 0, !detailFields.isEmpty else { return [] }
    let names = detailFields.map { "\"\($0)\"" }.joined(separator: ", ")
    return [
      Warning(.unfetched, "lists do not include \(names): unknown for \(count.of("record"))")
    ]
  }

  /// This selection without the filters that read one field alone.
  func withoutFilters(of field: String) -> Selection {
    var rest = self
    rest.filters.removeAll { $0.conditions.allSatisfy { $0.field.name == field } }
    return rest
  }

  package var isFilter: Bool { !filters.isEmpty }

  /// True if it selects other records at another time.
  var isRelative: Bool { filters.flatMap(\.conditions).contains(where: \.isRelative) }

  /// The fields that it reads and lists do not include.
  package var detailFields: [String] { fields.filter(\.isDetail).map(\.name) }

  /// The fields that it reads.
  var fields: [Field<Item>] {
    filters.flatMap(\.conditions).map(\.field) + (order?.keys.map(\.field) ?? [])
  }

  /// Fails with code `invalidRequest` if a condition cannot be compared with a record.
  package func check(_ items: [Item]) throws(SourceError) {
    for condition in filters.flatMap(\.conditions) {
      for item in items { try condition.check(item) }
    }
  }

  /// Those of which ``warnings(of:)`` tell.
  var conditionsOnOrder: [Condition<Item>] {
    filters.flatMap(\.conditions).filter(\.comparesOrder)
  }

  /// Counts the values that ``conditionsOnOrder`` are compared with, for ``warnings(of:)``.
  package func count(_ items: [Item], in values: inout [ComparedValues]) {
    for (index, condition) in conditionsOnOrder.enumerated() {
      if index == values.count { values.append(ComparedValues()) }
      for item in items { condition.add(condition.field[item], to: &values[index]) }
    }
  }

  /// Warnings of values that are neither above nor below those of the conditions.
  package func warnings(of values: [ComparedValues]) -> [Warning] {
    zip(conditionsOnOrder, values).compactMap { $0.warning(of: $1) }
  }

  /// The conditions that need ``Condition/check(all:)``.
  var conditionsOnAll: [Condition<Item>] {
    filters.flatMap(\.conditions).filter(\.needsAllValues)
  }

  /// The value nearest to that of a condition, or the one found before; `nil` if there are several conditions.
  package func nearMiss(in items: [Item], or best: String? = nil) -> String? {
    guard filters.count == 1, case .condition(let condition) = filters[0] else { return nil }
    return condition.nearMiss(in: items, or: best)
  }

  package func add(_ items: [Item], to miss: inout NearMiss) {
    miss.suggestion = nearMiss(in: items, or: miss.suggestion)
    guard filters.count == 1, case .condition(let condition) = filters[0] else { return }
    miss.field = condition.field.name
    miss.values = condition.values(in: items, and: miss.values)
  }

  package func matches(_ item: Item) -> Bool { filters.allSatisfy { $0.matches(item) } }

  package func sorted(_ items: [Item]) -> [Item] { order?.sorted(items) ?? items }
}

/// The likely meaning of the only condition of a selection without records.
package struct NearMiss: Sendable {
  /// A near value, or a condition.
  package var suggestion: String?
  package var field = ""
  /// The values of the field; `nil` for many.
  package var values: Set<String>? = []

  package init() {}

  /// The values, in words, where none of them is near.
  package var list: String? {
    guard suggestion == nil, let values, !values.isEmpty else { return nil }
    return "Values of \(field): \(values.sorted().joined(separator: ", "))"
  }
}

extension CommandError {
  package init(_ error: FilterError) {
    self.init(
      .usage, error.message, suggestion: error.suggestion,
      hint: error.hint.map(Hint.words) ?? (error.isOfSyntax ? .command("help filters") : nil))
  }
}

extension Array {
  /// The names in an order of records as in ``names(shownAs:)``, each with its sign.
  package func names<Item>(sortedBy typed: [String]) -> [String] where Element == Field<Item> {
    typed.map { typed in
      let isSigned = typed.first.map { "+-".contains($0) } == true
      let sign = isSigned && !contains { $0.name == typed } ? typed.prefix(1) : ""
      return sign + names(shownAs: [String(typed.dropFirst(sign.count))])[0]
    }
  }

  /// The names in a list of fields as in ``names(shownAs:)``; `*` beside others is all fields but those after a dash: `*,-url`.
  package func names<Item>(listedAs typed: [String]) -> [String] where Element == Field<Item> {
    let names = names(shownAs: typed)
    guard names.count > 1, names.contains("*") else { return names }
    let omitted = names.filter { name in
      name.hasPrefix("-") && field(omittedBy: name) != nil && !contains { $0.name == name }
    }
    let fields = Set(omitted.compactMap(field(omittedBy:)))
    return names.flatMap { $0 == "*" ? map(\.name) : [$0] }.filter {
      !omitted.contains($0) && !fields.contains($0)
    }
  }

  /// The name of the field after a dash; `nil` if there is none.
  private func field<Item>(omittedBy name: String) -> String? where Element == Field<Item> {
    let name = names(shownAs: [String(name.dropFirst())])[0]
    return contains { $0.name == name } ? name : nil
  }

  /// The fields with these names, each once, or all of them for `*`; errors have the code `usage`, and name the nearest field.
  package func fields<Item>(named names: [String]) throws(CommandError) -> [Field<Item>]
  where Element == Field<Item> {
    if names == ["*"] { return self }
    var chosen: [Field<Item>] = []
    for name in names where !chosen.contains(where: { $0.name == name }) {
      if name.hasPrefix("-"), contains(where: { "-\($0.name)" == name }) {
        let others = filter { $0.isShown && !names.contains("-\($0.name)") }.map(\.name)
        throw CommandError(
          .usage, "\"\(name)\" does not leave out a field: name those to show",
          suggestion: others.isEmpty ? nil : others.joined(separator: ","))
      }
      do { chosen.append(try field(named: name)) } catch { throw CommandError(error) }
    }
    return chosen
  }
}
