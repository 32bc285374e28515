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
}

/// The records that a listing shows, and their order.
package struct Selection<Item: Record>: Sendable {
  package let text: SelectionText
  package let order: SortOrder<Item>?

  private let conditions: [Condition<Item>]

  /// Of different ones: each is compared with each record.
  private static var maxConditions: Int { 100 }

  /// Errors have the code `usage`.
  package init(_ text: SelectionText, _ fields: [Field<Item>]) throws(CommandError) {
    self.text = text
    var conditions: [Condition<Item>] = []
    var seen: Set<TypedCondition> = []
    for typed in text.conditions {
      for condition in try TypedCondition.all(in: typed) where seen.insert(condition).inserted {
        guard seen.count <= Self.maxConditions else {
          throw CommandError(
            .usage, "too many conditions (maximum \(Self.maxConditions))",
            hint: "use the command sql")
        }
        conditions.append(try Condition(condition, fields))
      }
    }
    self.conditions = conditions
    order = try text.order.map { text throws(CommandError) in
      try SortOrder(text.split(separator: ",").map { $0.trimmed }, fields)
    }
  }

  /// `nil` without an option that selects, sorts or counts records.
  package init?(_ invocation: Invocation, _ fields: [Field<Item>]) throws(CommandError) {
    guard Option.selecting.contains(where: invocation.has) else { return nil }
    try self.init(
      SelectionText(conditions: invocation.texts(.condition), order: invocation.text(.order)),
      fields)
  }

  package static var note: String {
    "--where compares a field with a value: = != ~ < <= > >=, where ~ means contains. Numbers and dates are "
      + "compared as such, and FIELD= matches records without a value. \"and\" joins conditions, as does "
      + "another --where; quote a value that contains it. --where, --sort and --count read cached records, "
      + "with --all all records of the service."
  }

  package var isFilter: Bool { !conditions.isEmpty }

  /// The fields that it reads and lists do not include.
  package var detailFields: [String] {
    let fields = conditions.map(\.field) + (order?.keys.map(\.field) ?? [])
    return fields.filter(\.isDetail).map(\.name)
  }

  /// Fails with code `invalidRequest` if a condition cannot be compared with a record.
  package func check(_ items: [Item]) throws(SourceError) {
    for condition in conditions { for item in items { try condition.check(item) } }
  }

  /// A value that a condition may mean: the same but for case and accents; `nil` if there are several conditions.
  package func nearMiss(in items: [Item]) -> String? {
    conditions.count == 1 ? items.lazy.compactMap(conditions[0].nearMiss).first : nil
  }

  package func matches(_ item: Item) -> Bool { conditions.allSatisfy { $0.matches(item) } }

  package func sorted(_ items: [Item]) -> [Item] { order?.sorted(items) ?? items }
}
