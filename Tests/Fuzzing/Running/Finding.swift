/// A promise that an input broke.
package struct Finding: Sendable, Codable {
  /// Which parser.
  package let target: String
  /// The case by which it was found.
  package let number: Int
  /// Whether that is the number of a shape, as ``LoadMorePolicy`` has them.
  package let isShape: Bool
  /// What went wrong.
  package let what: String
  /// The shortest input that was found for it, as a text of escapes.
  package let input: String

  /// A finding.
  package init(
    target: String, number: Int, isShape: Bool = false, what: String, input: [UInt8]
  ) {
    self.target = target
    self.number = number
    self.isShape = isShape
    self.what = what
    self.input = input.escaped
  }
}

extension [UInt8] {
  /// These bytes as a text that can be printed, and pasted into Swift; the middle of a long one is left out.
  package var escaped: String {
    let most = 400
    guard count > most else { return self[...].escaped }
    return "\(prefix(most / 2).escaped) … \(count - most) bytes … \(suffix(most / 2).escaped)"
  }
}

extension ArraySlice<UInt8> {
  fileprivate var escaped: String {
    guard let text = String(validating: self, as: UTF8.self) else {
      return "bytes [" + map { "0x" + String($0, radix: 16) }.joined(separator: ", ") + "]"
    }
    return "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
  }
}
