import AggregatorCore

extension Error {
  /// What a decoder complains about, in our own words: `name is missing`, `age is text instead of a
  /// number`.
  ///
  /// - Parameter depth: How many keys of the coding path the reader knows already.
  /// - Returns: At most 120 characters on one line; `nil` for an error that says nothing.
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
        + " is a number that does not fit, such as 1.5 for a whole number"
    case .dataCorrupted(let context) where context.codingPath.count > depth:
      reason = "\(context.codingPath.text(below: depth)) has a wrong form"
    case .dataCorrupted: reason = "a value in it has a wrong form"
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
  /// The path as people write it: `results[3].name`; `it` for an empty one.
  fileprivate func text(below depth: Int) -> String {
    var text = ""
    for key in dropFirst(depth) {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return text.isEmpty ? "it" : text
  }
}
