import AggregatorKit
import AggregatorTerminal

/// A rectangle of cells.
package struct Area: Equatable, Sendable {
  package var column: Int
  package var row: Int
  package var width: Int
  package var height: Int

  package init(_ column: Int, _ row: Int, _ width: Int, _ height: Int) {
    self.column = column
    self.row = row
    self.width = max(0, width)
    self.height = max(0, height)
  }

  package var endColumn: Int { column + width }
  package var endRow: Int { row + height }

  func contains(_ column: Int, _ row: Int) -> Bool {
    self.column..<endColumn ~= column && self.row..<endRow ~= row
  }
}

/// The appearance of a cell: parameters of SGR (ECMA-48).
package struct CellStyle: Equatable, Sendable {
  fileprivate(set) var codes: String

  package static let plain = CellStyle(codes: "")

  init(codes: String) { self.codes = codes }

  func adding(_ other: CellStyle) -> CellStyle {
    if codes.isEmpty { return other }
    return other.codes.isEmpty ? self : CellStyle(codes: "\(codes);\(other.codes)")
  }
}

/// The content of a terminal: a value, which is compared with the one before.
///
/// Text enters it only through ``put(_:at:_:width:_:)``, which sanitizes it and cuts it to its place: no record can
/// write outside its cells.
package struct Screen: Equatable, Sendable {
  package struct Cell: Equatable, Sendable {
    /// `nil` for the right part of a wide character.
    var character: Character?
    var style = CellStyle.plain

    static let blank = Cell(character: " ")
  }

  /// A picture of pixels, over cells that are blank.
  package struct Pixels: Equatable, Sendable {
    let picture: Picture
    /// No larger than its place.
    let area: Area
  }

  package let width: Int
  package let height: Int
  private(set) var cells: [Cell]
  private(set) var pixels: Pixels?

  package init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
    cells = Array(repeating: .blank, count: self.width * self.height)
  }

  package var area: Area { Area(0, 0, width, height) }

  func row(_ row: Int) -> ArraySlice<Cell> { cells[row * width..<(row + 1) * width] }

  /// Writes a line of text from a cell on, cut to `width` cells and to the screen; returns the cells that it takes.
  @discardableResult
  package mutating func put(
    _ text: String, at column: Int, _ row: Int, width limit: Int, _ style: CellStyle = .plain
  ) -> Int {
    guard 0..<height ~= row, 0..<width ~= column else { return 0 }
    let room = min(limit, width - column)
    guard room > 0 else { return 0 }
    var end = column
    for character in text.safeLine.fitted(to: room) {
      let count = character.displayWidth
      guard count > 0, end + count <= column + room else { continue }
      put(character, count, at: end, row, style)
      end += count
    }
    return end - column
  }

  private mutating func put(
    _ character: Character, _ count: Int, at column: Int, _ row: Int, _ style: CellStyle
  ) {
    let start = row * width
    // The rest of a wide character that is overwritten in part.
    var first = column
    while first > 0, cells[start + first].character == nil {
      first -= 1
      cells[start + first].character = " "
    }
    var after = column + count
    while after < width, cells[start + after].character == nil {
      cells[start + after].character = " "
      after += 1
    }
    cells[start + column] = Cell(character: character, style: style)
    for part in 1..<max(1, count) {
      cells[start + column + part] = Cell(character: nil, style: style)
    }
  }

  /// Adds a style to what is in an area.
  package mutating func add(_ style: CellStyle, to area: Area) {
    for row in (area.row..<area.endRow).clamped(to: 0..<height) {
      for column in (area.column..<area.endColumn).clamped(to: 0..<width) {
        let index = row * width + column
        cells[index].style = cells[index].style.adding(style)
      }
    }
  }

  package mutating func clear(_ area: Area) {
    for row in (area.row..<area.endRow).clamped(to: 0..<height) {
      for column in (area.column..<area.endColumn).clamped(to: 0..<width) {
        put(" ", 1, at: column, row, .plain)
      }
    }
  }

  /// Draws a picture at the beginning of an area, unless it is larger.
  mutating func draw(_ picture: Picture, in area: Area) {
    let size = picture.size
    guard picture.format != .symbols else { return draw(symbols: picture, in: area) }
    guard size.columns <= area.width, size.rows <= area.height, area.endColumn <= width,
      area.endRow < height
    else { return }
    pixels = Pixels(
      picture: picture, area: Area(area.column, area.row, size.columns, size.rows))
  }

  /// Draws a picture of block elements, whose lines contain SGR sequences and nothing else.
  private mutating func draw(symbols picture: Picture, in area: Area) {
    for (index, line) in picture.lines.prefix(area.height).enumerated() {
      var style = CellStyle.plain
      var column = area.column
      var rest = line[...]
      while let character = rest.popFirst(), column < min(area.endColumn, width) {
        if character == "\u{1B}" {
          let codes = rest.dropFirst().prefix { $0 != "m" }
          rest = rest[codes.endIndex...].dropFirst()
          let isReset = codes.isEmpty || codes.hasPrefix("0")
          style = (isReset ? .plain : style).adding(
            CellStyle(codes: String(isReset ? codes.drop { $0 == "0" || $0 == ";" } : codes)))
          continue
        }
        if 0..<height ~= area.row + index { put(character, 1, at: column, area.row + index, style) }
        column += 1
      }
    }
  }

  /// Makes the cells of an area differ from any other, because the terminal may show something else there.
  mutating func forget(_ area: Area) {
    for row in (area.row..<area.endRow).clamped(to: 0..<height) {
      for column in (area.column..<area.endColumn).clamped(to: 0..<width) {
        cells[row * width + column] = Cell(character: nil, style: CellStyle(codes: "?"))
      }
    }
  }

  /// The rows as text, without spaces at their ends.
  package var lines: [String] {
    (0..<height).map { number in
      var line = String(row(number).compactMap(\.character))
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
