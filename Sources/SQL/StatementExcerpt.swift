import AggregatorKit
import AggregatorTerminal

extension String {
  /// The line of this statement that has a mistake, cut around it to a width in cells, and a line with a caret below it.
  ///
  /// - Parameter offset: The number of characters before the mistake.
  package func excerpt(at offset: Int, width: Int) -> [String] {
    let indent = "  "
    let room = max(20, width - indent.count)
    let place = index(startIndex, offsetBy: offset, limitedBy: endIndex) ?? endIndex
    let start = self[..<place].lastIndex(where: \.isNewline).map(index(after:)) ?? startIndex
    let end = self[place...].firstIndex(where: \.isNewline) ?? endIndex
    let head = self[start..<place].drop(while: \.isWhitespace)
    let near = head.suffix(room)
    // Only the character after it keeps a tab at the end.
    let safe = "\(near)|".safeLine.dropLast()
    var before = safe
    while before.displayWidth > room / 2 { before.removeFirst() }
    let mark = near.count < head.count || before.count < safe.count ? "…" : ""
    let line = "\(mark)\(before)\(String(self[place..<end].prefix(room)).safeLine)"
    let column = mark.displayWidth + before.displayWidth
    return [indent + line.fitted(to: room), indent + String(repeating: " ", count: column) + "^"]
  }
}
