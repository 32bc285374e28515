package import AggregatorKit
import DeclaredSource

/// A request and its response, as inference sees them.
struct Exchange: Sendable {
  /// The URL as it was requested, with its query.
  var url: URL

  /// The JSON body of the request.
  var body: JSON?

  /// The header fields of the response, with lower-case names.
  var headers: [(name: String, value: String)]

  /// The response.
  var document: JSON

  /// The parameters of the query, decoded.
  var query: [(name: String, value: String)] {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    return items.map { ($0.name, $0.value ?? "") }
  }

  /// The scalars of the body of the request.
  var sent: [Scalar] { body?.scalars(depth: 3) ?? [] }

  /// The probable name of a record, in the singular: the last word of the path.
  var noun: String? {
    let segments = url.path().split(separator: "/").map { segment in
      segment.split(separator: ".").first.map(String.init) ?? String(segment)
    }
    return segments.last.flatMap { words(of: $0).last }.map(singular)
  }

  func header(_ name: String) -> String? {
    headers.first { $0.name == name.lowercased() }?.value
  }
}

extension JSON {
  /// Reads a JSON text, with members in the order of the text; `nil` if it is invalid.
  ///
  /// Of members with one name only the first is kept, which is the one that a path finds.
  package init?(inOrder bytes: Data) {
    guard let text = JSONText(bytes) else { return nil }
    self = JSON(text).withUniqueNames
  }

  private var withUniqueNames: JSON {
    switch self {
    case .object(let members):
      var names: Set<String> = []
      return .object(
        members.filter { names.insert($0.name).inserted }
          .map { Member($0.name, $0.value.withUniqueNames) })
    case .array(let elements): return .array(elements.map(\.withUniqueNames))
    default: return self
    }
  }
}

/// A name in one form: lower case, without `_`, `-`, `$` and other separators.
///
/// `page_size`, `pageSize` and `page-size` become `pagesize`. No name that means something is longer than the limit.
func normalized(_ name: some StringProtocol) -> String {
  String(name.prefix(maxNameLength).lowercased().filter { $0.isLetter || $0.isNumber })
}

private let maxNameLength = 100

/// The words of a name: `timdexRecordId`, `record_id` and `SourceRecord ID` end with `id`.
package func words(of name: some StringProtocol) -> [String] {
  var words: [String] = []
  var word = ""
  var wasLower = false
  for character in name.prefix(maxNameLength) {
    guard character.isLetter || character.isNumber else {
      if !word.isEmpty { words.append(word) }
      (word, wasLower) = ("", false)
      continue
    }
    if character.isUppercase, wasLower {
      words.append(word)
      word = ""
    }
    word.append(contentsOf: character.lowercased())
    wasLower = character.isLowercase || character.isNumber
  }
  if !word.isEmpty { words.append(word) }
  return words
}

/// The singular of an English plural, near enough to compare names: `categories`, `issues`.
func singular(_ noun: String) -> String {
  if noun.hasSuffix("ies"), noun.count > 4 { return noun.dropLast(3) + "y" }
  if noun.hasSuffix("s"), !noun.hasSuffix("ss"), noun.count > 3 { return String(noun.dropLast()) }
  return noun
}
