import AggregatorKit

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
