import AggregatorKit
import AggregatorTerminal

/// Turns screens into the output that changes one into the next.
package struct ScreenWriter {
  /// Removes the pictures of kitty's protocol, which stay where text is written.
  static let kittyRemoval = "\u{1B}_Ga=d,d=A,q=2\u{1B}\\"

  private var shown: Screen?
  private var hasDrawnKitty = false
  /// The rows of the running frame that were erased as a whole, and pixels in them with it.
  private var erased: Set<Int> = []

  package init() {}

  /// Forgets what the terminal shows.
  package mutating func reset() { shown = nil }

  /// The output that shows a screen; empty if it is shown.
  package mutating func frame(_ screen: Screen) -> String {
    var output = ""
    let isNew = shown?.width != screen.width || shown?.height != screen.height
    if isNew { output = "\u{1B}[0m\u{1B}[2J" }
    let blank = Screen(width: screen.width, height: screen.height)
    var before = isNew ? blank : shown ?? blank
    let isMoved = before.pixels != screen.pixels
    if isNew || isMoved, hasDrawnKitty {
      output += Self.kittyRemoval
      hasDrawnKitty = false
    }
    // Other pictures are removed by what is written over them.
    if isMoved, let old = before.pixels, old.picture.format != .kitty { before.forget(old.area) }
    erased = []
    for row in 0..<screen.height where before.row(row) != screen.row(row) {
      write(Array(screen.row(row)), over: Array(before.row(row)), row, to: &output)
    }
    if let pixels = screen.pixels { draw(pixels, isNew: isNew || isMoved, to: &output) }
    shown = screen
    guard !output.isEmpty else { return "" }
    // Terminals that know mode 2026 show all of it at once.
    return "\u{1B}[?2026h\(output)\u{1B}[0m\u{1B}[?2026l"
  }

  private mutating func draw(_ pixels: Screen.Pixels, isNew: Bool, to output: inout String) {
    let (picture, area) = (pixels.picture, pixels.area)
    let isErased = picture.format != .kitty && erased.contains { area.row..<area.endRow ~= $0 }
    guard isNew || isErased else { return }
    output += "\u{1B}[\(area.row + 1);\(area.column + 1)H"
    for (index, line) in picture.lines.enumerated() {
      let isFirst = picture.format == .kitty && index == 0
      // The cursor stays, and the terminal answers nothing.
      output += isFirst ? "\u{1B}_GC=1,q=2,\(line.dropFirst(3))" : line
    }
    hasDrawnKitty = hasDrawnKitty || picture.format == .kitty
  }

  private mutating func write(
    _ cells: [Screen.Cell], over before: [Screen.Cell], _ row: Int, to output: inout String
  ) {
    // A terminal may draw such characters wider or narrower, and change the cells beside them.
    let isUncertain = (cells + before).contains { $0.character?.hasUncertainWidth == true }
    if isUncertain {
      output += "\u{1B}[\(row + 1);1H\u{1B}[0m\u{1B}[2K"
      erased.insert(row)
    }
    let old = isUncertain ? Array(repeating: .blank, count: cells.count) : before
    var style: CellStyle?
    var next: Int?
    for column in cells.indices where cells[column] != old[column] {
      guard let character = cells[column].character else {
        // Its left part may be the same in another style.
        continue
      }
      if next != column { output += "\u{1B}[\(row + 1);\(column + 1)H" }
      if style != cells[column].style {
        let codes = cells[column].style.codes
        output += codes.isEmpty ? "\u{1B}[0m" : "\u{1B}[0;\(codes)m"
        style = cells[column].style
      }
      output.append(character)
      next = character.isCertainlyNarrow ? column + 1 : nil
    }
  }
}

extension Character {
  fileprivate var isCertainlyNarrow: Bool {
    guard let scalar = unicodeScalars.first, unicodeScalars.count == 1 else { return false }
    return 0x20..<0x7F ~= scalar.value || 0x2500...0x259F ~= scalar.value
  }

  fileprivate var hasUncertainWidth: Bool {
    if isCertainlyNarrow { return false }
    return unicodeScalars.count > 1 || displayWidth != 1
  }
}
