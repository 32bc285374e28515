import AggregatorCore
import AggregatorText

/// A request that has arrived completely (RFC 9110).
package struct ServerRequest: Sendable {
  package struct Parameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package var method: String

  package var rawPath = ""

  /// The segments of the path, decoded one by one, so that an encoded slash is part of its segment.
  ///
  /// The path `/` has none; an empty segment at the end is left out.
  package var path: [String] = []

  package var rawQuery: String?

  /// The parameters of the query, decoded, in order; `+` is a space.
  package var query: [Parameter] = []

  package var headers: [Parameter] = []

  package var body: [UInt8] = []

  /// The address of the client, without a port.
  package var client = "127.0.0.1"

  /// The value of the first header field with a name, in any case; `nil` if there is none.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  package func parameter(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }
}

extension ServerRequest {
  /// A request without header fields and body, from its target as sent (RFC 9112, section 3.2).
  ///
  /// Returns `nil` if the target is not a path (or an `http` URL) with an optional query, has a space or an invalid percent
  /// encoding, or decodes to text with a NUL or invalid UTF-8.
  package init?(_ method: String, target: String, client: String = "127.0.0.1") {
    var bytes = Array(target.utf8)[...]
    if let path = Self.path(ofURL: bytes) { bytes = path }
    let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
    let rawPath = bytes[..<(mark ?? bytes.endIndex)]
    guard rawPath.first == UInt8(ascii: "/"), !bytes.contains(UInt8(ascii: " ")) else {
      return nil
    }
    var path: [String] = []
    for segment in rawPath.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let text = Self.decoded(segment) else { return nil }
      path.append(text)
    }
    if path.last == "" { path.removeLast() }

    let rawQuery = mark.map { bytes[($0 + 1)...] }
    guard let query = Self.parameters(in: rawQuery ?? []) else { return nil }
    self.init(
      method: method, rawPath: String(decoding: rawPath, as: UTF8.self), path: path,
      rawQuery: rawQuery.map { String(decoding: $0, as: UTF8.self) }, query: query,
      client: client)
  }

  /// The fields of a form (https://url.spec.whatwg.org/#application/x-www-form-urlencoded); `nil` if the body is none.
  package var form: [Parameter]? {
    guard mediaType == "application/x-www-form-urlencoded" else { return nil }
    return Self.parameters(in: body[...])
  }

  /// The type of the body without parameters, in lower case; `nil` if none is named.
  package var mediaType: String? {
    header("Content-Type").map { type in
      String(type.prefix { $0 != ";" }).lowercased().filter { !$0.isWhitespace }
    }
  }

  private static func parameters(in bytes: ArraySlice<UInt8>) -> [Parameter]? {
    var parameters: [Parameter] = []
    for item in bytes.split(separator: UInt8(ascii: "&")) {
      let pair = item.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(pair[0], plusIsSpace: true),
        let value = decoded(pair.count > 1 ? pair[1] : [], plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name, value))
    }
    return parameters
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
