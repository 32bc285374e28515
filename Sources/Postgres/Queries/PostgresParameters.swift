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
    var reader = ParameterReader(text)
    reader.read()
    var values: [PostgresValue] = []
    for name in reader.names { values.append(try value(of: name).untyped) }
    return PostgresStatement(reader.text, values)
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

/// Finds `:name` outside of quotes, comments and casts.
private struct ParameterReader {
  private var rest: Substring.UnicodeScalarView
  private var scalars = String.UnicodeScalarView()
  private(set) var names: [String] = []

  init(_ text: String) { rest = text[...].unicodeScalars }

  var text: String { String(scalars) }

  mutating func read() {
    while let scalar = rest.first {
      switch scalar {
      case "'": readQuoted(scalar, escaping: isAfterEscapeMark)
      case "\"": readQuoted(scalar, escaping: false)
      case "$": readDollarQuoted()
      case "-" where isNext("--"): take { $0 != "\n" }
      case "/" where isNext("/*"): readComment()
      case ":" where isNext("::"): take(2)
      case ":": readParameter()
      default: take(1)
      }
    }
  }

  private func isNext(_ text: String) -> Bool { rest.starts(with: text.unicodeScalars) }

  private mutating func take(_ count: Int) {
    scalars.append(contentsOf: rest.prefix(count))
    rest = rest.dropFirst(count)
  }

  private mutating func take(while condition: (Unicode.Scalar) -> Bool) {
    take(rest.prefix(while: condition).count)
  }

  /// True after the `E` of a string with backslashes.
  private var isAfterEscapeMark: Bool {
    guard let last = scalars.last, last == "E" || last == "e" else { return false }
    return !(scalars.dropLast().last?.isPartOfName ?? false)
  }

  /// A doubled quote begins another quoted text, which makes no difference here.
  private mutating func readQuoted(_ quote: Unicode.Scalar, escaping: Bool) {
    take(1)
    while let scalar = rest.first {
      take(escaping && scalar == "\\" ? 2 : 1)
      if scalar == quote { return }
    }
  }

  private mutating func readDollarQuoted() {
    guard !(scalars.last?.isPartOfName ?? false),
      let tag = Substring(rest).prefixMatch(
        of: /\$([A-Za-z_\u{80}-\u{10FFFF}][A-Za-z0-9_\u{80}-\u{10FFFF}]*)?\$/)
    else { return take(1) }
    let mark = String(tag.output.0)
    take(mark.unicodeScalars.count)
    while !rest.isEmpty, !isNext(mark) { take(1) }
    take(mark.unicodeScalars.count)
  }

  /// Comments are nested.
  private mutating func readComment() {
    var depth = 0
    repeat {
      let change = isNext("/*") ? 1 : isNext("*/") ? -1 : 0
      depth += change
      take(change == 0 ? 1 : 2)
    } while depth > 0 && !rest.isEmpty
  }

  private mutating func readParameter() {
    let name = String(Substring(rest.dropFirst().prefix(while: \.isPartOfASCIIName)))
    guard SQLStatement.isParameterName(name) else { return take(1) }
    rest = rest.dropFirst(name.utf8.count + 1)
    let index = names.firstIndex(of: name) ?? names.count
    if index == names.count { names.append(name) }
    let number = "$\(index + 1)"
    scalars.append(contentsOf: number.unicodeScalars)
    let gap = max(0, name.utf8.count + 1 - number.utf8.count)
    scalars.append(contentsOf: repeatElement(" ", count: gap))
  }
}

extension Unicode.Scalar {
  fileprivate var isPartOfASCIIName: Bool {
    self == "_" || isASCII && (properties.isAlphabetic || ("0"..."9").contains(self))
  }

  fileprivate var isPartOfName: Bool { isPartOfASCIIName || self == "$" || !isASCII }
}
