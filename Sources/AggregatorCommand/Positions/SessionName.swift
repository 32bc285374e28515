import AggregatorKit

/// Whose place it is: a session's, in a source.
package struct SessionName: Hashable, Sendable {
  /// The session; `default` where none was named.
  let session: String

  /// The source.
  let source: String

  private let isNamed: Bool

  private static let mostCharacters = 64

  /// Reads `--session`.
  ///
  /// - Parameters:
  ///   - source: The source.
  ///   - invocation: What was typed.
  /// - Throws: ``CommandError`` with code `usage` for a name that is no plain name of a directory.
  init(of source: String, _ invocation: Invocation) throws(CommandError) {
    self.source = source
    isNamed = invocation.has(.session)
    session = invocation.text(.session) ?? "default"
    guard Self.isSession(session) else {
      throw CommandError(
        .usage, "'\(session)' is no name for a session",
        hint:
          "a name has up to \(Self.mostCharacters) of A-Z a-z 0-9 . _ -, and begins with none of . -"
      )
    }
  }

  /// Whether a text is a name for a session.
  package static func isSession(_ text: String) -> Bool {
    guard 1...mostCharacters ~= text.utf8.count, let first = text.utf8.first else { return false }
    return text.utf8.allSatisfy(\.isNameByte) && first != UInt8(ascii: ".")
      && first != UInt8(ascii: "-")
  }

  /// What to type after the program's name to go on, or with an option to do something else.
  func command(_ option: Option? = nil) -> String {
    [
      "\(source) next", option?.spelling, isNamed ? "\(Option.session.spelling) \(session)" : nil,
    ].compactMap(\.self).joined(separator: " ")
  }
}

extension UInt8 {
  fileprivate var isNameByte: Bool {
    (self | 0x20) &- UInt8(ascii: "a") < 26 || self &- UInt8(ascii: "0") < 10
      || self == UInt8(ascii: ".") || self == UInt8(ascii: "_") || self == UInt8(ascii: "-")
  }
}
