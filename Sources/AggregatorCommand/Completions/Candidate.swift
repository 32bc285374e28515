import AggregatorKit

/// A word that can be typed, and what it is.
struct Candidate: Hashable, Sendable {
  /// The whole word, not quoted.
  let word: String

  /// What it is, in a few words; empty if there is nothing to say.
  let about: String

  init(_ word: String, _ about: String = "") {
    self.word = word
    self.about = about
  }
}

/// What a word of a command line can be, as far as that can be told beforehand.
enum CompletionSource: Sendable {
  /// Nothing: there is no further word.
  case none
  /// Anything.
  case anything
  /// One of these.
  case choice([Candidate])
  /// The id of a record of a source, which is or is not deleted.
  case ids(of: String, areDeleted: Bool = false)
  /// The path of a directory.
  case directory

  /// A word that is an id, and after it more of them.
  static func severalIDs(of source: String) -> Following { { _, _ in .ids(of: source) } }

  /// What the next word can be, after the arguments that are there.
  typealias Following = @Sendable (_ arguments: [String], _ tree: CommandTree) -> CompletionSource
}

extension CompletionSource {
  /// A single word.
  static func one(_ words: CompletionSource) -> Following {
    { arguments, _ in arguments.isEmpty ? words : .none }
  }

  /// A single word that is the name of a source.
  static func source(_ plugins: [any Plugin]) -> Following {
    one(.choice(plugins.map { Candidate($0.name, $0.summary) }))
  }

  /// Words that are names of sources, each once.
  static func severalSources(_ plugins: [any Plugin]) -> Following {
    { arguments, _ in
      .choice(
        plugins.filter { !arguments.contains($0.name) }.map { Candidate($0.name, $0.summary) })
    }
  }

  /// A single word that is the key of a setting.
  static let setting: Following = { arguments, tree in
    arguments.isEmpty ? .choice(tree.settings.map { Candidate($0.key, $0.about) }) : .none
  }
}
