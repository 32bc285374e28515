/// The kind of number that a text is, if its text tells no more than the number.
package enum NumberKind: Sendable {
  case integer, real

  /// The kind of a number as JSON has it (RFC 8259): 007 and telephone numbers are none, and neither are integers of more
  /// than 18 digits, such as IDs, which could lose some; `nil` for any other text.
  package init?(_ text: some Collection<UInt8>) {
    let isDigit = { (byte: UInt8) in 0x30...0x39 ~= byte }
    var rest = text[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let digits = rest.prefix(while: isDigit)
    rest = rest.dropFirst(digits.count)
    guard 1...18 ~= digits.count, digits.first != UInt8(ascii: "0") || digits.count == 1 else {
      return nil
    }
    guard !rest.isEmpty else {
      self = .integer
      return
    }
    if rest.first == UInt8(ascii: ".") {
      let decimals = rest.dropFirst().prefix(while: isDigit)
      rest = rest.dropFirst(decimals.count + 1)
      guard !decimals.isEmpty else { return nil }
    }
    if let first = rest.first, first | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if let sign = rest.first, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign) {
        rest.removeFirst()
      }
      let exponent = rest.prefix(while: isDigit)
      guard !exponent.isEmpty else { return nil }
      rest = rest.dropFirst(exponent.count)
    }
    guard rest.isEmpty else { return nil }
    self = .real
  }
}
