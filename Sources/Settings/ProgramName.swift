/// The name of a program, from which the names of its directories and environment variables derive.
package struct ProgramName: Hashable, Sendable {
  package let text: String

  /// Stops the program unless the name consists of ASCII letters, digits, `-` and `_`: it becomes the
  /// name of a directory, and part of shell scripts.
  package init(_ text: String) {
    precondition(
      !text.isEmpty && text.utf8.allSatisfy { $0.isNameByte } && !text.hasPrefix("-"),
      "\"\(text)\" is not a name for a program")
    self.text = text
  }

  /// The name of an environment variable: `AGGREGATOR_HOME`, or `MY_PLANETS_HOME` of `my-planets`.
  package func variable(_ suffix: String) -> String {
    // The name of a variable does not begin with a digit (POSIX.1-2024, section 3.216).
    let isNumbered = text.utf8.first.map { 0x30...0x39 ~= $0 } ?? false
    let name = text.uppercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    return "\(isNumbered ? "_" : "")\(String(decoding: name, as: UTF8.self))_\(suffix)"
  }
}

extension UInt8 {
  fileprivate var isNameByte: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
    default: false
    }
  }
}
