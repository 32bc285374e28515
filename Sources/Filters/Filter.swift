package import AggregatorCore
package import AggregatorFoundation

/// Conditions on the fields of records, and how they are joined.
package indirect enum Filter<Item>: Sendable {
  case condition(Condition<Item>)
  case not(Filter)
  case all([Filter])
  case any([Filter])

  /// - Parameter now: The time from which words such as `yesterday` tell another one.
  package init(_ typed: TypedFilter, _ fields: [Field<Item>], at now: Date) throws(FilterError) {
    func filters(_ parts: [TypedFilter]) throws(FilterError) -> [Filter] {
      var filters: [Filter] = []
      for part in parts { filters.append(try Filter(part, fields, at: now)) }
      return filters
    }
    if case .condition(let condition) = typed { try condition.checkValue(fields) }
    self =
      switch typed {
      case .condition(let condition): .condition(try Condition(condition, fields, at: now))
      case .not(let filter): .not(try Filter(filter, fields, at: now))
      case .all(let parts): .all(try filters(parts))
      case .any(let parts): .any(try filters(parts))
      }
  }

  /// All conditions in it.
  package var conditions: [Condition<Item>] {
    switch self {
    case .condition(let condition): [condition]
    case .not(let filter): filter.conditions
    case .all(let parts), .any(let parts): parts.flatMap(\.conditions)
    }
  }

  package func matches(_ item: Item) -> Bool {
    switch self {
    case .condition(let condition): condition.matches(item)
    case .not(let filter): !filter.matches(item)
    case .all(let parts): parts.allSatisfy { $0.matches(item) }
    case .any(let parts): parts.contains { $0.matches(item) }
    }
  }
}
