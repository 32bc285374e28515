public import AggregatorCore
public import Foundation

extension HTTPResponse {
  /// The body, read as JSON.
  ///
  /// Bytes that are not UTF-8 are read as U+FFFD, so that a broken letter costs no row.
  ///
  /// - Parameters:
  ///   - type: What to read.
  ///   - service: The service's name, for the message.
  ///   - decoder: What reads, if it is to follow other strategies for dates, keys or the like than
  ///     Foundation's defaults; it takes about three times as long.
  /// - Returns: The value.
  /// - Throws: ``SourceError``: `malformed` with what is wrong and where, such as
  ///   `results[3].name is missing`, or the code that `type` itself throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by service: String, with decoder: JSONDecoder? = nil
  ) throws(SourceError) -> Value {
    switch body.firstSignificantByte {
    case nil: throw SourceError(.malformed, "\(service) sent an empty reply instead of JSON")
    case UInt8(ascii: "<"):
      let title = summary.map { ": \($0)" } ?? ""
      throw SourceError(.malformed, "\(service) sent an HTML page instead of JSON\(title)")
    default: break
    }
    guard let text = JSONText(body) else {
      let words = summary.map { ": \($0)" } ?? ""
      throw SourceError(.malformed, "\(service) sent something that is not JSON\(words)")
    }
    do {
      return try decoder.map { try $0.decode(type, from: body.repairedUTF8) } ?? text.read(type)
    } catch let error as SourceError {
      throw error
    } catch {
      let reason = error.decodingReason(below: 0) ?? "it cannot be understood"
      throw SourceError(.malformed, "the reply of \(service) cannot be read: \(reason)")
    }
  }
}

extension Data {
  /// These bytes if they are UTF-8, else with U+FFFD for those that are not.
  fileprivate var repairedUTF8: Data {
    let isValid = String(validating: self, as: UTF8.self) != nil
    return isValid ? self : Data(String(decoding: self, as: UTF8.self).utf8)
  }
}

/// Any JSON value, unread.
struct SkippedValue: Decodable {
  init(from decoder: any Decoder) {}
}
