import AggregatorFiles
import AggregatorKit
import AggregatorTerminal

/// A reader of CSV (RFC 4180) or tab-separated values, one record at a time.
///
/// It accepts a byte order mark, line breaks of Windows, and quotes within an unquoted value. Empty lines are
/// skipped.
struct SeparatedReader: ~Copyable {
  /// A record's values, one after the other.
  struct Values {
    fileprivate(set) var bytes: [UInt8] = []
    fileprivate var ends: [Int] = []
    fileprivate var areQuoted: [Bool] = []

    /// The number of the first line.
    fileprivate(set) var line = 0

    var count: Int { ends.count }

    /// The UTF-8 text of a value; `nil` if it is missing: empty and not in quotes.
    subscript(index: Int) -> ArraySlice<UInt8>? {
      let start = index == 0 ? 0 : ends[index - 1]
      return start == ends[index] && !areQuoted[index] ? nil : bytes[start..<ends[index]]
    }
  }

  private let source: NamedFile
  private let file: OpenFile
  private let separator: UInt8
  private let maxSize: Int
  private let time: QueryTime
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)
  private var next = 0
  private var end = 0
  private var line = 1
  private var isAtStart = true

  /// - Parameter maxSize: The most bytes of a record.
  init(
    _ source: NamedFile, separator: Character, maxSize: Int, within time: QueryTime
  ) throws(CommandError) {
    let opened = try source.open()
    self.source = source
    self.separator = separator.asciiValue ?? UInt8(ascii: ",")
    self.maxSize = maxSize
    self.time = time
    file = opened
  }

  /// Reads the next record; false at the end.
  mutating func read(_ values: inout Values) throws(CommandError) -> Bool {
    if isAtStart {
      isAtStart = false
      try fill()
      if chunk[..<end].starts(with: [0xEF, 0xBB, 0xBF]) { next = 3 }
    }
    repeat {
      values.bytes.removeAll(keepingCapacity: true)
      values.ends.removeAll(keepingCapacity: true)
      values.areQuoted.removeAll(keepingCapacity: true)
      values.line = line
      guard try peek() != nil else { return false }
      while try readValue(&values) {}
    } while values.count == 1 && values[0] == nil
    // Most files are ASCII.
    let isASCII = values.bytes.allSatisfy { $0 < 0x80 }
    guard isASCII || String(validating: values.bytes, as: UTF8.self) != nil else {
      var error = source.malformed("invalid UTF-8", at: values.line)
      error.hint = "convert it first, for example with iconv -f latin1 -t utf-8"
      throw error
    }
    return true
  }

  /// Reads a value and what separates it from the next one; false for the last of a record.
  private mutating func readValue(_ values: inout Values) throws(CommandError) -> Bool {
    let isQuoted = try peek() == Self.quote
    if isQuoted { try readQuoted(&values) }
    var isEmpty = true
    while true {
      let byte = try peek()
      next += byte == nil ? 0 : 1
      switch byte {
      case separator?, nil, Self.lineFeed?:
        if byte == Self.lineFeed {
          line += 1
          // The break is that of Windows.
          if !isEmpty, values.bytes.last == Self.carriageReturn { values.bytes.removeLast() }
        }
        values.ends.append(values.bytes.count)
        values.areQuoted.append(isQuoted)
        return byte == separator
      case let byte? where isQuoted:
        let following = try peek()
        guard byte == Self.carriageReturn, following == Self.lineFeed || following == nil else {
          throw source.malformed("text after a closing quote", at: line)
        }
      case let byte?:
        isEmpty = false
        try append(byte, to: &values)
      }
    }
  }

  private mutating func readQuoted(_ values: inout Values) throws(CommandError) {
    let start = line
    next += 1
    while true {
      guard let byte = try peek() else {
        throw source.malformed("a quote is not closed", at: start)
      }
      next += 1
      if byte == Self.quote {
        guard try peek() == Self.quote else { return }
        next += 1
      }
      if byte == Self.lineFeed { line += 1 }
      try append(byte, to: &values)
    }
  }

  private func append(_ byte: UInt8, to values: inout Values) throws(CommandError) {
    guard values.bytes.count < maxSize else {
      throw source.malformed("the row is larger than \(maxSize >> 20) MB", at: values.line)
    }
    values.bytes.append(byte)
  }

  /// The next byte, which stays the next one; `nil` at the end.
  private mutating func peek() throws(CommandError) -> UInt8? {
    if next == end { try fill() }
    return next < end ? chunk[next] : nil
  }

  private mutating func fill() throws(CommandError) {
    next = 0
    end = 0
    do throws(SystemFailure) {
      while time.left > .zero {
        guard file.waitForInput(within: time.left) else { continue }
        do throws(SystemFailure) {
          let descriptor = file.descriptor
          end = try SystemFailure.check {
            AggregatorFoundation.read(descriptor, &chunk, chunk.count)
          }
          return
        } catch let error where error.code == EAGAIN {
          // Another reader of the pipe was first.
        }
      }
    } catch {
      throw source.unreadable(error.words)
    }
    throw source.timedOut
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
