public import AggregatorKit
import AggregatorTestSupport
import Foundation

/// The file of countries as GitHub serves it, on 127.0.0.1: 249 rows with all gaps of the real
/// file.
///
/// Deinitialisation stops it.
public final class FakeCountries: FakeService {
  private static let path = "/raw/countries.json"
  public let server: InterruptibleServer

  /// - Parameter codes: The countries in the file; all by default.
  public init(_ codes: Set<String>? = nil) throws(SourceError) {
    // GitHub does not send `application/json`.
    let headers = [
      ("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
    ]
    let list = LoopbackReply.status(200, Self.list(of: codes).text + "\n", headers: headers)
    let missing = LoopbackReply.status(404, "404: Not Found", headers: headers)
    server = try InterruptibleServer { $0.path == Self.path ? list : missing }
  }

  /// The value for `COUNTRIES_URL`.
  public var url: URL { server.baseURL.appending(path: Self.path) }

  public var settings: [String: String] { ["COUNTRIES_URL": url.absoluteString] }
}

extension FakeCountries {
  private static let withoutSymbol: Set = ["AM", "AZ", "BA", "KZ", "TR", "UZ"]
  private static let withNativeName: Set = ["CV", "CL", "GQ", "FI", "JE", "ZA", "LK", "US", "ZW"]
  private static let demonyms = ["KY": "Caymanian", "FR": "French"]

  private static func list(of codes: Set<String>?) -> JSON {
    let known = rows.filter { codes?.contains($0[0]) ?? true }
    return .array(known.map { row in country(row[0], row[1], row[2], row[3]) })
  }

  private static func country(
    _ code: String, _ name: String, _ region: String, _ capital: String
  ) -> JSON {
    let currency: JSON = [
      "code": .string("\(code)D"), "name": "Dinar",
      "symbol": withoutSymbol.contains(code) ? nil : "د.إ",
    ]
    let native: [JSON.Member] =
      withNativeName.contains(code)
      ? [.init("iso639_2", "xyz"), .init("name", "Language"), .init("nativeName", "Língua")]
      : [.init("name", .string(code == "MY" ? "Malaysian" : "Language"))]
    let language = JSON.object(
      [.init("code", code == "MY" ? nil : .string(code.lowercased()))] + native)
    let demonym = demonyms[code].map { [JSON.Member("demonym", .string($0))] } ?? []
    return .object(
      [
        .init("capital", .string(capital)), .init("code", .string(code)),
        .init("currency", currency),
      ] + demonym + [
        // The real host no longer exists.
        .init("flag", .string("https://restcountries.invalid/data/\(code.lowercased()).svg")),
        .init("language", language), .init("name", .string(name)),
        .init("region", .string(region)),
      ])
  }
}
