/// Finds `:name` outside of quotes, comments and casts, as PostgreSQL reads them.
struct SQLParameterScanner {
  private let text: String.UnicodeScalarView
  private var rest: Substring.UnicodeScalarView

  init(_ text: String) {
    self.text = text.unicodeScalars
    rest = text[...].unicodeScalars
  }

  mutating func ranges() -> [Range<String.Index>] {
    var ranges: [Range<String.Index>] = []
    while let scalar = rest.first {
      switch scalar {
      case "'": skipQuoted(scalar, escaping: isAfterEscapeMark)
      case "\"": skipQuoted(scalar, escaping: false)
      case "$": skipDollarQuoted()
      case "-" where isNext("--"): rest = rest.drop { $0 != "\n" }
      case "/" where isNext("/*"): skipComment()
      case ":" where isNext("::"): skip(2)
      case ":":
        let start = rest.startIndex
        skip(1)
        let name = rest.prefix(while: \.isPartOfASCIIName)
        guard SQLStatement.isParameterName(String(name)) else { continue }
        rest = rest[name.endIndex...]
        ranges.append(start..<rest.startIndex)
      default: skip(1)
      }
    }
    return ranges
  }

  private func isNext(_ text: String) -> Bool { rest.starts(with: text.unicodeScalars) }

  private mutating func skip(_ count: Int) { rest = rest.dropFirst(count) }

  private var before: Substring.UnicodeScalarView { text[..<rest.startIndex] }

  /// True after the `E` of a string with backslashes.
  private var isAfterEscapeMark: Bool {
    guard let last = before.last, last == "E" || last == "e" else { return false }
    return !(before.dropLast().last?.isPartOfName ?? false)
  }

  /// A doubled quote begins another quoted text, which makes no difference here.
  private mutating func skipQuoted(_ quote: Unicode.Scalar, escaping: Bool) {
    skip(1)
    while let scalar = rest.first {
      skip(escaping && scalar == "\\" ? 2 : 1)
      if scalar == quote { return }
    }
  }

  private mutating func skipDollarQuoted() {
    guard !(before.last?.isPartOfName ?? false),
      let tag = Substring(rest).prefixMatch(
        of: /\$([A-Za-z_\u{80}-\u{10FFFF}][A-Za-z0-9_\u{80}-\u{10FFFF}]*)?\$/)
    else { return skip(1) }
    let mark = String(tag.output.0)
    skip(mark.unicodeScalars.count)
    while !rest.isEmpty, !isNext(mark) { skip(1) }
    skip(mark.unicodeScalars.count)
  }

  /// Comments are nested.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      let change = isNext("/*") ? 1 : isNext("*/") ? -1 : 0
      depth += change
      skip(change == 0 ? 1 : 2)
    } while depth > 0 && !rest.isEmpty
  }
}

extension Unicode.Scalar {
  fileprivate var isPartOfASCIIName: Bool {
    self == "_" || isASCII && (properties.isAlphabetic || ("0"..."9").contains(self))
  }

  fileprivate var isPartOfName: Bool { isPartOfASCIIName || self == "$" || !isASCII }
}
