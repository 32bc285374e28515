import AggregatorTerminal

/// A line that is being typed.
package struct LineInput: Equatable, Sendable {
  package private(set) var characters: [Character]
  package private(set) var cursor: Int
  /// True for a proposal, which the first text that is typed replaces.
  package private(set) var isProposal: Bool

  /// Longer queries are refused anyway.
  private static let maxLength = 2000

  package init(_ text: String = "", isProposal: Bool = false) {
    self.isProposal = isProposal
    characters = Array(text)
    cursor = characters.count
  }

  /// True for a line of the console that can be run here: no command of its own such as `.tables` or `quit`, nor a longer
  /// statement.
  static func isStatement(_ line: String) -> Bool {
    line.contains(" ") && line.first != "." && line.first != "\\" && line.count <= maxLength
  }

  package var text: String { String(characters) }

  var isAtEnd: Bool { cursor == characters.count }

  /// Changes it by a key; returns false if the key has no meaning here.
  package mutating func take(_ key: Key) -> Bool {
    if case .character(let character) = key {
      insert(String(character))
      return true
    }
    isProposal = false
    switch key {
    case .backspace:
      guard cursor > 0 else { return true }
      cursor -= 1
      characters.remove(at: cursor)
    case .delete, .control("d"): if cursor < characters.count { characters.remove(at: cursor) }
    case .left, .control("b"): cursor = max(0, cursor - 1)
    case .right, .control("f"): cursor = min(characters.count, cursor + 1)
    case .home, .control("a"): cursor = 0
    case .end, .control("e"): cursor = characters.count
    case .control("u"):
      characters.removeFirst(cursor)
      cursor = 0
    case .control("k"): characters.removeSubrange(cursor...)
    case .alt("b"): cursor = wordStart
    case .alt("f"): cursor = wordEnd
    case .alt("d"): characters.removeSubrange(cursor..<wordEnd)
    case .control("w"):
      let start = wordStart
      characters.removeSubrange(start..<cursor)
      cursor = start
    default: return false
    }
    return true
  }

  /// The text before the cursor.
  package var start: String { String(characters[..<cursor]) }

  /// Replaces the text before the cursor, unless the line would be too long.
  package mutating func complete(with text: String) {
    let start = Array(text)
    guard start.count + characters.count - cursor <= Self.maxLength else { return }
    isProposal = false
    characters.replaceSubrange(..<cursor, with: start)
    cursor = start.count
  }

  /// The beginning of the word before the cursor.
  private var wordStart: Int {
    let space = characters[..<cursor].lastIndex { $0 != " " }
      .flatMap { characters[..<$0].lastIndex(of: " ") }
    return space.map { $0 + 1 } ?? 0
  }

  /// The end of the word after the cursor.
  private var wordEnd: Int {
    let word = characters[cursor...].firstIndex { $0 != " " } ?? characters.count
    return characters[word...].firstIndex(of: " ") ?? characters.count
  }

  /// Adds text, whose line breaks become spaces.
  package mutating func insert(_ text: String) {
    if isProposal { self = LineInput() }
    // A space at the end would be trimmed.
    let added = text == " " ? [" "] : Array(text.safeLine)
    let room = max(0, Self.maxLength - characters.count)
    characters.insert(contentsOf: added.prefix(room), at: cursor)
    cursor += min(added.count, room)
  }
}
