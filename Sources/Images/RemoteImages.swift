import AggregatorCore
import AggregatorHTTP
import Foundation

/// The images of the web, one request each.
///
/// Nothing is sent but the address: no key, no cookie.
struct RemoteImages: DataSource, CustomStringConvertible {
  let transport: any Transport
  /// The most bytes that an image may have.
  let largest: Int
  let now: @Sendable () -> Date

  func page(_ request: PageRequest) async throws(SourceError) -> Page<LoadedImage> {
    throw SourceError(.unsupported, "images cannot be listed")
  }

  func item(_ address: ImageAddress) async throws(SourceError) -> LookupResult<LoadedImage> {
    var limits = HTTPLimits.standard
    limits.bodyBytes = largest
    let request = HTTPRequest(
      .get, address.url,
      // What everybody can look at is preferred.
      headers: [.init("Accept", "image/jpeg,image/png,image/gif,image/webp,image/*;q=0.8")],
      limits: limits)
    let response = try await transport.send(request).checked(by: address.authority, now: now())
    guard let image = LoadedImage(response.body, at: address) else {
      throw SourceError(.malformed, "\(address.authority) sent \(response.wordsForNoImage)")
    }
    return LookupResult(
      image, provenance: Provenance(.live, fetchedAt: now(), endpoint: request.endpoint))
  }

  var description: String { "RemoteImages()" }
}

extension HTTPResponse {
  /// What a body is that is no image.
  fileprivate var wordsForNoImage: String {
    if body.isEmpty { return "nothing instead of an image" }
    let quote = summary.map { ": \($0)" } ?? ""
    if ImageType(sniffing: body) != nil { return "a damaged image" }
    let isMarkup = body.firstSignificantByte == UInt8(ascii: "<")
    return "\(isMarkup ? "a page" : "something else") instead of an image\(quote)"
  }
}
