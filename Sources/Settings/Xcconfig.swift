package import AggregatorCore
import AggregatorText

/// The parsed lines of an `.xcconfig` file; includes and values are not expanded.
///
/// The syntax is Xcode's: `//` starts a comment anywhere, one or more `;` after a value are dropped,
/// quotes are a part of the value, and CR, LF and CRLF end a line. Invalid lines are statements too: the
/// caller decides whether they matter. No fault quotes the text, which may contain a key.
package struct Xcconfig: Sendable {
  /// A line with a statement.
  package struct Line: Sendable {
    /// The line number, 1-based.
    package let number: Int
    package let statement: Statement
  }

  package enum Statement: Sendable {
    /// `KEY = value`.
    case assignment(Assignment)
    /// `#include "file"`, or with `isOptional` `#include? "file"`.
    case include(String, isOptional: Bool)
    /// An invalid line.
    case unreadable(SourceError)
  }

  /// `KEY = value`.
  package struct Assignment: Sendable {
    /// The key: letters, digits and `_`.
    package let key: String
    /// The value as parsed, without its comment and surrounding blanks.
    package let value: String
    /// `true` if a condition such as `[sdk=*]` follows the key.
    package let isConditional: Bool
    /// The range of the value in the file, in bytes.
    package let valueRange: Range<Int>
    /// The range of the line's comment in the file, in bytes; empty without one.
    package let commentRange: Range<Int>

    /// The keys to which the value refers, as few do; none if it is invalid.
    var references: [String] {
      guard value.utf8.contains(UInt8(ascii: "$")), let pieces = try? Xcconfig.pieces(of: value)
      else { return [] }
      return pieces.compactMap { if case .reference(let name) = $0 { name } else { nil } }
    }

    /// `true` if the line's comment follows the value without a blank.
    var touchesComment: Bool {
      !commentRange.isEmpty && valueRange.upperBound == commentRange.lowerBound
    }

    /// `true` if the value is a URL whose `//` starts a comment: `https:`.
    package var isCut: Bool {
      let value = value.lowercased()
      return touchesComment
        && ["http:", "https:", "postgres:", "postgresql:"].contains(where: value.hasSuffix)
    }
  }

  /// The longest line, in bytes.
  package static let maxLineLength = 16_384

  /// The lines that are not blank or comments, in order.
  package let lines: [Line]

  /// Parses a file: UTF-8, with or without a byte order mark.
  package init(_ bytes: [UInt8]) {
    guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
      let fault = SourceError.fault("is UTF-16 text", remedy: "save the file as UTF-8")
      lines = [Line(number: 1, statement: .unreadable(fault))]
      return
    }
    var lines: [Line] = []
    var number = 1
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while start < bytes.count {
      let end =
        bytes[start...].firstIndex { $0 == .lineFeed || $0 == .carriageReturn } ?? bytes.count
      if let statement = Statement(bytes[start..<end]) {
        lines.append(Line(number: number, statement: statement))
      }
      let isPair =
        end + 1 < bytes.count && bytes[end] == .carriageReturn && bytes[end + 1] == .lineFeed
      start = end + (isPair ? 2 : 1)
      number += 1
    }
    self.lines = lines
  }
}

extension SourceError {
  /// A fault of a settings file; the message never quotes a line, which may contain a key.
  static func fault(_ message: String, remedy: Remedy? = nil) -> SourceError {
    SourceError(.invalidSettings, message, remedy: remedy)
  }
}

// MARK: - Statements

extension Xcconfig.Statement {
  private static let maxKeyLength = 128

  /// Parses a line without its line break; `nil` if it is blank or a comment.
  ///
  /// The indices of `line` are those of its file.
  init?(_ line: ArraySlice<UInt8>) {
    do throws(SourceError) {
      guard let statement = try Self.parsed(line) else { return nil }
      self = statement
    } catch {
      self = .unreadable(error)
    }
  }

  private static func parsed(_ line: ArraySlice<UInt8>) throws(SourceError) -> Self? {
    guard line.count <= Xcconfig.maxLineLength else {
      throw .fault("the line is longer than \(Xcconfig.maxLineLength) bytes")
    }
    if line.trimmed.first == UInt8(ascii: "#") { return try include(line.trimmed) }
    let comment = line.firstRange(of: Array("//".utf8))?.lowerBound ?? line.endIndex
    let content = line[..<comment].trimmed
    guard !content.isEmpty else { return nil }
    _ = try text(content)
    return .assignment(try assignment(content, comment: comment..<line.endIndex))
  }

  private static func include(_ directive: ArraySlice<UInt8>) throws(SourceError) -> Self {
    let invalid = SourceError.fault(
      "invalid #include", remedy: "write #include \"file\", or // for a comment")
    var rest = directive.dropFirst().trimmed
    guard rest.starts(with: "include".utf8) else { throw invalid }
    rest = rest.dropFirst("include".utf8.count)
    let isOptional = rest.first == UInt8(ascii: "?")
    rest = (isOptional ? rest.dropFirst() : rest).trimmed
    let quote = UInt8(ascii: "\"")
    guard rest.first == quote, let end = rest.dropFirst().firstIndex(of: quote) else {
      throw invalid
    }
    let path = rest[rest.startIndex + 1..<end]
    let after = rest[(end + 1)...].trimmed
    guard !path.isEmpty, after.isEmpty || after.starts(with: "//".utf8) else { throw invalid }
    return .include(try text(path), isOptional: isOptional)
  }

  private static func assignment(
    _ content: ArraySlice<UInt8>, comment: Range<Int>
  ) throws(SourceError) -> Xcconfig.Assignment {
    let key = content.prefix(while: \.isKeyByte)
    guard key.count <= maxKeyLength else {
      throw .fault("the key is longer than \(maxKeyLength) characters")
    }
    var rest = content[key.endIndex...].trimmed
    var isConditional = false
    while !key.isEmpty, rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else {
        throw .fault("the [ after the key has no ]", remedy: "write KEY = value")
      }
      rest = rest[(end + 1)...].trimmed
      isConditional = true
    }
    guard rest.first == UInt8(ascii: "=") else {
      throw content.contains(UInt8(ascii: "="))
        ? SourceError.fault("the line has no key of letters, digits and _ before its =")
        : SourceError.fault("the line has no =", remedy: "write KEY = value, or // for a comment")
    }
    guard let first = key.first, !first.isDigit else {
      throw .fault("the line has no key before its =", remedy: "write KEY = value")
    }
    var value = rest.dropFirst().trimmed
    while value.last == UInt8(ascii: ";") { value = value.dropLast().trimmed }
    return Xcconfig.Assignment(
      key: String(decoding: key, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
      isConditional: isConditional, valueRange: value.startIndex..<value.endIndex,
      commentRange: comment)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(SourceError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .fault("the line is not UTF-8", remedy: "save the file as UTF-8")
    }
    if let byte = bytes.first(where: \.isControl) {
      throw .fault(
        "the line contains a \(byte == 0 ? "NUL" : "control") character", remedy: "remove it")
    }
    return text
  }
}

extension ArraySlice<UInt8> {
  /// The slice without spaces and tabs at either end; of a blank slice, the empty slice at its end.
  fileprivate var trimmed: Self {
    let rest = drop { $0.isBlank }
    return rest.lastIndex { !$0.isBlank }.map { rest[...$0] } ?? rest
  }
}

extension UInt8 {
  fileprivate static let lineFeed = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")

  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  fileprivate var isControl: Bool { (self < 0x20 && self != UInt8(ascii: "\t")) || self == 0x7F }

  fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

  /// `true` for the bytes of keys: letters, digits and `_`.
  fileprivate var isKeyByte: Bool { isASCIIAlphanumeric || self == UInt8(ascii: "_") }
}

// MARK: - Values

extension Xcconfig {
  /// A part of a value.
  package enum Piece: Hashable, Sendable {
    /// Literal text.
    case text(Substring)
    /// `$(KEY)` or `${KEY}`: the value of another key.
    case reference(String)
    /// `$(inherited)`: the value of the same key without this line.
    case inherited
  }

  /// Parses a value.
  ///
  /// `$()` is empty; it prevents that `//` starts a comment: `https:/$()/host`. A `$` without a bracket is
  /// text.
  ///
  /// - Throws: A fault for an unclosed bracket, and for the forms that only Xcode supports:
  ///   `$(KEY:lower)` and `$(A_$(B))`.
  package static func pieces(of value: String) throws(SourceError) -> [Piece] {
    var pieces: [Piece] = []
    var rest = Substring(value).utf8
    var parsed = rest.startIndex
    while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
      let open = rest.index(after: dollar)
      rest = rest[open...]
      guard let bracket = rest.first, let closing = closing[bracket] else { continue }
      guard let close = rest.firstIndex(of: closing) else {
        throw .fault("the value has a $( without its )", remedy: "write $(KEY)")
      }
      let name = rest[rest.index(after: open)..<close]
      guard name.allSatisfy(\.isKeyByte) else {
        throw .fault(
          "the value has a $(…) with more than a key in it",
          remedy: "write $(KEY), or the text itself")
      }
      if parsed < dollar { pieces.append(.text(value[parsed..<dollar])) }
      if name.elementsEqual("inherited".utf8) {
        pieces.append(.inherited)
      } else if !name.isEmpty {
        pieces.append(.reference(String(Substring(name))))
      }
      parsed = value.utf8.index(after: close)
      rest = value[parsed...].utf8
    }
    if parsed < value.endIndex { pieces.append(.text(value[parsed...])) }
    return pieces
  }

  /// Escapes a text, without line breaks, control characters and surrounding blanks, as a value: inserts
  /// `$()` wherever `//`, `$(` or a final `;` would be syntax.
  package static func value(writing text: String) -> String {
    var value = ""
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      switch (last, scalar) {
      case ("/", "/"), ("$", "("), ("$", "{"): value += "$()"
      default: break
      }
      value.unicodeScalars.append(scalar)
      last = scalar
    }
    return last == ";" ? value + "$()" : value
  }

  private static let closing: [UInt8: UInt8] = [
    UInt8(ascii: "("): UInt8(ascii: ")"), UInt8(ascii: "{"): UInt8(ascii: "}"),
  ]
}

// MARK: - Editing

extension Xcconfig {
  /// Sets the value of a key and preserves all other bytes of a file.
  ///
  /// Replaces the value of the key's last assignment without a condition, or adds a line at the end. A URL
  /// that `//` cut off is replaced as a whole.
  ///
  /// - Parameter text: One line without blanks around it.
  package static func setting(_ key: String, to text: String, in bytes: [UInt8]) -> [UInt8] {
    let value = Array(Self.value(writing: text).utf8)
    var edited = bytes
    if let old = assignments(of: key, in: bytes).last {
      let end = old.isCut ? old.commentRange.upperBound : old.valueRange.upperBound
      let blankBefore = bytes[old.valueRange.lowerBound - 1] == UInt8(ascii: "=") ? " " : ""
      // Without the blank, a slash at the end of the value would be a part of the comment.
      let blankAfter = old.touchesComment && !old.isCut ? " " : ""
      edited.replaceSubrange(
        old.valueRange.lowerBound..<end, with: Array(blankBefore.utf8) + value + blankAfter.utf8)
    } else {
      let lineEnd: [UInt8] =
        bytes.firstRange(of: [.carriageReturn, .lineFeed]) == nil
        ? [.lineFeed] : [.carriageReturn, .lineFeed]
      if let last = bytes.last, last != .lineFeed, last != .carriageReturn { edited += lineEnd }
      edited += Array("\(key) = ".utf8) + value + lineEnd
    }
    return edited
  }

  /// Removes the assignments of a key without a condition, and preserves all other bytes of a file.
  ///
  /// Whole lines are removed, except their comments.
  package static func removing(_ key: String, from bytes: [UInt8]) -> [UInt8] {
    var edited = bytes
    for found in assignments(of: key, in: bytes).reversed() {
      edited.removeSubrange(extent(of: found, in: bytes))
    }
    return edited
  }

  /// The part of a line to remove with its assignment.
  private static func extent(of found: Assignment, in bytes: [UInt8]) -> Range<Int> {
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let lineBreak = bytes[..<found.valueRange.lowerBound].lastIndex {
      $0 == .lineFeed || $0 == .carriageReturn
    }
    let start = lineBreak.map { $0 + 1 } ?? mark
    guard found.commentRange.isEmpty || found.isCut else {
      return start..<found.commentRange.lowerBound
    }
    var end = found.commentRange.upperBound
    if end < bytes.count, bytes[end] == .carriageReturn { end += 1 }
    if end < bytes.count, bytes[end] == .lineFeed { end += 1 }
    return start..<end
  }

  /// The assignments of a key without a condition.
  private static func assignments(of key: String, in bytes: [UInt8]) -> [Assignment] {
    Xcconfig(bytes).lines.compactMap { line in
      guard case .assignment(let found) = line.statement else { return nil }
      return found.key == key && !found.isConditional ? found : nil
    }
  }
}
