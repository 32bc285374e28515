import AggregatorText

extension Error {
  /// The reason why decoding failed: `name is missing`, `age is text instead of a number`.
  ///
  /// - Parameter depth: The number of leading keys of the coding path to leave out.
  /// - Returns: At most 120 characters on one line; `nil` for an unknown error.
  package func decodingReason(below depth: Int) -> String? {
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

  /// The row and the reason why decoding an array of rows failed: `row 3: name is missing`.
  package var rowReason: String? {
    let context: DecodingError.Context
    switch self as? DecodingError {
    case .keyNotFound(_, let found), .valueNotFound(_, let found), .typeMismatch(_, let found),
      .dataCorrupted(let found):
      context = found
    default: return decodingReason(below: 0)
    }
    guard let index = context.codingPath.first?.intValue else { return decodingReason(below: 0) }
    return decodingReason(below: 1).map { "row \(index + 1): \($0)" }
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
