import AggregatorFoundation
import AggregatorText

/// A reader of CSV (RFC 4180) or tab-separated values, which takes the text in pieces.
///
/// It accepts line breaks of Windows, and quotes within an unquoted value. Empty lines are skipped.
package struct DelimitedReader: Sendable {
  /// A record's values.
  package struct Values: Sendable {
    package fileprivate(set) var bytes: [UInt8] = []
    fileprivate var ends: [Int] = []
    fileprivate var areQuoted: [Bool] = []

    /// The number of the first line.
    package fileprivate(set) var line = 1

    package var count: Int { ends.count }

    /// The UTF-8 text of a value; `nil` if it is missing: empty and not in quotes.
    package subscript(index: Int) -> ArraySlice<UInt8>? {
      let start = index == 0 ? 0 : ends[index - 1]
      return start == ends[index] && !areQuoted[index] ? nil : bytes[start..<ends[index]]
    }

    /// The values as names of columns, each different from the others also if case is ignored.
    package var names: [String] {
      var used: Set<String> = []
      // Without them, as many equal names as there may be would take seconds.
      var numbers: [String: Int] = [:]
      return (0..<count).map { index in
        let text = self[index].map { String(decoding: $0, as: UTF8.self) } ?? ""
        let name = text.nonBlank ?? "column_\(index + 1)"
        var unique = name
        var number = numbers[name.lowercased()] ?? 2
        while !used.insert(unique.lowercased()).inserted {
          unique = "\(name)_\(number)"
          number += 1
          numbers[name.lowercased()] = number
        }
        return unique
      }
    }

    /// Replaces the escapes in the value that is about to end, if each of its backslashes begins one.
    fileprivate mutating func replaceEscapes() {
      guard let start = bytes[(ends.last ?? 0)...].firstIndex(of: UInt8(ascii: "\\")) else {
        return
      }
      var text: [UInt8] = []
      var index = start
      while index < bytes.count {
        let byte = bytes[index]
        index += 1
        guard byte == UInt8(ascii: "\\") else {
          text.append(byte)
          continue
        }
        guard index < bytes.count else { return }
        switch bytes[index] {
        case UInt8(ascii: "\\"): text.append(byte)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "x"):
          guard index + 2 < bytes.count, let high = bytes[index + 1].hexDigit,
            let low = bytes[index + 2].hexDigit
          else { return }
          text.append(high << 4 | low)
          index += 2
        default: return
        }
        index += 1
      }
      // Half of a character is no escape of ours.
      guard String(validating: text, as: UTF8.self) != nil else { return }
      bytes.replaceSubrange(start..., with: text)
    }

    fileprivate mutating func removeAll(at line: Int) {
      bytes.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
      areQuoted.removeAll(keepingCapacity: true)
      self.line = line
    }
  }

  private enum State { case start, unquoted, quoted, afterQuote, afterQuotedReturn }

  /// The values of the record that was read last.
  package private(set) var values = Values()

  /// The number of the line that is being read, from 1.
  package private(set) var line = 1

  private let separator: UInt8
  private let maxSize: Int
  private let replacesEscapes: Bool
  private var state = State.start
  private var quoteLine = 0
  private var isRecordComplete = true

  /// - Parameters:
  ///   - maxSize: The most bytes of a record.
  ///   - replacesEscapes: True if `\t`, `\n`, `\r`, `\\` and `\xNN` in a value without quotes are the characters, or bytes of
  ///     UTF-8, that they stand for, as this program writes TSV; a value with any other backslash is left as it is.
  package init(separator: UInt8, maxSize: Int, replacesEscapes: Bool = false) {
    self.separator = separator
    self.maxSize = maxSize
    self.replacesEscapes = replacesEscapes
  }

  /// Reads a record into ``values``; false if the rest of the text belongs to one that is not complete.
  package mutating func next(
    in text: [UInt8], from position: inout Int
  ) throws(FormatError) -> Bool {
    if isRecordComplete {
      values.removeAll(at: line)
      isRecordComplete = false
    }
    while position < text.count {
      let byte = text[position]
      switch state {
      case .start where byte == Self.quote:
        (state, quoteLine) = (.quoted, line)
      case .start, .unquoted:
        guard byte == separator || byte == Self.lineFeed else {
          let end = text.firstIndex(ofEither: separator, or: Self.lineFeed, from: position)
          try append(text[position..<end])
          state = .unquoted
          position = end
          continue
        }
        if byte == Self.lineFeed, state == .unquoted, values.bytes.last == Self.carriageReturn {
          // The break is that of Windows.
          values.bytes.removeLast()
        }
        endValue(isQuoted: false)
        if byte == Self.lineFeed, endRecord() {
          position += 1
          return true
        }
      case .quoted:
        guard byte == Self.quote else {
          let end = text.firstIndex(ofEither: Self.quote, or: Self.quote, from: position)
          line += text[position..<end].count { $0 == Self.lineFeed }
          try append(text[position..<end])
          position = end
          continue
        }
        state = .afterQuote
      case .afterQuote where byte == Self.quote:
        try append([Self.quote])
        state = .quoted
      case .afterQuote where byte == Self.carriageReturn: state = .afterQuotedReturn
      case .afterQuote where byte == separator: endValue(isQuoted: true)
      case .afterQuote, .afterQuotedReturn:
        guard byte == Self.lineFeed else {
          throw .invalid("text after a closing quote", line: line)
        }
        endValue(isQuoted: true)
        if endRecord() {
          position += 1
          return true
        }
      }
      position += 1
    }
    return false
  }

  /// Reads the last record, which no line break ends; false if there is none.
  package mutating func finish() throws(FormatError) -> Bool {
    switch state {
    case _ where isRecordComplete: return false
    case .quoted: throw .invalid("a quote is not closed", line: quoteLine)
    case .start where values.count == 0: return false
    case .afterQuote, .afterQuotedReturn: endValue(isQuoted: true)
    case .start, .unquoted: endValue(isQuoted: false)
    }
    return endRecord()
  }

  private mutating func endValue(isQuoted: Bool) {
    if !isQuoted, replacesEscapes { values.replaceEscapes() }
    values.ends.append(values.bytes.count)
    values.areQuoted.append(isQuoted)
    state = .start
  }

  /// Ends the record; false if it is an empty line.
  private mutating func endRecord() -> Bool {
    line += 1
    guard values.count > 1 || values[0] != nil else {
      values.removeAll(at: line)
      return false
    }
    isRecordComplete = true
    return true
  }

  private mutating func append(_ bytes: some Collection<UInt8>) throws(FormatError) {
    guard values.bytes.count + bytes.count <= maxSize else {
      throw .invalid("the row is larger than \(maxSize >> 20) MB", line: values.line)
    }
    values.bytes += bytes
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}

extension [UInt8] {
  /// The index of the first of two bytes from a position on; the end for none.
  fileprivate func firstIndex(ofEither byte: UInt8, or other: UInt8, from position: Int) -> Int {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return 0 }
      func index(of byte: UInt8, in range: Range<Int>) -> Int {
        let found = memchr(base + range.lowerBound, Int32(byte), range.count)
        return found.map { UnsafeRawPointer($0) - base } ?? range.upperBound
      }
      // In pieces, because one of them may be far away.
      var start = position
      while start < count {
        let end = Swift.min(start + 256, count)
        let found = index(of: other, in: start..<index(of: byte, in: start..<end))
        if found < end { return found }
        start = end
      }
      return count
    }
  }
}
