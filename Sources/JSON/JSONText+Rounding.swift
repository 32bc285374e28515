extension JSONText {
  /// The whole numbers that ``JSON`` cannot write with all of their digits, and the indices of their parts.
  package var roundedIntegers: [(index: Int, number: Double)] {
    parts.indices.lazy.compactMap { index in
      self.roundedInteger(self.parts[index]).map { (index, $0) }
    }
  }

  /// The number of a part whose digits do not fit ``JSON``; `nil` for any other part.
  private func roundedInteger(_ part: Part) -> Double? {
    // 18 digits always fit, and so do 19 that are below 9 × 10^18, such as those of many IDs.
    guard part.kind == .number, part.end - part.start > 18 else { return nil }
    let range = Int(part.start)..<Int(part.end)
    guard range.count > 19 || bytes[range.lowerBound] == UInt8(ascii: "9") else { return nil }
    let isWhole = bytes[range].allSatisfy {
      0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-")
    }
    guard isWhole else { return nil }
    let text = string(part)
    guard Int(text) == nil, let number = Double(text) else { return nil }
    return number.description.significantDigits == text.significantDigits ? nil : number
  }

  /// The name of the innermost member that has a part in its value; `nil` outside of objects.
  package func nameOfMember(around target: Int) -> String? {
    var name: String?
    var index = 0
    while index < target {
      let isObject = parts[index].kind == .object
      var child = index + 1
      // The value of a member follows its name.
      while Int(parts[isObject ? child + 1 : child].next) <= target {
        child = Int(parts[isObject ? child + 1 : child].next)
      }
      if isObject { name = string(parts[child]) }
      index = isObject ? child + 1 : child
    }
    return name
  }
}

extension String {
  /// The digits of a number before its exponent, without zeros at the end.
  fileprivate var significantDigits: [UInt8] {
    let digits = utf8.prefix { $0 != UInt8(ascii: "e") }.filter { 0x30...0x39 ~= $0 }
    return Array(digits.reversed().drop { $0 == 0x30 }.reversed())
  }
}
