import AggregatorCore
package import AggregatorFoundation
import AggregatorText

/// Turns the records of CSV, TSV or NDJSON into JSON, as the text arrives.
package struct RowReader: Sendable {
  /// Larger records are refused.
  package static let maxRecordSize = 4 << 20
  private static let maxColumns = 4096

  private enum Reader: Sendable {
    case delimited(DelimitedReader, columns: Columns?)
    case lines
  }

  fileprivate struct Columns: Sendable {
    let names: [String]
    /// The names as JSON.
    let keys: [[UInt8]]
    /// The fewest values of a row, which may lack those of columns without names at its end.
    let minCount: Int

    init(_ head: DelimitedReader.Values) {
      names = head.names
      keys = names.map { Array(JSON.string($0).text.utf8) }
      minCount = (0..<head.count).last { head[$0]?.isEmpty == false }.map { $0 + 1 } ?? head.count
    }
  }

  private var reader: Reader
  /// The beginning of a line of NDJSON, of which the rest has not arrived.
  private var line: [UInt8] = []
  /// The number of that line, from 1.
  private var lineNumber = 1

  /// - Parameter head: The first bytes of the text, of which the first line tells what separates its values.
  /// - Throws: ``FormatError`` for a table whose head is not text.
  package init(_ format: BodyFormat, head: some Collection<UInt8>) throws(FormatError) {
    guard !head.isDatabase else { throw .database }
    guard !format.isTable || !head.isBinary else {
      throw FormatError(.invalid, "it is binary, or in an encoding other than UTF-8")
    }
    guard format != .csv || !head.isMarkdown else {
      throw FormatError(.invalid, "it is a Markdown table: export it as CSV or NDJSON instead")
    }
    switch format {
    case .csv, .xml:
      reader = .delimited(
        DelimitedReader(separator: head.csvSeparator, maxSize: Self.maxRecordSize), columns: nil)
    case .tsv:
      reader = .delimited(
        DelimitedReader(separator: UInt8(ascii: "\t"), maxSize: Self.maxRecordSize), columns: nil)
    case .ndjson: reader = .lines
    }
  }

  /// The names of the columns; `nil` if the first line has not been read, and for NDJSON.
  package var columns: [String]? {
    if case .delimited(_, let columns) = reader { columns?.names } else { nil }
  }

  /// Reads records until the text ends, or there are as many rows as wanted.
  ///
  /// - Parameter rows: Gets an object for each record, and null for one that cannot be read.
  package mutating func read(
    _ text: [UInt8], from position: inout Int, into rows: inout JSONRows, upTo limit: Int = .max
  ) throws(FormatError) {
    switch reader {
    case .delimited(var delimited, var columns):
      // The copy in the enumeration would make each change a copy.
      reader = .lines
      defer { reader = .delimited(delimited, columns: columns) }
      while rows.count < limit, try delimited.next(in: text, from: &position) {
        try Self.take(delimited.values, &columns, into: &rows)
      }
    case .lines:
      while rows.count < limit, position < text.count {
        let end = text[position...].firstIndex(of: UInt8(ascii: "\n"))
        guard line.count + (end ?? text.count) - position <= Self.maxRecordSize else {
          throw FormatError(
            .invalid, "record \(rows.count + 1): larger than \(Self.maxRecordSize >> 20) MB")
        }
        line += text[position..<(end ?? text.count)]
        position = end.map { $0 + 1 } ?? text.count
        guard end != nil else { return }
        rows.append(line: line, number: lineNumber)
        line.removeAll(keepingCapacity: true)
        lineNumber += 1
      }
    }
  }

  /// Reads the last record, which no line break ends.
  ///
  /// - Parameter passed: The number of rows that are in `rows` no more.
  /// - Returns: The reason the text seems to be cut off; `nil` if it does not.
  /// - Throws: ``FormatError`` also for a table without rows and with one column: any line of text could be that.
  package mutating func finish(
    after passed: Int, into rows: inout JSONRows
  ) throws(FormatError) -> String? {
    let cut = try readLast(into: &rows)
    guard columns != nil || cut != nil || !isDelimited else {
      throw FormatError(.invalid, "the file is empty")
    }
    guard passed + rows.count > 0 || columns?.count ?? 0 > 1 || !isDelimited else {
      throw .invalid("there is neither a row nor more than one column", line: 1)
    }
    return cut
  }

  private var isDelimited: Bool { if case .delimited = reader { true } else { false } }

  private mutating func readLast(into rows: inout JSONRows) throws(FormatError) -> String? {
    switch reader {
    case .delimited(var delimited, var columns):
      do {
        guard try delimited.finish() else { return nil }
      } catch {
        return error.description
      }
      if let columns, delimited.values.count < columns.minCount {
        return "the last line has \(delimited.values.count) of \(columns.names.count) values"
      }
      try Self.take(delimited.values, &columns, into: &rows)
      reader = .delimited(delimited, columns: columns)
      return nil
    case .lines:
      defer { line = [] }
      guard JSONText(Data(line)) != nil || line.allSatisfy({ $0 <= 0x20 }) else {
        return "the last line is not a whole JSON value"
      }
      rows.append(line: line, number: lineNumber)
      return nil
    }
  }

  private static func take(
    _ values: DelimitedReader.Values, _ columns: inout Columns?, into rows: inout JSONRows
  ) throws(FormatError) {
    guard let known = columns else {
      guard values.count <= maxColumns else {
        throw FormatError(.invalid, "\(values.count) columns (maximum \(maxColumns))")
      }
      return columns = Columns(values)
    }
    rows.append(values, in: known)
  }
}

/// Rows as the text of a JSON array.
package struct JSONRows: Sendable {
  private var bytes: [UInt8] = [UInt8(ascii: "[")]
  package private(set) var count = 0

  /// The reason the first of the rows that are null cannot be read, with its line; `nil` if all can be.
  package private(set) var fault: String?

  /// True to count rows only, which takes a fraction of the time.
  package var isCounting = false

  package init() {}

  /// The bytes of the text.
  package var size: Int { bytes.count + 1 }

  package var json: Data { Data(bytes + [UInt8(ascii: "]")]) }

  package mutating func removeAll() {
    bytes.removeSubrange(1...)
    (count, fault) = (0, nil)
  }

  /// Begins a row; false if it is only counted.
  private mutating func begin() -> Bool {
    count += 1
    if !isCounting, count > 1 { bytes.append(UInt8(ascii: ",")) }
    return !isCounting
  }

  fileprivate mutating func append(line: [UInt8], number: Int) {
    guard line.contains(where: { $0 > 0x20 }), begin() else { return }
    // A byte order mark is allowed before a text only.
    let isMarked = line.starts(with: [0xEF, 0xBB, 0xBF])
    if isMarked || JSONText(Data(line)) == nil {
      appendNull(because: "line \(number) is not JSON")
    } else {
      bytes += line
    }
  }

  /// Appends a record; a record with more values than columns is none.
  fileprivate mutating func append(_ values: DelimitedReader.Values, in columns: RowReader.Columns)
  {
    guard begin() else { return }
    guard (columns.minCount...columns.keys.count).contains(values.count) else {
      let columns = columns.keys.count.of("column")
      return appendNull(
        because: "line \(values.line) has \(values.count.of("value")) for \(columns)")
    }
    bytes.append(UInt8(ascii: "{"))
    for index in 0..<values.count {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += columns.keys[index]
      bytes.append(UInt8(ascii: ":"))
      if let value = values[index] { append(string: value) } else { bytes += "null".utf8 }
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private mutating func appendNull(because reason: String) {
    bytes += "null".utf8
    fault = fault ?? reason
  }

  private mutating func append(string: ArraySlice<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    if string.withUnsafeBytes({ $0.firstEscaped() < $0.count }) {
      for byte in string {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case ..<0x20:
          let digits = Array("0123456789abcdef".utf8)
          bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default: bytes.append(byte)
        }
      }
    } else {
      bytes += string
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension Collection<UInt8> {
  /// True for a NUL, and for more control characters than a text has, of which a few may be by mistake.
  fileprivate var isBinary: Bool {
    let controls = count { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B }
    return contains(0) || controls * 20 > Swift.max(count, 80)
  }

  /// True for a table in Markdown, whose second line has nothing but lines and colons: `| ---: | --- |`.
  fileprivate var isMarkdown: Bool {
    guard csvSeparator == UInt8(ascii: "|") else { return false }
    let line = drop { $0 != UInt8(ascii: "\n") }.dropFirst().prefix { $0 != UInt8(ascii: "\n") }
    return line.contains(UInt8(ascii: "-")) && line.allSatisfy { "|-: \r".utf8.contains($0) }
  }

  /// The separator of the names in the first line: a comma, or what there is more of: semicolons, tabs or `|`.
  package var csvSeparator: UInt8 {
    let line = prefix { $0 != UInt8(ascii: "\n") }
    let comma = UInt8(ascii: ",")
    return [comma, UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]
      .max { one, other in line.count { $0 == one } < line.count { $0 == other } } ?? comma
  }
}
