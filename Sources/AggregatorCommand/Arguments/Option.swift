/// One option of the command line.
///
/// A name means the same everywhere.
struct Option: Hashable, Sendable {
  /// What kind of value an option takes.
  enum Value: Hashable, Sendable {
    /// A whole number in this range.
    case count(ClosedRange<Int>)
    /// A time such as `500ms`, `10s` or `2m`.
    case duration
    /// One of these words.
    case choice([String])
    /// Words separated by commas.
    case list
    /// The name of a session.
    case session
    /// The path of a file.
    case file
    /// The path of a directory.
    case directory
    /// Any text that is not empty.
    case text
  }

  /// The name without its dashes: `max-pages`.
  let name: String

  /// One letter for it.
  let letter: Character?

  /// What kind of value it takes; `nil` for none.
  let value: Value?

  /// What the value stands for in help: `N`.
  let placeholder: String

  /// What it does, in a few words.
  let about: String

  /// An option without a value.
  init(_ name: String, letter: Character? = nil, about: String) {
    self.name = name
    self.letter = letter
    self.value = nil
    self.placeholder = ""
    self.about = about
  }

  /// An option with a value.
  init(
    _ name: String, letter: Character? = nil, _ value: Value, _ placeholder: String, about: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.placeholder = placeholder
    self.about = about
  }

  /// With its dashes: `--max-pages`.
  var spelling: String { "--\(name)" }

  /// As it is typed: `-L, --limit N`.
  var synopsis: String {
    let names = (letter.map { "-\($0), " } ?? "") + spelling
    return value == nil ? names : "\(names) \(placeholder)"
  }
}
