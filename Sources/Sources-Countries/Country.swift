public import AggregatorKit

/// A country, as the service sends it too: unknown capitals and regions are empty texts there.
public struct Country: SourceRecord {
  /// The ISO 3166-1 code, such as `FR`; `XK` is Kosovo.
  public let code: CountryCode

  /// The name, such as `Korea, Republic of`.
  public let name: String

  /// The continent; `nil` if unknown.
  ///
  /// One of `AF`, `AN`, `AS`, `EU`, `NA` (North America), `OC` and `SA`; the live list also has
  /// `Americas`.
  public let region: String?

  /// `nil` if unknown.
  public let capital: String?

  public var id: CountryCode { code }

  public init(code: CountryCode, name: String, region: String?, capital: String?) {
    self.code = code
    self.name = name
    self.region = region
    self.capital = capital
  }
}

/// An ISO 3166-1 alpha-2 code: two letters, always upper case.
public struct CountryCode: RecordID, FieldValue {
  public let description: String

  /// Parses two ASCII letters in any case.
  public init?(_ description: String) {
    guard description.utf8.count == 2,
      description.utf8.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 })
    else { return nil }
    self.description = description.uppercased()
  }

  public static var fieldKind: FieldKind { .text }

  public var json: JSON { .string(description) }
}

extension CountryCode: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let code = CountryCode(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "invalid country code \"\(text)\": must be two letters")
    }
    self = code
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
