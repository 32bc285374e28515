import AggregatorCore
import Foundation

extension WireRequest {
  private static let userAgent = "aggregator/\(Version.current) (Swift command line and library)"

  /// Writes a request out, with its secrets.
  ///
  /// - Throws: ``SourceError`` with code `badSettings` if a secret would travel readably, `badUsage` if
  ///   the address or a header field cannot be sent.
  init(_ request: HTTPRequest) throws(SourceError) {
    guard var address = Address(request.url) else {
      throw SourceError(.badUsage, "'\(request.endpoint)' is not an http address that can be asked")
    }
    guard request.secrets.isEmpty || address.scheme == "https" || address.isLoopback else {
      throw SourceError(
        .badSettings, "a key would travel unencrypted to \(address.authority)",
        remedy: "use an address that starts with https://")
    }
    let items = request.query.map { "\($0.name.percentEncoded)=\($0.value.text.percentEncoded)" }
    let query = [address.query].compactMap(\.self) + items
    address.query = query.isEmpty ? nil : query.joined(separator: "&")

    var headers = request.headers.map { (name: $0.name, value: $0.value.text) }
    for field in headers where !Self.isValid(field) {
      // Neither part is quoted: the value may be a secret, and the name is as broken.
      throw SourceError(.badUsage, "a header field of the request cannot be sent")
    }
    for field in [(name: "User-Agent", value: Self.userAgent), (name: "Accept", value: "*/*")]
    where !headers.contains(where: { $0.name.lowercased() == field.name.lowercased() }) {
      headers.append(field)
    }
    self.init(
      method: request.method, address: address, headers: headers,
      body: request.method == .post ? request.body ?? Data() : nil, limits: request.limits)
  }

  /// Whether a name is a token and a value has no control characters (RFC 9110, section 5), so that
  /// neither can begin a field or a request of its own.
  private static func isValid(_ field: (name: String, value: String)) -> Bool {
    let isToken = field.name.utf8.allSatisfy { byte in
      0x21...0x7E ~= byte && !#"(),/:;<=>?@[\]{}""#.utf8.contains(byte)
    }
    let isText = field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    return !field.name.isEmpty && isToken && isText
  }
}

extension HTTPRequest {
  /// The secrets of query and head.
  var secrets: [String] {
    (query + headers).compactMap { item in
      if case .secret(let secret) = item.value { secret.reveal(\.self) } else { nil }
    }
  }

  /// The address with its query as it is sent, secret values as `REDACTED`.
  var shownAddress: String {
    let items = query.map { item in
      switch item.value {
      case .plain(let text): "\(item.name.percentEncoded)=\(text.percentEncoded)"
      case .secret: "\(item.name.percentEncoded)=\(Redactor.mark)"
      }
    }
    let query = [url.query(percentEncoded: true)].compactMap(\.self) + items
    return query.isEmpty ? endpoint : "\(endpoint)?\(query.joined(separator: "&"))"
  }
}

extension HTTPRequest.Value {
  /// The text as it is sent.
  ///
  /// Keep it where it cannot be shown.
  fileprivate var text: String {
    switch self {
    case .plain(let text): text
    case .secret(let secret): secret.reveal(\.self)
    }
  }
}
