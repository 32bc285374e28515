#if os(Linux)
  /// Collects the header fields of a reply from its lines (RFC 9112, section 5).
  package struct HeadParser {
    /// The fields so far, as they came.
    package private(set) var fields: [(name: String, value: String)] = []
    /// How many bytes have been read, those of interim replies included.
    private(set) var bytes = 0

    /// A parser that has read nothing yet.
    package init() {}

    /// Reads one line with its end.
    package mutating func read(_ line: UnsafeRawBufferPointer) {
      bytes += line.count
      let text = line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
      guard let first = text.first else { return }
      if text.starts(with: "HTTP/".utf8) {
        fields = []  // an interim reply, such as 103, came before
      } else if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
        // An obsolete folded line goes on with the field before it.
        guard let last = fields.indices.last else { return }
        let rest = Self.trimmed(text)
        if !fields[last].value.isEmpty, !rest.isEmpty { fields[last].value += " " }
        fields[last].value += rest
      } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
        let name = String(decoding: text[..<colon], as: UTF8.self)
        fields.append((name, Self.trimmed(text[text.index(after: colon)...])))
      }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
      let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      let rest = bytes.drop(while: isBlank)
      let end = rest.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? rest.startIndex
      return String(decoding: rest[..<end], as: UTF8.self)
    }
  }
#endif
