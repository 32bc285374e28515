/// A filter or an order that has no meaning: it was typed wrongly, or names what the records do not have.
package struct FilterError: Error, Hashable, Sendable {
  /// The failure, with values in quotes.
  package var message: String
  /// What was probably meant.
  package var suggestion: String?
  /// How to mend it.
  package var hint: String?

  package init(_ message: String, suggestion: String? = nil, hint: String? = nil) {
    self.message = message
    self.suggestion = suggestion
    self.hint = hint
  }
}
