extension Xcconfig {
  /// A settings file in which a key has another value; everything else stays as it is, byte for
  /// byte.
  ///
  /// Replaces the value of the key's last assignment without a condition, or adds a line at the
  /// end. An address that `//` had cut is replaced as a whole.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - text: The value it shall have, one line without blanks around it.
  ///   - bytes: The file as it is.
  /// - Returns: The file as it shall be.
  package static func setting(_ key: String, to text: String, in bytes: [UInt8]) -> [UInt8] {
    let value = Array(Self.value(writing: text).utf8)
    var edited = bytes
    if let old = lastAssignment(of: key, in: bytes) {
      let isTouched =
        !old.commentRange.isEmpty && old.valueRange.upperBound == old.commentRange.lowerBound
      let end = old.isCut ? old.commentRange.upperBound : old.valueRange.upperBound
      let blankBefore = bytes[old.valueRange.lowerBound - 1] == UInt8(ascii: "=") ? " " : ""
      // Without the blank, a slash at the end of the value would move the start of the comment.
      let blankAfter = isTouched && !old.isCut ? " " : ""
      edited.replaceSubrange(
        old.valueRange.lowerBound..<end, with: Array(blankBefore.utf8) + value + blankAfter.utf8)
    } else {
      let lineEnd: [UInt8] =
        bytes.firstRange(of: [.carriageReturn, .lineFeed]) == nil
        ? [.lineFeed] : [.carriageReturn, .lineFeed]
      if let last = bytes.last, last != .lineFeed, last != .carriageReturn { edited += lineEnd }
      edited += Array("\(key) = ".utf8) + value + lineEnd
    }
    return edited
  }

  /// A settings file in which a key has no value; everything else stays as it is, byte for byte.
  ///
  /// Removes the key's assignments without a condition, each with its line, unless that ends in a
  /// comment, which stays.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - bytes: The file as it is.
  /// - Returns: The file as it shall be.
  package static func removing(_ key: String, from bytes: [UInt8]) -> [UInt8] {
    var edited = bytes
    for line in Xcconfig(bytes).lines.reversed() {
      guard case .assignment(let found) = line.statement, found.key == key, !found.isConditional
      else { continue }
      edited.removeSubrange(extent(of: found, in: bytes))
    }
    return edited
  }

  /// What of a line goes with its assignment.
  private static func extent(of found: Assignment, in bytes: [UInt8]) -> Range<Int> {
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let lineBreak = bytes[..<found.valueRange.lowerBound].lastIndex {
      $0 == .lineFeed || $0 == .carriageReturn
    }
    let start = lineBreak.map { $0 + 1 } ?? mark
    guard found.commentRange.isEmpty || found.isCut else {
      return start..<found.commentRange.lowerBound
    }
    var end = found.commentRange.upperBound
    if end < bytes.count, bytes[end] == .carriageReturn { end += 1 }
    if end < bytes.count, bytes[end] == .lineFeed { end += 1 }
    return start..<end
  }

  private static func lastAssignment(of key: String, in bytes: [UInt8]) -> Assignment? {
    for line in Xcconfig(bytes).lines.reversed() {
      if case .assignment(let found) = line.statement, found.key == key, !found.isConditional {
        return found
      }
    }
    return nil
  }
}
