public import AggregatorFoundation
import AggregatorText

extension Array: LenientDecodable where Element: LenientDecodable {
  /// A list, or a single value; elements of other forms are left out.
  public init?(lenient decoder: any Decoder) {
    if let list = Element.list(lenient: decoder) {
      self = list
    } else if let list = try? LossyArray<LenientElement<Element>>(from: decoder) {
      self = list.elements.map { $0.value }
    } else if let element = Element(lenient: decoder) {
      self = [element]
    } else {
      return nil
    }
  }
}

/// An element of a list; it throws so that a ``LossyArray`` counts it and bounds the time of very many.
private struct LenientElement<Value: LenientDecodable>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    guard let value = Value(lenient: decoder) else {
      throw DecodingError.valueNotFound(
        Value.self, .init(codingPath: decoder.codingPath, debugDescription: "of another form"))
    }
    self.value = value
  }
}

extension Date: LenientDecodable {
  /// A time of ISO 8601 in any zone, UTC if it names none; a day, at midnight UTC; a date as in header fields of
  /// HTTP; or the seconds or milliseconds since 1970.
  public init?(lenient decoder: any Decoder) {
    guard let container = try? decoder.singleValueContainer() else { return nil }
    let number: Double
    if let seconds = try? container.decode(Double.self) {
      number = seconds
    } else if let text = try? container.decode(String.self).nonBlank {
      if let period = Period(text), period.isDate, Self.range ~= period.start {
        self.init(timeIntervalSince1970: period.start)
        return
      }
      if let date = Date(httpDate: text) {
        self = date
        return
      }
      guard text.utf8.count >= 9, let seconds = Double(text) else { return nil }
      number = seconds
    } else {
      return nil
    }
    // In seconds this would be after the year 5138.
    let seconds = number.magnitude < 1e11 ? number : number / 1000
    guard Self.range ~= seconds else { return nil }
    self.init(timeIntervalSince1970: seconds)
  }

  /// The years 0 to 9999.
  private static let range = -62_167_219_200.0...253_402_300_799
}
