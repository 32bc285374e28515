import AggregatorTerminal
import Testing

/// The screen of a terminal that understands what `browse` writes, from the beginning of its output.
struct EmulatedScreen {
  private(set) var isAlternate = false

  private var cells: [[Character?]]
  private var row = 0
  private var column = 0
  private var bytes: [UInt8] = []

  init(width: Int = 80, height: Int = 24) {
    cells = Array(repeating: Array(repeating: " ", count: width), count: height)
  }

  var text: String {
    cells.map { String($0.compactMap(\.self)) }.joined(separator: "\n")
  }

  /// Reads output, whose end may be in the middle of a sequence.
  mutating func take(_ output: [UInt8]) {
    bytes += output
    // What is cut is read with what follows.
    let end = bytes.lastIndex { $0 == 0x1B }.map { last in
      bytes[last...].contains { 0x40...0x7E ~= $0 && $0 != UInt8(ascii: "[") }
        ? bytes.endIndex : last
    }
    let complete = bytes[..<(end ?? bytes.endIndex)]
    var rest = String(decoding: complete, as: UTF8.self)[...]
    bytes.removeFirst(complete.count)
    while let character = rest.popFirst() {
      guard character == "\u{1B}" else {
        put(character)
        continue
      }
      switch rest.popFirst() {
      case "[":
        let parameters = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(parameters.count)
        obey(rest.popFirst(), parameters)
      case "]": rest = rest.drop { $0 != "\u{7}" }.dropFirst()
      default: break
      }
    }
  }

  private mutating func put(_ character: Character) {
    let width = character.displayWidth
    guard cells.indices.contains(row), column + width <= cells[row].count else { return }
    cells[row][column] = character
    for part in 1..<max(1, width) { cells[row][column + part] = nil }
    column += width
  }

  private mutating func obey(_ command: Character?, _ parameters: Substring) {
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    switch command {
    case "H": (row, column) = ((numbers.first ?? 1) - 1, (numbers.dropFirst().first ?? 1) - 1)
    case "J": for row in cells.indices { erase(row) }
    case "K": erase(row)
    case "h" where parameters == "?1049": isAlternate = true
    case "l" where parameters == "?1049": isAlternate = false
    default: break
    }
  }

  private mutating func erase(_ row: Int) {
    guard cells.indices.contains(row) else { return }
    cells[row] = Array(repeating: " ", count: cells[row].count)
  }
}

extension PseudoTerminal {
  /// Reads output until the screen contains a text; returns the screen.
  @discardableResult
  func wait(for text: String, on screen: inout EmulatedScreen) async -> String {
    let end = ContinuousClock.now + .seconds(600)
    while !screen.text.contains(text), ContinuousClock.now < end {
      screen.take(await shown(within: 1000))
    }
    #expect(screen.text.contains(text), "\(screen.text)")
    return screen.text
  }
}
