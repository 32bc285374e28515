/// A filter or an order that has no meaning: it was typed wrongly, or names what the records do not have.
package struct FilterError: Error, Hashable, Sendable {
  /// The failure, with values in quotes.
  package var message: String
  /// The word that was probably meant.
  package var suggestion: String?
  /// The remedy.
  package var hint: String?
  /// True if the text is no filter, whatever the records are.
  package private(set) var isOfSyntax = false

  /// An error of ``TypedFilter/grammar``.
  static func syntax(_ message: String, hint: String?) -> FilterError {
    var error = FilterError(message, hint: hint)
    error.isOfSyntax = true
    return error
  }

  package init(_ message: String, suggestion: String? = nil, hint: String? = nil) {
    self.message = message
    self.suggestion = suggestion
    self.hint = hint
  }
}
