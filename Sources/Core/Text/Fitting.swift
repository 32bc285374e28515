extension StringProtocol {
  /// This text, cut with `…` if it is wider than `width` cells.
  ///
  /// - Parameter width: How many cells there are, 0 or more.
  /// - Returns: Text of at most `width` cells.
  package func fitted(to width: Int) -> String {
    guard prefix(cells: width).endIndex < endIndex else { return String(self) }
    guard width > 0 else { return "" }
    var cut = String(prefix(cells: width - 1))
    while cut.last == " " { cut.removeLast() }
    return cut + "…"
  }

  /// The longest beginning that takes at most `limit` cells.
  ///
  /// Characters stay whole, but for those that are wider than two cells (consonant clusters of Indic
  /// scripts have no bound): they are cut between their letters.
  ///
  /// - Parameter limit: How many cells there are. From 2 on, a text that is not empty has a beginning
  ///   that is not empty.
  /// - Returns: The beginning; all of the text if it fits.
  package func prefix(cells limit: Int) -> SubSequence {
    var end = startIndex
    var room = limit
    while end < endIndex {
      let width = self[end].displayWidth
      guard width <= room else {
        if width > 2 { end = unicodeScalars.end(ofCells: room, from: end) }
        break
      }
      room -= width
      end = index(after: end)
    }
    return self[..<end]
  }
}

extension BidirectionalCollection<Unicode.Scalar> {
  /// Counts scalars one by one, which is never less than they take together.
  fileprivate func end(ofCells limit: Int, from start: Index) -> Index {
    var room = limit
    return self[start...].firstIndex { scalar in
      room -= scalar == "\u{FE0F}" ? 1 : scalar.displayWidth
      return room < 0
    } ?? endIndex
  }
}
