package import AggregatorCore

/// Conditions on the fields of records, and how they are joined.
package indirect enum Filter<Item>: Sendable {
  case condition(Condition<Item>)
  case not(Filter)
  case all([Filter])
  case any([Filter])

  package init(_ typed: TypedFilter, _ fields: [Field<Item>]) throws(FilterError) {
    func filters(_ parts: [TypedFilter]) throws(FilterError) -> [Filter] {
      var filters: [Filter] = []
      for part in parts { filters.append(try Filter(part, fields)) }
      return filters
    }
    self =
      switch typed {
      case .condition(let condition): .condition(try Condition(condition, fields))
      case .not(let filter): .not(try Filter(filter, fields))
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
