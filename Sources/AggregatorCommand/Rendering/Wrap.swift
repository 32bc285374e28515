import AggregatorKit

/// Breaks text into lines of a width in cells.
///
/// Lines end at spaces and beside ideographs; a word that is wider than a line is broken anywhere.
/// Runs of spaces between words become one.
package struct Wrap {
  /// The width of the first line, and of the others; less than 2 counts as 2, the width of an ideograph.
  let first: Int, rest: Int

  /// Lines of these widths.
  ///
  /// - Parameters:
  ///   - first: The width of the first line.
  ///   - rest: The width of the others; that of the first by default.
  package init(_ first: Int, rest: Int? = nil) {
    self.first = max(2, first)
    self.rest = max(2, rest ?? first)
  }

  /// The lines of safe text.
  ///
  /// Every `\n` ends one too; blank text has none.
  package func lines(of text: String) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      var room = lines.isEmpty ? first : rest
      for piece in pieces(of: paragraph) {
        let gap = piece.followsSpace && !line.isEmpty ? 1 : 0
        if piece.text.prefix(cells: room - gap).endIndex == piece.text.endIndex {
          line += gap == 1 ? " " + piece.text : String(piece.text)
          room -= gap + piece.text.displayWidth
          continue
        }
        if !line.isEmpty {
          lines.append(line)
          room = rest
        }
        var start = piece.text.startIndex
        var cutter = CellCutter(piece.text)
        while true {
          let end = cutter.advance(by: room)
          line = String(piece.text[start..<end])
          if end == piece.text.endIndex { break }
          lines.append(line)
          room = rest
          start = end
        }
        room -= line.displayWidth
      }
      lines.append(line)
    }
    return lines.allSatisfy(\.isEmpty) ? [] : lines
  }

  /// What stays together on a line.
  private struct Piece {
    var text: Substring
    var followsSpace: Bool
  }

  private func pieces(of paragraph: Substring) -> [Piece] {
    paragraph.split(whereSeparator: \.isBreakingSpace).flatMap { word -> [Piece] in
      if word.utf8.allSatisfy({ $0 < 0x80 }) { return [Piece(text: word, followsSpace: true)] }
      return word.splitBesideIdeographs().enumerated().map { index, text in
        Piece(text: text, followsSpace: index == 0)
      }
    }
  }
}

extension Character {
  /// Whether this is a space that may become a line break.
  ///
  /// A space with a mark on it is none, for the mark would be lost: ﾞ is a letter by category.
  fileprivate var isBreakingSpace: Bool {
    unicodeScalars.allSatisfy {
      $0.properties.isWhitespace && $0 != "\u{A0}" && $0 != "\u{2007}" && $0 != "\u{202F}"
    }
  }

  /// Whether no line begins with this (the commonest rule of JIS X 4051).
  fileprivate var closesBeforeBreak: Bool { "、。，．：；！？）」』】〕〉》］｝ー…".contains(self) }

  /// Whether no line ends with this.
  fileprivate var opensAfterBreak: Bool { "（「『【〔〈《［｛".contains(self) }
}

extension Substring {
  /// The parts between which a line may break although there is no space: before and after each wide
  /// character, but not between it and its punctuation.
  fileprivate func splitBesideIdeographs() -> [Substring] {
    var parts: [Substring] = []
    var start = startIndex
    var before: Character?
    for index in indices {
      let after = self[index]
      if let before, before.displayWidth == 2 || after.displayWidth == 2,
        !after.closesBeforeBreak, !before.opensAfterBreak
      {
        parts.append(self[start..<index])
        start = index
      }
      before = after
    }
    parts.append(self[start...])
    return parts
  }
}
