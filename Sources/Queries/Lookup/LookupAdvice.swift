package import AggregatorKit
import AggregatorTerminal

/// The cause of a failed lookup whose remedy is a command line of this source.
struct LookupAdvice: Error {
  let hint: Hint
}

extension SourceError {
  /// The text is not a valid ID, so no record can have it.
  package static func invalidID<P: Plugin>(_ text: String, of plugin: P) -> SourceError {
    let rule = P.Item.ID.self is any BinaryInteger.Type ? ": must be a number" : ""
    return SourceError(
      .invalidRequest, "invalid \(plugin.noun.singular) ID \"\(text)\"\(rule)",
      cause: LookupAdvice(hint: plugin.searchHint(text)))
  }
}
