package import AggregatorCore

/// A statement in SQL, and the values of its parameters, such as `:age`.
package struct SQLStatement: Sendable {
  package let text: String

  /// The values by the names of the parameters, without the colon.
  package let parameters: [String: SQLValue]

  /// The number of characters before the statement in the text of which it is a part.
  package var charactersBefore = 0

  /// Compiles the regular expressions of `REGEXP`, which SQLite leaves to programs; `nil` for a query without it.
  package var patterns: Patterns?

  /// Compiles the conditions of the function `matches`; `nil` for a query without it.
  package var conditions: Patterns?

  /// Throws `invalidRequest` for a text that is no regular expression, or no condition.
  package typealias Patterns = @Sendable (_ pattern: String) throws(SourceError) -> Matching

  /// True for a value that matches; `nil` if `isOver` became true before the end of the value.
  package typealias Matching = @Sendable (_ value: JSON, _ isOver: () -> Bool) -> Bool?

  package init(_ text: String, _ parameters: [String: SQLValue] = [:]) {
    self.text = text
    self.parameters = parameters
  }

  /// The value of a parameter; throws `invalidRequest` if there is none.
  package func value(of parameter: String) throws(SourceError) -> SQLValue {
    guard let value = parameters[parameter] else {
      throw SourceError(
        .invalidRequest, "the parameter :\(parameter) has no value",
        cause: SQLMissingParameter(name: parameter))
    }
    return value
  }

  /// The places of the parameters, such as `:age`; there are none in quotes, comments and casts.
  package var parameterRanges: [Range<String.Index>] {
    var scanner = SQLParameterScanner(text)
    return scanner.ranges()
  }

  /// The names of the parameters, each once, in the order of their first places.
  package var parameterNames: [String] {
    var names: [String] = []
    for name in parameterRanges.map({ String(text[$0].dropFirst()) }) where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  /// True for ASCII letters, digits and `_`, not beginning with a digit.
  package static func isParameterName(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
  }
}

/// A parameter of a query that has no value.
package struct SQLMissingParameter: Error {
  package let name: String
}
