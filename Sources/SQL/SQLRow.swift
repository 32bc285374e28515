import AggregatorKit

struct SQLRow: Record {
  /// A constant that equals no value, so that a table treats no column as the IDs.
  var id: String { "\u{0}" }

  private let values: [SQLValue]

  init(_ values: [SQLValue]) { self.values = values }

  /// The second column `name` becomes `name_2`; the first rows decide whether a column is numeric.
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
    case .null, .bool, .text: false
    }
  }
}
