import AggregatorCore
import AggregatorFoundation
import AggregatorStore

extension SQLStatement {
  /// The statement in which `$1`, `$2` … are in the places of `:name`, with their values.
  ///
  /// Positions in its text are those in this one, unless it has more than nine parameters.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a parameter without a value.
  func numbered() throws(SourceError) -> PostgresStatement {
    let names = parameterNames
    var (numbered, rest) = ("", text[...])
    for range in parameterRanges {
      let parameter = text[range]
      let number = "$\((names.firstIndex(of: String(parameter.dropFirst())) ?? 0) + 1)"
      let gap = max(0, parameter.utf8.count - number.utf8.count)
      numbered += rest[..<range.lowerBound] + number + String(repeating: " ", count: gap)
      rest = text[range.upperBound...]
    }
    var values: [PostgresValue] = []
    for name in names { values.append(try value(of: name).untyped) }
    return PostgresStatement(numbered + rest, values)
  }
}

extension SQLValue {
  /// This value as a literal without a type, as a person would write it between quotes.
  fileprivate var untyped: PostgresValue {
    let text: String? =
      switch self {
      case .null: nil
      case .bool(let bool): "\(bool)"
      case .integer(let integer): "\(integer)"
      case .number(let number): "\(number)"
      case .text(let text): text.nulEscaped
      }
    return .untyped(text.map { Data($0.utf8) })
  }
}
