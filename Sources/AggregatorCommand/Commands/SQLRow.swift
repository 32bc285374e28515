import AggregatorKit

/// A row of a query's answer.
struct SQLRow: Record {
  /// The same for all rows, and like no value: a table takes no column for that of the ids.
  var id: String { "\u{0}" }

  private let values: [SQLValue]

  /// A row.
  init(_ values: [SQLValue]) { self.values = values }

  /// The columns of an answer.
  ///
  /// - Parameters:
  ///   - names: Their names. The second `name` becomes `name_2`.
  ///   - rows: The first rows, which say whether a column has numbers.
  /// - Returns: A field for each column.
  static func fields(_ names: [String], like rows: [[SQLValue]]) -> [Field<SQLRow>] {
    unique(names).enumerated().map { index, name in
      let values = rows.lazy.map { $0[index] }.filter { $0 != .null }
      let isNumeric = !values.isEmpty && values.allSatisfy(\.isNumber)
      return Field(name, name, isNumeric ? .number : .text, about: "A column.") {
        $0.values[index].json
      }
    }
  }

  private static func unique(_ names: [String]) -> [String] {
    var used = Set(names)
    var seen: Set<String> = []
    return names.map { name in
      if seen.insert(name).inserted { return name }
      var number = 2
      while !used.insert("\(name)_\(number)").inserted { number += 1 }
      return "\(name)_\(number)"
    }
  }
}

extension SQLValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .number: true
    case .null, .text: false
    }
  }
}
