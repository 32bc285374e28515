/// Readers that forgive nothing.
enum SeparatedText {
  /// The rows of CSV (RFC 4180), without a header.
  ///
  /// - Parameter text: The text.
  /// - Returns: The cells of each row.
  /// - Throws: ``BrokenPromise`` for a quote where none may be.
  static func csv(_ text: String) throws -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var rest = Array(text.unicodeScalars)[...]
    while true {
      row.append(try cell(&rest))
      switch rest.popFirst() {
      case ",": continue
      case nil: return rows + [row]
      case "\r":
        guard rest.popFirst() == "\n" else { throw BrokenPromise("a CR without its LF") }
        rows.append(row)
        row = []
        if rest.isEmpty { return rows }
      default: throw BrokenPromise("something stands behind a quoted cell")
      }
    }
  }

  private static func cell(_ rest: inout ArraySlice<Unicode.Scalar>) throws -> String {
    var cell = String.UnicodeScalarView()
    guard rest.first == "\"" else {
      while let scalar = rest.first, scalar != ",", scalar != "\r" {
        guard scalar != "\"", scalar != "\n" else { throw BrokenPromise("a bare quote or LF") }
        cell.append(rest.removeFirst())
      }
      return String(cell)
    }
    rest.removeFirst()
    while let scalar = rest.popFirst() {
      if scalar == "\"" {
        guard rest.first == "\"" else { return String(cell) }
        rest.removeFirst()
      }
      cell.append(scalar)
    }
    throw BrokenPromise("a quote is never closed")
  }

  /// The bytes that a cell of our TSV stands for.
  ///
  /// - Parameter text: The cell.
  /// - Returns: The bytes.
  /// - Throws: ``BrokenPromise`` for a tab, a line break or an escape that is none.
  static func unescaped(_ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        guard byte >= 0x20 else { throw BrokenPromise("a control character") }
        bytes.append(byte)
        continue
      }
      switch rest.popFirst().map({ Unicode.Scalar($0) }) {
      case "t": bytes.append(0x09)
      case "n": bytes.append(0x0A)
      case "r": bytes.append(0x0D)
      case "\\": bytes.append(0x5C)
      case "x":
        guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
          throw BrokenPromise("an escape without its digits")
        }
        rest = rest.dropFirst(2)
        bytes.append(value)
      default: throw BrokenPromise("an escape that is none")
      }
    }
    return bytes
  }
}
