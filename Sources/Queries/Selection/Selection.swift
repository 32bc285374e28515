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

  let conditions: [Condition<Item>]

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

  /// A warning if some of the records that were read lack fields that the selection reads.
  func warnings(unfetched count: Int) -> [Warning] {
    guard count > 0, !detailFields.isEmpty else { return [] }
    let names = detailFields.map { "\"\($0)\"" }.joined(separator: ", ")
    return [
      Warning(.unfetched, "lists do not include \(names): unknown for \(count.of("record"))")
    ]
  }

  package var isFilter: Bool { !conditions.isEmpty }

  /// The fields that it reads and lists do not include.
  package var detailFields: [String] { fields.filter(\.isDetail).map(\.name) }

  /// The fields that it reads.
  var fields: [Field<Item>] { conditions.map(\.field) + (order?.keys.map(\.field) ?? []) }

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

/// An order of records by fields: `-name,id`.
package struct SortOrder<Item: Record>: Sendable {
  package struct Key: Sendable {
    package let field: Field<Item>
    let isDescending: Bool
  }

  /// One for each field.
  package let keys: [Key]

  /// Errors have the code `usage`.
  init(_ names: [String], _ fields: [Field<Item>]) throws(CommandError) {
    guard !names.isEmpty else {
      throw CommandError(.usage, "missing value for \(Option.order.spelling)")
    }
    var keys: [Key] = []
    for name in names {
      let isDescending = name.hasPrefix("-")
      let field = try fields.field(named: String(isDescending ? name.dropFirst() : name[...]))
      // Records that are equal by a field stay so the second time.
      guard !keys.contains(where: { $0.field.name == field.name }) else { continue }
      keys.append(Key(field: field, isDescending: isDescending))
    }
    self.keys = keys
  }

  /// The records in this order: stable, the same in every locale, missing values last.
  package func sorted(_ items: [Item]) -> [Item] {
    let rows = items.enumerated().map { index, item in
      (index: index, values: keys.map { SortValue($0.field[item]) })
    }
    return rows.sorted { precedes($0, $1) }.map { items[$0.index] }
  }

  private typealias Row = (index: Int, values: [SortValue])

  private func precedes(_ left: Row, _ right: Row) -> Bool {
    for (key, (first, second)) in zip(keys, zip(left.values, right.values)) where first != second {
      if first == .missing || second == .missing { return second == .missing }
      return key.isDescending ? second < first : first < second
    }
    return left.index < right.index
  }
}

/// A value as it is sorted: numbers, then dates, then texts as searches fold them.
enum SortValue: Comparable {
  case number(Numeral)
  case date(Double)
  case text(String)
  case missing

  init(_ value: JSON) {
    switch value {
    case .null, .string(""), .array([]): self = .missing
    case .integer, .number: self = Numeral(value).map(Self.number) ?? .missing
    case .bool(let bool): self = .text(bool ? "true" : "false")
    case .string(let text):
      if let number = Numeral(text) {
        self = .number(number)
      } else if let period = Period(text), period.isDate {
        self = .date(period.start)
      } else {
        self = .text(FoldedText(text).text)
      }
    case .array, .object: self = .text(FoldedText(value.cell).text)
    }
  }
}
