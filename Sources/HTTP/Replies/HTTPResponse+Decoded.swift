public import AggregatorCore
import AggregatorFormats
public import AggregatorFoundation

extension HTTPResponse {
  /// Decodes the body as JSON.
  ///
  /// Bytes that are not UTF-8 are read as U+FFFD, so that a broken character does not lose a row.
  ///
  /// - Throws: ``SourceError``: `malformed` with the path and the reason, such as
  ///   `results[3].name is missing` and the `DecodingError` as cause, or the error that `type` itself throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by service: String
  ) throws(SourceError) -> Value {
    try json(by: service).read(by: service)
  }

  /// Decodes the body as JSON with the strategies of a decoder of Foundation's, which takes about three times as long.
  ///
  /// - Throws: As ``decoded(as:by:)``.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by service: String, with decoder: JSONDecoder
  ) throws(SourceError) -> Value {
    _ = try json(by: service)
    return try JSONText.reading(by: service) {
      try decoder.decode(type, from: Data(String(decoding: body, as: UTF8.self).utf8))
    }
  }

  /// The body as JSON, read leniently or not.
  func json(by service: String, isLenient: Bool = false) throws(SourceError) -> JSONText {
    switch body.firstSignificantByte {
    case nil: throw SourceError(.malformed, "\(service) sent an empty response instead of JSON")
    case UInt8(ascii: "<"):
      let what = body.isXML ? "XML" : "an HTML page"
      throw SourceError(.malformed, "\(service) sent \(what) instead of JSON\(excerpt)")
    default: break
    }
    guard let text = JSONText(body, isLenient: isLenient) else {
      let isCut = JSONText.errorOffset(in: body) == body.count
      let what = isCut ? "JSON that ends early" : "something that is not JSON"
      throw SourceError(.malformed, "\(service) sent \(what)\(excerpt)")
    }
    return text
  }
}

extension JSONText {
  /// Reads the value, or that of a member, of a service's response.
  func read<Value: Decodable>(
    at path: [String] = [], by service: String
  ) throws(SourceError) -> Value {
    try Self.reading(by: service) { try read(at: path) }
  }

  fileprivate static func reading<Value>(
    by service: String, _ read: () throws -> Value
  ) throws(SourceError) -> Value {
    do { return try read() } catch let error as SourceError {
      throw error
    } catch {
      let reason = error.decodingReason(below: 0) ?? "invalid value"
      throw SourceError(.malformed, "invalid response from \(service): \(reason)", cause: error)
    }
  }
}
