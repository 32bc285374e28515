package import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The value of a condition in the forms in which it is compared.
struct Operand: Sendable {
  /// The place of a record's value relative to the operand.
  enum Order {
    case below, equal, above

    fileprivate init<Value: Comparable>(_ value: Value, _ operand: Value) {
      self = value < operand ? .below : operand < value ? .above : .equal
    }
  }

  let text: String
  let folded: FoldedText
  /// The words of a text with spaces; `nil` for others.
  private let words: FoldedText?
  let number: Numeral?
  let bool: Bool?
  /// True for a number with zeros before it, such as 007, which is equal to no other text of this number.
  private let isCode: Bool
  private let period: Period?
  /// True for words such as `yesterday`, which tell another period at another time.
  let isRelative: Bool

  /// - Parameter now: The time from which words such as `yesterday` tell another one.
  init(_ text: String, at now: Date) {
    self.text = text
    folded = FoldedText(text)
    // A space before or after the text asks for one there.
    let isPhrase = text.contains(where: \.isWhitespace) && text.trimmed == text
    let phrase = isPhrase ? FoldedText(wordsOf: text) : nil
    words = phrase?.text.contains(" ") == true ? phrase : nil
    number = Numeral(typed: text)
    isCode = text.isCode
    bool =
      switch text.lowercased() {
      case "true", "yes": true
      case "false", "no": false
      default: nil
      }
    let literal = Period(recorded: text)
    period = literal ?? Period(words: text, at: now)
    isRelative = literal == nil && period != nil
    ordersTexts = literal == nil && number == nil
  }

  /// True for a day, a month, a year or a time.
  var isPeriod: Bool { period != nil }

  /// The start of a period in whole seconds since 1970.
  var seconds: Int? { period.flatMap { Int(exactly: $0.start.rounded()) } }

  /// True for what is neither a number nor a period.
  var isText: Bool { period == nil && number == nil }

  /// True if texts are below or above it: `n/a` is not more than 56, and comes neither before nor after 2026.
  let ordersTexts: Bool

  /// True if no value is from this one up to another.
  func isAbove(_ other: Operand) -> Bool {
    if let period, let other = other.period { return period.start >= other.end }
    if let number, let other = other.number { return other < number }
    return false
  }

  /// True if one of the values is equal; without any, an empty operand is.
  func isEqual(to values: PresentValues) -> Bool {
    text.isEmpty ? values.isEmpty : values.contains(where: equals)
  }

  /// True if the text of a value has this one; a space in it may be a sign there that folding leaves out, as in O'Brien.
  func isContained(in value: JSON) -> Bool {
    let text = value.cell
    return FoldedText(text).contains(folded)
      || words.map { FoldedText(wordsOf: text).contains($0) } ?? false
  }

  private func equals(_ value: JSON) -> Bool {
    switch value {
    case .string(let string):
      string == text || order(ofDate: string) == .equal || isNumber(in: string)
    case .integer, .number: Numeral(value).map { $0 == number } ?? false
    case .bool(let value): value == bool
    case .null, .array, .object: value.cell == text
    }
  }

  /// True for a text of this number, as `10.50` is one of 10.5; zeros before it, as in `007`, make it a code.
  private func isNumber(in text: String) -> Bool {
    number != nil && !isCode && Numeral(text) == number && !text.isCode
  }

  /// The order of a record's value; `nil` if the two cannot be compared.
  func order(of value: JSON) -> Order? {
    switch value {
    case .string(let string):
      if let order = order(ofDate: string) { return order }
      if let number, let other = Numeral(string) { return Order(other, number) }
      return ordersTexts ? Order(FoldedText(string).text, folded.text) : nil
    case .integer, .number:
      guard let number, let other = Numeral(value) else { return nil }
      return Order(other, number)
    case .null, .bool, .array, .object: return nil
    }
  }

  private func order(ofDate text: String) -> Order? {
    guard let period, let date = Period(recorded: text), date.isDate else { return nil }
    if date.start < period.start { return .below }
    return date.start < period.end ? .equal : .above
  }
}

/// A number that keeps integers beyond 2^53 apart, also those of more than 64 bits.
package struct Numeral: Comparable, Hashable, Sendable {
  private let double: Double
  /// The nearest one to an integer beyond 64 bits.
  private let integer: Int
  /// The decimal digits of an integer beyond 64 bits; empty for any other number.
  private let digits: String

  /// Only decimal digits, a sign and a point: no exponents, infinities or hexadecimal digits.
  package init?(_ text: String) {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard let first = digits.utf8.first, 0x30...0x39 ~= first,
      digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }), let double = Double(text)
    else { return nil }
    self.init(double, Int(text), text)
  }

  /// A number as people and JSON write it, such as `1e3` and `-.5`.
  ///
  /// Values of records are not read so: a code like `1e3` is a text there.
  init?(typed text: String) {
    let signs = "-.0123456789eE+".utf8
    guard !text.hasPrefix("+"), text.utf8.allSatisfy(signs.contains), let double = Double(text)
    else { return nil }
    self.init(double, Int(text), text)
  }

  /// A text that is a number for `=`; not a code.
  fileprivate init?(recorded text: String) {
    guard let number = Numeral(text), !text.isCode else { return nil }
    self = number
  }

  /// The number that a value of a record is for `=`, so that `1.1` and `1.10` are one; `nil` for a code, and any other value.
  package init?(recorded value: JSON) {
    switch value {
    case .string(let text): self.init(recorded: text)
    default: self.init(value)
    }
  }

  init?(_ value: JSON) {
    switch value {
    case .integer(let integer): self.init(Double(integer), integer)
    case .number(let number): self.init(number, nil)
    default: return nil
    }
  }

  private init?(_ double: Double, _ integer: Int?, _ text: String = "") {
    guard double.isFinite else { return nil }
    self.double = double
    if integer != nil || double.magnitude < 0x1p63 {
      (self.integer, digits) = (integer ?? Int(exactly: double) ?? 0, "")
      return
    }
    self.integer = double < 0 ? .min : .max
    // Those of another text are the digits of the double, which has no fraction.
    let isInteger = !text.isEmpty && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == 0x2D }
    let size = double.magnitude
    let exact = isInteger ? text : size < 0x1p127 ? String(UInt128(size)) : String(size)
    digits = String(exact.drop { $0 == "-" || $0 == "0" })
  }

  package static func < (left: Numeral, right: Numeral) -> Bool {
    let (first, second) = (left.digits, right.digits)
    guard left.double == right.double, left.integer == right.integer, first != second else {
      return (left.double, left.integer) < (right.double, right.integer)
    }
    let isBelow = (first.utf8.count, first) < (second.utf8.count, second)
    return isBelow != (left.double < 0)
  }
}

extension String {
  /// True for what begins with a zero before another digit.
  fileprivate var isCode: Bool {
    let digits = (utf8.first == UInt8(ascii: "-") ? utf8.dropFirst() : utf8[...]).prefix(2)
    return digits.first == UInt8(ascii: "0") && digits.count == 2
      && 0x30...0x39 ~= digits[digits.index(after: digits.startIndex)]
  }
}

extension JSON {
  /// The values that are there: the elements of a list, or the value itself, without null and empty text.
  package var present: PresentValues {
    switch self {
    case .null, .string(""): PresentValues()
    case .array(let elements): PresentValues(elements.flatMap(\.present))
    default: PresentValues(self)
    }
  }
}

/// The present values of a field of a record, mostly one, for which no array is made.
package struct PresentValues: RandomAccessCollection, Sendable {
  private let first: JSON?
  private let others: [JSON]

  fileprivate init(_ value: JSON? = nil) { (first, others) = (value, []) }

  fileprivate init(_ values: [JSON]) { (first, others) = (values.first, Array(values.dropFirst())) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { first == nil ? 0 : 1 + others.count }

  package subscript(index: Int) -> JSON {
    if index == 0, let first { return first }
    return others[index - 1]
  }
}
