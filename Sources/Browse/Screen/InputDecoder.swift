import AggregatorKit

package enum Key: Hashable, Sendable {
  case character(Character)
  /// A letter with the control key.
  case control(Character)
  /// A character with the Alt key, which terminals send as an escape before it.
  case alt(Character)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, pageUp, pageDown, home, end
  case shiftUp, shiftDown, shiftLeft, shiftRight
}

package enum Input: Equatable, Sendable {
  case key(Key)
  /// In cells, from 0.
  case click(column: Int, row: Int)
  case wheel(column: Int, row: Int, isUp: Bool)
  case paste(String)
}

/// Reads keys, the mouse (SGR, mode 1006) and pasted text (mode 2004) from the bytes of a terminal.
///
/// Every sequence that it does not know is skipped as a whole, so that no part of it counts as keys.
package struct InputDecoder {
  private var bytes: ArraySlice<UInt8> = []
  private var isPasting = false
  private var pasted: [UInt8] = []
  /// True in a sequence that is longer than any known one, up to its end.
  private var isSkipping = false

  private static let escape: UInt8 = 0x1B
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  /// Nobody pastes more into a line.
  private static let maxPaste = 64 << 10
  private static let maxSequence = 64

  package init() {}

  /// True if the bytes so far may be the beginning of a sequence.
  package var isWaiting: Bool { !bytes.isEmpty && !isPasting }

  /// - Parameter isComplete: True if no more bytes followed in time, so that an escape is the key.
  package mutating func take(_ more: [UInt8], isComplete: Bool = false) -> [Input] {
    bytes = (bytes + more)[...]
    var inputs: [Input] = []
    while !bytes.isEmpty {
      if isPasting {
        guard let text = takePaste() else { break }
        inputs.append(.paste(text))
      } else if isSkipping {
        let end = bytes.firstIndex(where: Self.endsSequence)
        isSkipping = end == nil
        bytes = end.map { bytes[($0 + 1)...] } ?? []
      } else {
        guard let (input, count) = next(isComplete) else { break }
        bytes = bytes.dropFirst(count)
        if let input { inputs.append(input) }
      }
    }
    return inputs
  }

  private static func endsSequence(_ byte: UInt8) -> Bool { 0x40...0x7E ~= byte }

  /// The pasted text, once its end is there.
  private mutating func takePaste() -> String? {
    let end = bytes.firstRange(of: Self.pasteEnd)
    // The end may be cut.
    let text = bytes[
      ..<(end?.lowerBound ?? max(bytes.startIndex, bytes.endIndex - Self.pasteEnd.count))]
    pasted += text.prefix(Self.maxPaste - pasted.count)
    bytes = bytes[(end?.upperBound ?? text.endIndex)...]
    guard end != nil else { return nil }
    isPasting = false
    defer { pasted = [] }
    return String(decoding: pasted, as: UTF8.self)
  }

  /// The first input, `nil` for bytes without meaning, and the number of its bytes; `nil` if they are incomplete.
  private mutating func next(_ isComplete: Bool) -> (Input?, count: Int)? {
    guard let first = bytes.first else { return nil }
    switch first {
    case Self.escape: return sequence(isComplete)
    case 0x0D: return (.key(.enter), 1)
    case 0x09: return (.key(.tab), 1)
    case 0x7F, 0x08: return (.key(.backspace), 1)
    case 1...26:
      return (.key(.control(Character(Unicode.Scalar(first + 0x60)))), 1)
    case 0..<0x20: return (nil, 1)
    case 0x20..<0x7F: return (.key(.character(Character(Unicode.Scalar(first)))), 1)
    case 0xC2...0xF4:
      let count = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      guard bytes.count >= count else { return isComplete ? (nil, bytes.count) : nil }
      let text = String(validating: bytes.prefix(count), as: UTF8.self)
      return (text?.first.map { .key(.character($0)) }, text == nil ? 1 : count)
    default: return (nil, 1)
    }
  }

  private mutating func sequence(_ isComplete: Bool) -> (Input?, count: Int)? {
    let rest = bytes.dropFirst()
    switch rest.first {
    case nil: return isComplete ? (.key(.escape), 1) : nil
    case UInt8(ascii: "["):
      let parameters = rest.dropFirst().prefix(Self.maxSequence).prefix { !Self.endsSequence($0) }
      guard parameters.count < Self.maxSequence else {
        isSkipping = true
        return (nil, parameters.count + 2)
      }
      guard parameters.endIndex < bytes.endIndex else {
        return isComplete ? (nil, bytes.count) : nil
      }
      let final = Character(Unicode.Scalar(bytes[parameters.endIndex]))
      return (input(String(decoding: parameters, as: UTF8.self), final), parameters.count + 3)
    case UInt8(ascii: "O"):
      guard let final = rest.dropFirst().first else { return isComplete ? (.key(.escape), 1) : nil }
      return (input("", Character(Unicode.Scalar(final))), 3)
    case Self.escape: return (.key(.escape), 1)
    // As one key: the escape alone would leave a line, and the letter act on a record.
    case let byte?: return (alt(byte), 2)
    }
  }

  private func alt(_ byte: UInt8) -> Input? {
    switch byte {
    case 0x7F, 0x08: .key(.control("w"))
    case 0x20..<0x7F: .key(.alt(Character(Unicode.Scalar(byte))))
    default: nil
    }
  }

  /// An arrow, with Shift, or with Alt or Control, which moves by words.
  private static func arrow(_ parameters: String, _ key: Key, shift: Key, word: Key) -> Input {
    switch parameters {
    case "1;2": .key(shift)
    case "1;3", "1;5": .key(word)
    default: .key(key)
    }
  }

  private mutating func input(_ parameters: String, _ final: Character) -> Input? {
    switch final {
    case "A": return Self.arrow(parameters, .up, shift: .shiftUp, word: .up)
    case "B": return Self.arrow(parameters, .down, shift: .shiftDown, word: .down)
    case "C": return Self.arrow(parameters, .right, shift: .shiftRight, word: .alt("f"))
    case "D": return Self.arrow(parameters, .left, shift: .shiftLeft, word: .alt("b"))
    case "H": return .key(.home)
    case "F": return .key(.end)
    case "Z": return .key(.backTab)
    case "M" where parameters.hasPrefix("<"): return mouse(parameters.dropFirst())
    case "~":
      switch parameters.split(separator: ";").first {
      case "1", "7": return .key(.home)
      case "4", "8": return .key(.end)
      case "3": return .key(.delete)
      case "5": return .key(.pageUp)
      case "6": return .key(.pageDown)
      case "200":
        isPasting = true
        return nil
      default: return nil
      }
    default: return nil
    }
  }

  private func mouse(_ parameters: Substring) -> Input? {
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    guard numbers.count == 3, numbers[1...].allSatisfy({ 1...10_000 ~= $0 }) else { return nil }
    let (column, row) = (numbers[1] - 1, numbers[2] - 1)
    return switch numbers[0] {
    case 0: .click(column: column, row: row)
    case 64: .wheel(column: column, row: row, isUp: true)
    case 65: .wheel(column: column, row: row, isUp: false)
    default: nil
    }
  }
}
