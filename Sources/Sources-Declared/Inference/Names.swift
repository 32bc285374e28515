/// A name in one form: lower case, without `_`, `-`, `$` and other separators.
///
/// `page_size`, `pageSize` and `page-size` become `pagesize`. No name that means something is longer than the limit.
func normalized(_ name: some StringProtocol) -> String {
  String(name.prefix(maxNameLength).lowercased().filter { $0.isLetter || $0.isNumber })
}

private let maxNameLength = 100

/// The words of a name: `timdexRecordId`, `record_id` and `Record ID` end with `id`.
func words(of name: some StringProtocol) -> [String] {
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
