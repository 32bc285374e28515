public import AggregatorCore
public import AggregatorFoundation

extension HTTPResponse {
  /// Decodes the body as JSON.
  ///
  /// Bytes that are not UTF-8 are read as U+FFFD, so that a broken character does not lose a row.
  ///
  /// A `decoder` other than Foundation's default takes about three times as long.
  ///
  /// - Throws: ``SourceError``: `malformed` with the path and the reason, such as
  ///   `results[3].name is missing` and the `DecodingError` as cause, or the error that `type` itself throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by service: String, with decoder: JSONDecoder? = nil
  ) throws(SourceError) -> Value {
    switch body.firstSignificantByte {
    case nil: throw SourceError(.malformed, "\(service) sent an empty response instead of JSON")
    case UInt8(ascii: "<"):
      let title = summary.map { ": \($0)" } ?? ""
      let what = isXML ? "XML" : "an HTML page"
      throw SourceError(.malformed, "\(service) sent \(what) instead of JSON\(title)")
    default: break
    }
    guard let text = JSONText(body) else {
      let excerpt = summary.map { ": \($0)" } ?? ""
      throw SourceError(.malformed, "\(service) sent something that is not JSON\(excerpt)")
    }
    do {
      return try decoder.map { try $0.decode(type, from: body.repairedUTF8) } ?? text.read(type)
    } catch let error as SourceError {
      throw error
    } catch {
      let reason = error.decodingReason(below: 0) ?? "invalid value"
      throw SourceError(.malformed, "invalid response from \(service): \(reason)", cause: error)
    }
  }
}

extension HTTPResponse {
  /// True if the body says that it is XML, or begins as RSS and Atom do; XHTML is HTML.
  private var isXML: Bool {
    let head = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
    return !head.contains("<html") && !head.contains("<!doctype html")
      && head.contains(/<(\?xml|rss|feed|rdf:rdf)[\s>]/)
  }
}

extension Data {
  /// The bytes with U+FFFD for those that are not UTF-8.
  fileprivate var repairedUTF8: Data {
    let isValid = String(validating: self, as: UTF8.self) != nil
    return isValid ? self : Data(String(decoding: self, as: UTF8.self).utf8)
  }
}

/// Any JSON value, which is skipped.
struct SkippedValue: Decodable {
  init(from decoder: any Decoder) {}
}
