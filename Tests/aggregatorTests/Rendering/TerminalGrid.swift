import AggregatorKit
import AggregatorTerminal

@testable import AggregatorProgramTesting

/// The screen of a terminal that understands printable text, line feeds, `CSI n G` and SGR, nothing
/// else.
struct TerminalGrid {
  /// One cell: a character, or the right half of the wide one before it (`nil`).
  typealias Cell = Character?

  /// The rows, each as long as its text.
  private(set) var rows: [[Cell]] = [[]]

  /// The escape sequences and controls that it does not support.
  private(set) var refused: [String] = []

  private var column = 0

  /// Shows the output of a program.
  ///
  /// - Parameter cells: The width of a character on this terminal.
  init(_ text: String, cells: (Character) -> Int = \.displayWidth) {
    var rest = text[...]
    while let character = rest.first {
      if let (sequence, parameter, final) = Self.sequence(at: rest) {
        rest = rest.dropFirst(sequence.count)
        switch final {
        case "G": column = (Int(parameter) ?? 1) - 1
        case "m": break
        default: refused.append(String(sequence))
        }
        continue
      }
      rest = rest.dropFirst()
      if character == "\n" {
        rows.append([])
        column = 0
      } else if character.unicodeScalars.contains(where: {
        $0.properties.generalCategory == .control
      }) {
        refused.append(String(character))
      } else {
        put(character, cells(character))
      }
    }
    if rows.last?.isEmpty == true { rows.removeLast() }
  }

  /// The rows as text, without spaces at their ends.
  var lines: [String] {
    rows.map { row in
      var line = String(row.compactMap(\.self))
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// The widest row, in cells.
  var width: Int { rows.map(\.count).max() ?? 0 }

  /// The column where `text` begins in a row, counted from 0.
  func column(of text: String, in row: Int) -> Int? {
    let cells = rows[row]
    let wanted = Array(text)
    return cells.indices.first { start in
      cells[start] != nil
        && Array(cells[start...].compactMap(\.self).prefix(wanted.count)) == wanted
    }
  }

  private mutating func put(_ character: Character, _ width: Int) {
    guard width > 0 else { return }
    let last = rows.count - 1
    while rows[last].count < column + width { rows[last].append(" ") }
    rows[last][column] = character
    for right in 1..<max(1, width) { rows[last][column + right] = nil }
    column += width
  }

  private static func sequence(
    at text: Substring
  ) -> (text: Substring, parameter: Substring, final: Character)? {
    guard text.hasPrefix("\u{1B}[") else { return nil }
    let parameter = text.dropFirst(2).prefix { $0.isASCII && ($0.isNumber || $0 == ";") }
    guard let final = text[parameter.endIndex...].first else { return nil }
    return (text.prefix(parameter.count + 3), parameter, final)
  }
}
