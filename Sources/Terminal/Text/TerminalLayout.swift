import AggregatorKit

package struct TerminalLayout: Hashable, Sendable {
  /// In cells, 1 or more.
  package var width: Int

  /// `true` if the cursor can be moved, unlike with `TERM=dumb` or without color; otherwise spaces are used.
  package var isTerminal: Bool

  package var style: Style

  package var hasLinks: Bool

  /// `true` if a person reads the output on a terminal: tables have the beginnings of UUIDs, and ages.
  package var isRead: Bool

  /// - Parameter width: Less than 1 counts as 1.
  package init(
    width: Int, isTerminal: Bool, hasColor: Bool, hasLinks: Bool = false, isRead: Bool = false
  ) {
    self.width = max(1, width)
    self.isTerminal = isTerminal
    self.style = Style(isOn: hasColor)
    self.hasLinks = hasLinks
    self.isRead = isRead
  }
}

/// Colours and weights (ECMA-48, SGR).
package struct Style: Hashable, Sendable {
  package enum Role: String {
    /// Bold.
    case heading = "1"
    /// Secondary text: dim.
    case label = "2"
    /// Green; also strings of JSON.
    case id = "32"
    /// Red.
    case error = "31"
    /// Yellow.
    case warning = "33"
    /// Cyan; also names in help, and numbers of JSON.
    case hint = "36"
    /// A key of JSON: bold and blue.
    case key = "1;34"
  }

  package let isOn: Bool

  package init(isOn: Bool) { self.isOn = isOn }

  /// The text in the style of its role; unchanged if styles are off or it is empty.
  package func callAsFunction(_ role: Role, _ text: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The text with the words of a search in bold, found as the search finds them.
  func highlighting(_ query: String, in text: String) -> String {
    guard isOn else { return text }
    let characters = Array(text)
    var result = ""
    var end = 0
    for range in SearchedWords(query).ranges(in: text) {
      result += String(characters[end..<range.lowerBound])
      result += self(.heading, String(characters[range]))
      end = range.upperBound
    }
    return result + String(characters[end...])
  }
}

/// The words of a search, to be marked in texts.
package struct SearchedWords {
  private let folded: [FoldedText]
  private let words: [[UInt8]]

  package init(_ query: String) { self.init((try? SearchQuery(query))?.words ?? []) }

  private init(_ folded: [FoldedText]) {
    self.folded = folded
    words = folded.map { Array($0.text.utf8) }
  }

  /// The words that a text does not have.
  package func missing(in text: String) -> SearchedWords {
    let whole = FoldedText(text)
    return SearchedWords(folded.filter { !whole.contains($0) })
  }

  /// The characters of a text that match, by their numbers, as the search finds them.
  package func ranges(in text: String) -> [Range<Int>] {
    // Of a text without a match not each character is folded.
    let whole = FoldedText(text)
    guard folded.contains(where: whole.contains) else { return [] }
    let folded = text.map { FoldedText(String($0)).text.utf8 }
    var ranges: [Range<Int>] = []
    var index = 0
    while index < folded.count {
      let rest = folded[index...]
      let count = words.compactMap { $0.leadingCharacters(of: rest) }.max() ?? 0
      if count > 0 { ranges.append(index..<(index + count)) }
      index += max(count, 1)
    }
    return ranges
  }
}

extension [UInt8] {
  /// The number of characters, of a text in folded ones, that begin with this folded word; `nil` if they do not.
  fileprivate func leadingCharacters(of text: ArraySlice<String.UTF8View>) -> Int? {
    var missing = self[...]
    for (offset, character) in text.enumerated() {
      // Punctuation that folding leaves out is highlighted only between the letters of a word.
      if missing.isEmpty || offset == 0 && character.isEmpty { return nil }
      if character.starts(with: missing) { return offset + 1 }
      guard missing.starts(with: character) else { return nil }
      missing = missing.dropFirst(character.count)
    }
    return nil
  }
}

package struct Line {
  /// Without a line break.
  package private(set) var text = ""
  /// In cells.
  package private(set) var width = 0

  private let terminalLayout: TerminalLayout

  package init(on terminalLayout: TerminalLayout) { self.terminalLayout = terminalLayout }

  /// - Parameters:
  ///   - link: The URL to which the piece leads on a terminal with links.
  ///   - query: The search whose matches are highlighted, unless the piece has a role.
  package mutating func add(
    _ piece: String, as role: Style.Role? = nil, link: String? = nil, matching query: String? = nil
  ) {
    var shown = piece
    if let role {
      shown = terminalLayout.style(role, piece)
    } else if let query {
      shown = terminalLayout.style.highlighting(query, in: piece)
    }
    text += link.map { Hyperlink.text(shown, to: $0) } ?? shown
    width += piece.displayWidth
  }

  /// Continues at a column, counted from 0; if the line is already past it, two cells further.
  ///
  /// On a terminal this moves the cursor (`CSI n G`, CHA of ECMA-48), because terminals disagree
  /// about the width of emoji, and padding would carry the error into every later column.
  package mutating func move(to column: Int) {
    let gap = column > width ? column - width : width == 0 ? 0 : 2
    // Beyond the edge there is no column: the terminal goes on in the next row.
    if terminalLayout.isTerminal, column > width, width > 0, column < terminalLayout.width {
      text += "\u{1B}[\(column + 1)G"
    } else {
      text += String(repeating: " ", count: gap)
    }
    width += gap
  }
}

/// Hyperlinks in a terminal (OSC 8, https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
enum Hyperlink {
  /// The longest URL that all terminals accept.
  private static let maxLength = 2083

  /// Pieces of one URL on several lines are one link; unchanged if the URL is not valid: printable
  /// ASCII only, so that it cannot end the escape sequence.
  static func text(_ text: String, to url: String) -> String {
    guard let url = url.webAddress.flatMap({ URL(string: $0) })?.absoluteString,
      url.utf8.count <= maxLength, url.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return text }
    let id = String(url.fnv1a, radix: 36)
    return "\u{1B}]8;id=\(id);\(url)\u{1B}\\\(text)\u{1B}]8;;\u{1B}\\"
  }

  /// Lines with URLs as links, made after wrapping because links do not change the visible text.
  ///
  /// - Parameter value: The unwrapped value: a URL, or a list of them. Other values have no links.
  static func lines(_ lines: [String], of value: JSON) -> [String] {
    var urls: ArraySlice<String> =
      switch value {
      case .string(let text): [text]
      case .array(let values): values.map(\.cell)[...]
      default: []
      }
    // Splitting at spaces works only if sanitizing left the URLs unchanged.
    let areUnchanged = urls.allSatisfy {
      $0.webAddress != nil && $0.utf8.allSatisfy { byte in 0x21...0x7E ~= byte }
    }
    guard areUnchanged, var url = urls.popFirst() else { return lines }
    var rest = url[...]
    return lines.map { line in
      line.split(separator: " ", omittingEmptySubsequences: false).map { word in
        if rest.isEmpty, let next = urls.popFirst() {
          url = next
          rest = url[...]
        }
        let piece = word.prefix(rest.count)
        guard !piece.isEmpty, rest.hasPrefix(piece) else { return String(word) }
        rest = rest.dropFirst(piece.count)
        return text(String(piece), to: url) + word.dropFirst(piece.count)
      }.joined(separator: " ")
    }
  }
}
