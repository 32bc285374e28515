import AggregatorCore
import AggregatorText

extension ServerRequest {
  /// A request without header fields and body.
  ///
  /// Returns `nil` if the target is not a path (or an `http` URL) with an optional query, has an invalid percent
  /// encoding, or decodes to text with a NUL or invalid UTF-8.
  ///
  /// - Parameter target: The request target as sent (RFC 9112, section 3.2).
  package init?(_ method: String, target: String, client: String = "127.0.0.1") {
    var bytes = Array(target.utf8)[...]
    if let path = Self.path(ofURL: bytes) { bytes = path }
    let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
    let rawPath = bytes[..<(mark ?? bytes.endIndex)]
    guard rawPath.first == UInt8(ascii: "/") else { return nil }
    var path: [String] = []
    for segment in rawPath.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let text = Self.decoded(segment) else { return nil }
      path.append(text)
    }
    if path.last == "" { path.removeLast() }

    let rawQuery = mark.map { bytes[($0 + 1)...] }
    var query: [Parameter] = []
    for item in (rawQuery ?? []).split(separator: UInt8(ascii: "&")) {
      let pair = item.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(pair[0], plusIsSpace: true),
        let value = Self.decoded(pair.count > 1 ? pair[1] : [], plusIsSpace: true)
      else { return nil }
      query.append(Parameter(name, value))
    }
    self.init(
      method, rawPath: String(decoding: rawPath, as: UTF8.self), path: path,
      rawQuery: rawQuery.map { String(decoding: $0, as: UTF8.self) }, query: query,
      client: client)
  }

  /// The path and query of an `http` URL, which clients send to a proxy; `nil` if it is not one.
  private static func path(ofURL target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let scheme = "http://"
    guard String(decoding: target.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme
    else { return nil }
    let rest = target.dropFirst(scheme.utf8.count)
    return rest.firstIndex(of: UInt8(ascii: "/")).map { rest[$0...] } ?? Array("/".utf8)[...]
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
    bytes.decodingPercents(plusIsSpace: plusIsSpace).flatMap { $0.utf8.contains(0) ? nil : $0 }
  }
}
