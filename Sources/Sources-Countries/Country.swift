public import AggregatorKit

/// A country or territory.
public struct Country: Record {
  /// Its two-letter code, such as `FR`; `XK` is Kosovo.
  public let code: CountryCode

  /// Its name, such as `Korea, Republic of`.
  public let name: String

  /// The continent; `nil` where the list does not say.
  ///
  /// One of `AF`, `AN`, `AS`, `EU`, `NA` (North America), `OC` and `SA`; the live list also has
  /// `Americas`.
  public let region: String?

  /// Its capital; `nil` where there is none.
  public let capital: String?

  /// The code identifies it.
  public var id: CountryCode { code }

  /// A country.
  ///
  /// - Parameters:
  ///   - code: Its two-letter code.
  ///   - name: Its name.
  ///   - region: Where it is.
  ///   - capital: Its capital.
  public init(code: CountryCode, name: String, region: String?, capital: String?) {
    self.code = code
    self.name = name
    self.region = region
    self.capital = capital
  }
}

extension Country {
  /// What the service sends, as far as it is used.
  ///
  /// Unknown capitals and regions are empty strings;
  /// `region` is a continent code or `Americas`; other fields come and go from row to row.
  struct Wire: Decodable {
    let country: Country

    private enum CodingKeys: String, CodingKey { case code, name, region, capital }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let name = try container.decode(String.self, forKey: .name)
      guard !name.isEmpty else {
        throw DecodingError.dataCorruptedError(
          forKey: .name, in: container, debugDescription: "the name is empty")
      }
      country = Country(
        code: try container.decode(CountryCode.self, forKey: .code), name: name,
        region: try container.decodeIfPresent(String.self, forKey: .region)?.nonBlank,
        capital: try container.decodeIfPresent(String.self, forKey: .capital)?.nonBlank)
    }
  }
}

/// A country's code as in ISO 3166-1 alpha-2: two letters, upper-case however they were typed.
public struct CountryCode: Hashable, Sendable, LosslessStringConvertible, FieldValue {
  /// The two letters, upper-case.
  public let description: String

  /// Reads a code.
  ///
  /// - Parameter description: Two ASCII letters in any case.
  public init?(_ description: String) {
    guard description.utf8.count == 2,
      description.utf8.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 })
    else { return nil }
    self.description = description.uppercased()
  }

  /// Text.
  public static var fieldKind: FieldKind { .text }

  /// The two letters.
  public var json: JSON { .string(description) }
}

extension CountryCode: Codable {
  /// Reads the two letters.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let code = CountryCode(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "'\(text)' is no two-letter code")
    }
    self = code
  }

  /// Writes the two letters.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
