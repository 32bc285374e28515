import AggregatorKit

/// Breaks text into lines of a width in cells.
///
/// Lines end at spaces and beside ideographs; a word wider than a line is broken anywhere. Runs of
/// spaces between words become one.
package struct Wrap {
  /// The width of the first lines, and of the others; less than 2, the width of an ideograph, counts
  /// as 2.
  package let first: Int, rest: Int
  /// The number of the first lines.
  private let count: Int

  package init(_ first: Int, rest: Int? = nil, count: Int = 1) {
    self.first = max(2, first)
    self.rest = max(2, rest ?? first)
    self.count = count
  }

  /// The lines of sanitized text, none if it is blank; every `\n` ends a line too.
  package func lines(of text: String) -> [String] {
    var lines: [String] = []
    var width: Int { lines.count < count ? first : rest }
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      var room = width
      for piece in pieces(of: paragraph) {
        let gap = piece.followsSpace && !line.isEmpty ? 1 : 0
        if piece.text.prefix(cells: room - gap).endIndex == piece.text.endIndex {
          line += gap == 1 ? " " + piece.text : String(piece.text)
          room -= gap + piece.text.displayWidth
          continue
        }
        if !line.isEmpty {
          lines.append(line)
          room = width
        }
        var start = piece.text.startIndex
        var cutter = CellCutter(piece.text)
        while true {
          let end = cutter.advance(by: room)
          line = String(piece.text[start..<end])
          if end == piece.text.endIndex { break }
          lines.append(line)
          room = width
          start = end
        }
        room -= line.displayWidth
      }
      lines.append(line)
    }
    return lines.allSatisfy(\.isEmpty) ? [] : lines
  }

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
  /// Not a space with a mark on it, because the mark would be lost: ﾞ is a letter by category.
  fileprivate var isBreakingSpace: Bool {
    unicodeScalars.allSatisfy {
      $0.properties.isWhitespace && $0 != "\u{A0}" && $0 != "\u{2007}" && $0 != "\u{202F}"
    }
  }

  /// `true` if no line begins with this (the most common rule of JIS X 4051).
  fileprivate var closesBeforeBreak: Bool { "、。，．：；！？）」』】〕〉》］｝ー…".contains(self) }

  fileprivate var opensAfterBreak: Bool { "（「『【〔〈《［｛".contains(self) }
}

extension Substring {
  /// The parts between which a line may break without a space: before and after each wide
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

  /// The longest prefix of at most `limit` cells; see ``CellCutter``.
  package func prefix(cells limit: Int) -> Substring {
    if isPrintableASCII {
      let end = utf8.index(startIndex, offsetBy: Swift.max(0, limit), limitedBy: endIndex)
      return self[..<(end ?? endIndex)]
    }
    var cutter = CellCutter(self)
    return self[..<cutter.advance(by: limit)]
  }
}

extension String {
  /// Cut with `…` if it is wider than `width` cells, 0 or more.
  package func fitted(to width: Int) -> String {
    guard self[...].prefix(cells: width).endIndex < endIndex else { return self }
    guard width > 0 else { return "" }
    var cut = self[...].prefix(cells: width - 1)
    while cut.last == " " { cut.removeLast() }
    return cut + "…"
  }

  /// True for a path or a URL, whose end tells it from others.
  package var isPath: Bool {
    hasPrefix("/") || hasPrefix("~/") || contains("/") && !contains(where: \.isWhitespace)
  }

  /// Cut in its middle, with `…` before the last two thirds, if it is wider than `width` cells.
  package func fittedInMiddle(_ width: Int) -> String {
    guard displayWidth > width, width > 2 else { return fitted(to: width) }
    let start = self[...].prefix(cells: width / 3)
    var end = self[start.endIndex...].suffix(width)
    while start.displayWidth + 1 + end.displayWidth > width { end.removeFirst() }
    return start + "…" + end
  }

  /// Cut as by ``fitted(to:)``, but after a word, unless the next is wider than `width`.
  package func fittedToWords(_ width: Int) -> String {
    let cut = fitted(to: width)
    guard cut != self else { return cut }
    let kept = cut.dropLast()
    let rest = dropFirst(kept.count).prefix { !$0.isWhitespace }
    guard !rest.isEmpty, let space = kept.lastIndex(of: " ") else { return cut }
    let word = kept[space...].dropFirst() + rest
    return word.displayWidth > width ? cut : kept[..<space] + "…"
  }
}

/// Advances through text and finds the points at which to cut it for lines of a number of cells.
///
/// Characters stay whole, except those wider than both a line and two cells: consonant clusters of
/// Indic scripts and the like have no bound, and are cut between their letters. It takes linear
/// time.
package struct CellCutter {
  private let text: Substring
  private var position: Substring.Index
  /// The end of the character being cut, if it is after `position`.
  private var characterEnd: Substring.Index

  package init(_ text: Substring) {
    self.text = text
    position = text.startIndex
    characterEnd = text.startIndex
  }

  /// Moves by at most `limit` cells; from 2 on it always advances, unless it is at the end.
  package mutating func advance(by limit: Int) -> Substring.Index {
    var room = limit
    while position < text.endIndex {
      if position >= characterEnd {
        let width = text[position].displayWidth
        characterEnd = text.index(after: position)
        if width <= room {
          room -= width
          position = characterEnd
          continue
        }
        if width <= 2 {
          characterEnd = position
          break
        }
      }
      // By scalar: the sum is never less than the width of the character.
      let scalar = text.unicodeScalars[position]
      let width = scalar == "\u{FE0F}" ? 1 : scalar.displayWidth
      guard width <= room else { break }
      room -= width
      position = text.unicodeScalars.index(after: position)
    }
    return position
  }
}
