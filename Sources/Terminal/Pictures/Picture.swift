import AggregatorFoundation
import AggregatorText

/// A picture for a terminal, as another program printed it.
///
/// Bytes of an unknown image shaped the output of that program, so it is accepted only if it is a picture
/// and nothing else: no other escape sequence, no text, no larger than it should be.
package struct Picture: Hashable, Sendable {
  /// The ways to draw a picture, under the names that `chafa` has for them.
  package enum Format: String, CaseIterable, Sendable {
    /// https://sw.kovidgoyal.net/kitty/graphics-protocol
    case kitty
    /// https://iterm2.com/documentation-images.html
    case iterm
    /// Pixels in columns of six, as on the VT340.
    case sixels
    /// Block elements (U+2580 to U+259F), one a cell.
    case symbols
  }

  /// A size in cells.
  package struct Size: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }

    fileprivate init?(_ columns: Int?, _ rows: Int?, within limit: Size) {
      guard let columns, let rows, 1...max(1, limit.columns) ~= columns,
        1...max(1, limit.rows) ~= rows
      else { return nil }
      self.init(columns: columns, rows: rows)
    }
  }

  package let format: Format

  package let size: Size

  /// Without line breaks: a line for each row of symbols, or one escape sequence after another for pixels.
  package let lines: [String]

  /// Reads a picture; `nil` for anything else, or if it is larger than `limit`.
  ///
  /// - Parameter cell: The size of a cell in pixels, without which sixels have no size.
  package init?(
    _ bytes: [UInt8], as format: Format, within limit: Size, cell: (width: Int, height: Int)? = nil
  ) {
    var reader = PictureReader(bytes)
    let read =
      switch format {
      case .symbols: reader.symbols()
      case .kitty: reader.kitty()
      case .iterm: reader.iterm()
      case .sixels: reader.sixels(cell)
      }
    guard let read, let size = Size(read.columns, read.rows, within: limit) else { return nil }
    self.format = format
    self.size = size
    lines = read.lines
  }
}

/// Reads the escape sequences and symbols of a ``Picture``.
struct PictureReader {
  /// The lines of a picture, and its size in cells as far as it is known.
  typealias Content = (lines: [String], columns: Int?, rows: Int?)

  private var rest: ArraySlice<UInt8>

  private static let escape: UInt8 = 0x1B

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Lines of block elements, all of one width, in colors (SGR).
  mutating func symbols() -> Content? {
    var lines: [String] = []
    var (line, width, widths) = ("", 0, Set<Int>())
    func end() {
      // No color may leak into other text.
      lines.append(line.contains("\u{1B}") ? line + "\u{1B}[0m" : line)
      widths.insert(width)
      (line, width) = ("", 0)
    }
    while true {
      skipCursorVisibility()
      guard let byte = rest.first else { break }
      switch byte {
      case UInt8(ascii: "\n"):
        rest.removeFirst()
        end()
      case Self.escape:
        guard take("\u{1B}["), let numbers = text(while: { Self.isNumeric($0) }, atMost: 64),
          take("m")
        else { return nil }
        line += "\u{1B}[\(numbers)m"
      case UInt8(ascii: " "):
        rest.removeFirst()
        line += " "
        width += 1
      default:
        // U+2580 to U+259F in UTF-8.
        guard rest.starts(with: [0xE2, 0x96]), let last = rest.dropFirst(2).first,
          0x80...0x9F ~= last, let scalar = Unicode.Scalar(0x2500 + UInt32(last))
        else { return nil }
        rest = rest.dropFirst(3)
        line.unicodeScalars.append(scalar)
        width += 1
      }
    }
    if width > 0 { end() }
    guard let width = widths.first, widths.count == 1 else { return nil }
    return (lines, width, lines.count)
  }

  /// Commands that transmit and show one image in parts; none that reads a file.
  mutating func kitty() -> Content? {
    var lines: [String] = []
    var first: [String: String] = [:]
    while true {
      skipBlank()
      if rest.isEmpty { break }
      guard take("\u{1B}_G"), let control = text(while: { Self.isControl($0, ",") }, atMost: 256),
        let members = Self.members(control, separatedBy: ","),
        members.allSatisfy({ Self.isAllowed($0, isFirst: lines.isEmpty) })
      else { return nil }
      var line = "\u{1B}_G\(control)"
      if take(";") {
        guard let data = text(while: Self.isBase64) else { return nil }
        line += ";\(data)"
      }
      guard take("\u{1B}\\") else { return nil }
      if lines.isEmpty { first = members }
      lines.append(line + "\u{1B}\\")
    }
    guard first["a"] == "T" else { return nil }
    return (lines, first["c"].flatMap { Int($0) }, first["r"].flatMap { Int($0) })
  }

  /// One file that is shown in the line, not saved.
  mutating func iterm() -> Content? {
    skipBlank()
    guard take("\u{1B}]1337;File="),
      let control = text(while: { Self.isControl($0, ";") }, atMost: 256),
      let members = Self.members(control, separatedBy: ";"), members["inline"] == "1",
      members.keys.allSatisfy(
        ["inline", "width", "height", "size", "preserveAspectRatio"].contains),
      take(":"), let data = text(while: Self.isBase64), take("\u{7}")
    else { return nil }
    skipBlank()
    guard rest.isEmpty else { return nil }
    return (
      ["\u{1B}]1337;File=\(control):\(data)\u{7}"], members["width"].flatMap { Int($0) },
      members["height"].flatMap { Int($0) }
    )
  }

  /// One image that begins with its size in pixels.
  mutating func sixels(_ cell: (width: Int, height: Int)?) -> Content? {
    skipBlank()
    guard take("\u{1B}P"), let parameters = text(while: { Self.isNumeric($0) }, atMost: 64),
      take("q\""), let raster = text(while: { Self.isNumeric($0) }, atMost: 64),
      let data = text(while: Self.isSixel), take("\u{1B}\\")
    else { return nil }
    skipBlank()
    let numbers = raster.split(separator: ";").compactMap { Int($0) }
    guard rest.isEmpty, numbers.count == 4 else { return nil }
    func cells(_ pixels: Int, _ cell: Int?) -> Int? {
      cell.flatMap { $0 > 0 ? (pixels + $0 - 1) / $0 : nil }
    }
    return (
      ["\u{1B}P\(parameters)q\"\(raster)\(data)\u{1B}\\"], cells(numbers[2], cell?.width),
      cells(numbers[3], cell?.height)
    )
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// The ASCII bytes that fit; `nil` if there are more than allowed.
  private mutating func text(
    while fits: (UInt8) -> Bool, atMost limit: Int = .max
  ) -> String? {
    let bytes = rest.prefix(while: fits)
    guard bytes.count <= limit else { return nil }
    rest = rest[bytes.endIndex...]
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The cursor's visibility is not the picture's business.
  private mutating func skipCursorVisibility() {
    while take("\u{1B}[?25l") || take("\u{1B}[?25h") {}
  }

  private mutating func skipBlank() {
    repeat { skipCursorVisibility() } while take("\n") || take("\r")
  }

  private static func isNumeric(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || byte == UInt8(ascii: ";")
  }

  private static func isControl(_ byte: UInt8, _ separator: Unicode.Scalar) -> Bool {
    byte.isASCIIAlphanumeric || byte == UInt8(ascii: "=") || byte == UInt8(ascii: separator)
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "+/=".utf8.contains(byte)
  }

  private static func isSixel(_ byte: UInt8) -> Bool {
    isNumeric(byte) || 0x3F...0x7E ~= byte || "!\"#$-".utf8.contains(byte)
  }

  private static func members(_ text: String, separatedBy separator: Character) -> [String: String]?
  {
    var members: [String: String] = [:]
    for member in text.split(separator: separator, omittingEmptySubsequences: false) {
      let parts = member.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, members.updateValue(String(parts[1]), forKey: String(parts[0])) == nil
      else { return nil }
    }
    return members
  }

  /// A member of a kitty command: only the first one names the image's size and place.
  private static func isAllowed(_ member: (key: String, value: String), isFirst: Bool) -> Bool {
    switch member.key {
    case "a": isFirst && member.value == "T"
    case "t": isFirst && member.value == "d"
    case "f", "s", "v", "c", "r": isFirst && Int(member.value) != nil
    case "m", "q": Int(member.value) != nil
    default: false
    }
  }
}
