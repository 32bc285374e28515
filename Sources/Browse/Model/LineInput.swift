import AggregatorTerminal

/// A line that is being typed.
package struct LineInput: Hashable, Sendable {
  package private(set) var characters: [Character]
  package private(set) var cursor: Int

  /// Longer queries are refused anyway.
  private static let maxLength = 2000

  package init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  package var text: String { String(characters) }

  /// Changes it by a key; returns false if the key has no meaning here.
  package mutating func take(_ key: Key) -> Bool {
    switch key {
    case .character(let character): insert(String(character))
    case .backspace:
      guard cursor > 0 else { return true }
      cursor -= 1
      characters.remove(at: cursor)
    case .delete: if cursor < characters.count { characters.remove(at: cursor) }
    case .left: cursor = max(0, cursor - 1)
    case .right: cursor = min(characters.count, cursor + 1)
    case .home, .control("a"): cursor = 0
    case .end, .control("e"): cursor = characters.count
    case .control("u"):
      characters.removeFirst(cursor)
      cursor = 0
    case .control("w"):
      let word = characters[..<cursor].lastIndex { $0 != " " }
        .flatMap { characters[..<$0].lastIndex(of: " ") }
      let start = word.map { $0 + 1 } ?? 0
      characters.removeSubrange(start..<cursor)
      cursor = start
    default: return false
    }
    return true
  }

  /// Adds text, whose line breaks become spaces.
  package mutating func insert(_ text: String) {
    // A space at the end would be trimmed.
    let added = text == " " ? [" "] : Array(text.safeLine)
    let room = max(0, Self.maxLength - characters.count)
    characters.insert(contentsOf: added.prefix(room), at: cursor)
    cursor += min(added.count, room)
  }
}
