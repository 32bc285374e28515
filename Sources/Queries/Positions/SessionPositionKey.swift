import AggregatorKit
package import AggregatorTerminal

/// The key of a session position: a session and a source.
package struct SessionPositionKey: Hashable, Sendable {
  /// `default` without `--session`.
  package let session: String

  package let source: String

  private let isNamed: Bool

  private static let maxLength = 64

  /// Throws ``CommandError`` with code `usage` for a name that is not a safe directory name.
  package init(of source: String, _ invocation: Invocation) throws(CommandError) {
    self.source = source
    isNamed = invocation.has(.session)
    session = invocation.text(.session) ?? "default"
    guard Self.isSession(session) else {
      throw CommandError(
        .usage, "invalid session name \"\(session)\"",
        hint:
          "use up to \(Self.maxLength) characters of A-Z a-z 0-9 . _ -, not starting with . or -"
      )
    }
  }

  package static func isSession(_ text: String) -> Bool {
    guard 1...maxLength ~= text.utf8.count, let first = text.utf8.first else { return false }
    return text.utf8.allSatisfy(\.isNameByte) && first != UInt8(ascii: ".")
      && first != UInt8(ascii: "-")
  }

  /// The arguments that run `next` in this session, with an option if given.
  package func command(_ option: Option? = nil) -> String {
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
