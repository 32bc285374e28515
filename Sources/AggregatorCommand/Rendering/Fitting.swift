import AggregatorKit

extension String {
  /// This text, cut with `…` if it is wider than `width` cells.
  ///
  /// - Parameter width: How many cells there are, 0 or more.
  /// - Returns: Text of at most `width` cells.
  package func fitted(to width: Int) -> String {
    guard self[...].prefix(cells: width).endIndex < endIndex else { return self }
    guard width > 0 else { return "" }
    var cut = self[...].prefix(cells: width - 1)
    while cut.last == " " { cut.removeLast() }
    return cut + "…"
  }
}

extension Substring {
  /// The longest beginning that takes at most `limit` cells; see ``CellCutter``.
  ///
  /// - Parameter limit: How many cells there are.
  /// - Returns: The beginning; all of the text if it fits.
  package func prefix(cells limit: Int) -> Substring {
    if isPrintableASCII {
      let end = utf8.index(startIndex, offsetBy: Swift.max(0, limit), limitedBy: endIndex)
      return self[..<(end ?? endIndex)]
    }
    var cutter = CellCutter(self)
    return self[..<cutter.advance(by: limit)]
  }
}

/// Walks through text and says where it has to be cut to fit lines of so many cells.
///
/// Characters stay whole, but for those that are wider than a line and than two cells: the consonant
/// clusters of Indic scripts and the like have no bound, and are cut between their letters. The walk
/// takes time in proportion to the text, however it is made.
package struct CellCutter {
  private let text: Substring
  private var position: Substring.Index
  /// The end of the character that is being cut, if it is after `position`.
  private var characterEnd: Substring.Index

  /// At the start of `text`.
  package init(_ text: Substring) {
    self.text = text
    position = text.startIndex
    characterEnd = text.startIndex
  }

  /// Goes on for at most `limit` cells.
  ///
  /// - Parameter limit: How many cells there are. From 2 on it always goes on, unless it is at the end.
  /// - Returns: Where it is now.
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
      // Scalar by scalar, which is never less than they take together.
      let scalar = text.unicodeScalars[position]
      let width = scalar == "\u{FE0F}" ? 1 : scalar.displayWidth
      guard width <= room else { break }
      room -= width
      position = text.unicodeScalars.index(after: position)
    }
    return position
  }
}
