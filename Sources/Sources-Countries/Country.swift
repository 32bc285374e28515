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
