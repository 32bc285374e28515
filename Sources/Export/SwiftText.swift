import AggregatorInference
import AggregatorKit
import DeclaredSource

/// Swift code as text: literals and names made of untrusted text, and calls broken into lines.

extension String {
  /// A string literal of this text.
  ///
  /// Characters that an editor does not show, or that turn the text around them, are escaped.
  var swiftLiteral: String {
    var literal = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\\": literal += #"\\"#
      case "\"": literal += #"\""#
      case "\n": literal += #"\n"#
      case "\r": literal += #"\r"#
      case "\t": literal += #"\t"#
      case _ where scalar.isInvisible || scalar.properties.isVariationSelector:
        literal += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  /// The delimiter `#`, repeated until nothing in this text ends, or is interpolated into, a raw literal.
  var fence: String {
    let longest = split { $0 != "#" }.map(\.count).max() ?? 0
    return String(repeating: "#", count: longest + 1)
  }

  /// This text below the first line of a declaration.
  func indented(by spaces: Int) -> String {
    let margin = String(repeating: " ", count: spaces)
    return split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : margin + $0 }.joined(separator: "\n")
  }
}

/// Code is broken into lines of at most so many columns.
let maxSwiftColumns = 100

/// A call or a literal with its arguments: on one line if they fit, else each on a line of its own.
///
/// - Parameter column: The column at which the text will begin.
func swiftCall(
  _ head: String, _ arguments: [String], _ tail: String = ")", at column: Int
) -> String {
  func fits(_ text: String) -> Bool {
    column + text.count <= maxSwiftColumns && !text.contains("\n")
  }
  let packed = arguments.joined(separator: ", ")
  if fits(head + packed + tail) { return head + packed + tail }
  if fits("  " + packed + tail) { return "\(head)\n  \(packed)\(tail)" }
  return head + "\n" + arguments.joined(separator: ",\n").indented(by: 2) + tail
}

/// Swift's names for the names of a service, each once.
struct SwiftNames {
  private var taken: Set<String>

  init(avoiding taken: Set<String>) { self.taken = taken }

  /// A property's name: `html_url` is `htmlURL`.
  mutating func property(_ name: String) -> String {
    let words = swiftWords(of: name)
    let first = words.first?.lowercased() ?? "value"
    return unique(first + words.dropFirst().map(\.swiftCapitalized).joined(), fallback: "value")
  }

  /// A type's name: `first_author` is `FirstAuthor`.
  mutating func type(_ name: String) -> String {
    unique(swiftWords(of: name).map(\.swiftCapitalized).joined(), fallback: "Part")
  }

  private mutating func unique(_ name: String, fallback: String) -> String {
    let isName = name.first?.isNumber == false
    let plain = isName ? name : fallback + name
    var unique = plain
    var number = 2
    while !taken.insert(unique).inserted {
      unique = "\(plain)\(number)"
      number += 1
    }
    return unique
  }
}

/// The words of a service's name, of ASCII letters and digits: `größe_in-cm` has `grosse`, `in` and `cm`.
func swiftWords(of name: String) -> [String] {
  words(of: name).map { word in
    String(
      FoldedText(word).text.prefix(maxNamePart).filter {
        $0.isASCII && ($0.isLetter || $0.isNumber)
      })
  }.filter { !$0.isEmpty }.prefix(8).map(\.self)
}

/// Longer words of a name are cut.
private let maxNamePart = 30

extension String {
  /// This word inside a name: `city` is `City`, `url` is `URL`.
  fileprivate var swiftCapitalized: String {
    ["api", "id", "uri", "url"].contains(self) ? uppercased() : capitalizedFirst
  }

  /// This text as a name in a declaration: keywords need backticks.
  var declaredName: String { Self.keywords.contains(self) ? "`\(self)`" : self }

  /// The keywords that cannot be names without backticks; `init`, `self` and others are none even with them.
  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
    "where", "while",
  ]
}
