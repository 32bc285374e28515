package import AggregatorCore

/// Records grouped by the values that they have in several fields, with the values of a further field.
package struct FieldGroups: Sendable {
  package struct Group: Sendable {
    /// A value for each field; null without one.
    package let values: [JSON]
    /// The number of records.
    package fileprivate(set) var count = 0
    /// The values of the measured field.
    package fileprivate(set) var measured = FieldValues()
  }

  /// The most groups and measured values, each group with its own.
  package static let maxSize = 500_000

  private var groups: [[JSON]: Group] = [:]
  private var size = 0

  package init() {}

  /// Adds a record; of lists, each different element is a value.
  ///
  /// - Returns: False if there are more than ``maxSize``: the groups are then useless.
  package mutating func add(_ values: [JSON], measuring measured: JSON? = nil) -> Bool {
    var keys: [[JSON]] = [[]]
    for value in values {
      let present = Set(value.present.map(\.unified))
      let elements = present.isEmpty ? [.null] : Array(present)
      guard keys.count <= Self.maxSize / elements.count else { return false }
      keys = keys.flatMap { key in elements.map { key + [$0] } }
    }
    for key in keys {
      if groups[key] == nil { size += 1 }
      size += groups[key, default: Group(values: key)].add(measured)
    }
    return size <= Self.maxSize
  }

  /// The groups with the most records first, those of equal numbers by their values, with missing values last.
  package var sorted: [Group] {
    let rows = groups.values.map { group in
      (group: group, order: group.values.map { SortValue($0) }, texts: group.values.map(\.cell))
    }
    return rows.sorted { first, second in
      if first.group.count != second.group.count { return first.group.count > second.group.count }
      if first.order != second.order { return first.order.lexicographicallyPrecedes(second.order) }
      return first.texts.lexicographicallyPrecedes(second.texts)
    }.map(\.group)
  }
}

extension FieldGroups.Group {
  /// Adds a record, and returns the number of new values.
  fileprivate mutating func add(_ value: JSON?) -> Int {
    count += 1
    guard let value else { return 0 }
    let before = measured.distinctCount
    measured.add(value)
    return measured.distinctCount - before
  }
}
