public import AggregatorCore
public import Foundation

extension HTTPResponse {
  /// Decodes the body as JSON.
  ///
  /// Bytes that are not UTF-8 are read as U+FFFD, so that a broken character does not lose a row.
  ///
  /// A `decoder` other than Foundation's default takes about three times as long.
  ///
  /// - Throws: ``SourceError``: `malformed` with the path and the reason, such as
  ///   `results[3].name is missing`, or the error that `type` itself throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by service: String, with decoder: JSONDecoder? = nil
  ) throws(SourceError) -> Value {
    switch body.firstSignificantByte {
    case nil: throw SourceError(.malformed, "\(service) sent an empty response instead of JSON")
    case UInt8(ascii: "<"):
      let title = summary.map { ": \($0)" } ?? ""
      throw SourceError(.malformed, "\(service) sent an HTML page instead of JSON\(title)")
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
      throw SourceError(.malformed, "invalid response from \(service): \(reason)")
    }
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

extension Error {
  /// The reason why decoding failed: `name is missing`, `age is text instead of a number`.
  ///
  /// - Parameter depth: The number of leading keys of the coding path to leave out.
  /// - Returns: At most 120 characters on one line; `nil` for an unknown error.
  func decodingReason(below depth: Int) -> String? {
    if let error = self as? SourceError { return error.message }
    guard let error = self as? DecodingError else { return nil }
    let reason: String
    switch error {
    case .keyNotFound(let key, let context):
      reason = "\((context.codingPath + [key]).text(below: depth)) is missing"
    case .valueNotFound(_, let context):
      reason = "\(context.codingPath.text(below: depth)) is null"
    case .typeMismatch(let type, let context):
      let found = context.debugDescription.firstMatch(of: /found (.+) instead/).map(\.1)
      reason =
        "\(context.codingPath.text(below: depth)) is "
        + "\(found.map { Self.name(of: $0) } ?? "something else") instead of \(Self.name(of: type))"
    case .dataCorrupted(let context) where context.debugDescription.hasPrefix(JSONText.misfit):
      reason =
        context.codingPath.text(below: depth)
        + " is a number that is not whole or out of range"
    case .dataCorrupted(let context) where context.codingPath.count > depth:
      reason = "\(context.codingPath.text(below: depth)) has an invalid format"
    case .dataCorrupted: reason = "a value has an invalid format"
    @unknown default: return nil
    }
    return reason.oneLine(atMost: 120)
  }

  private static func name(of found: Substring) -> String {
    switch found {
    case "a string": "text"
    case "number": "a number"
    case "bool": "true or false"
    case "an array": "a list"
    case "a dictionary": "an object"
    default: String(found)
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [Any].Type: "a list"
    case is [String: Any].Type: "an object"
    default: "\(type)"
    }
  }
}

extension [any CodingKey] {
  /// The path as `results[3].name`; `the value` if it is empty.
  fileprivate func text(below depth: Int) -> String {
    var text = ""
    for key in dropFirst(depth) {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return text.isEmpty ? "the value" : text
  }
}
