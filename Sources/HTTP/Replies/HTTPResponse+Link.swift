import AggregatorCore
import AggregatorFoundation
import AggregatorText

extension HTTPResponse {
  /// The URL with `rel="next"` in the `Link` header fields (RFC 8288).
  public var nextLink: String? { link("next") }

  /// The URL with `rel="last"` in the `Link` header fields.
  package var lastLink: String? { link("last") }

  private func link(_ relation: Substring) -> String? {
    for field in headers where field.name == "link" {
      for link in field.value.matches(of: /<([^<>]*)>([^<]*)/) {
        let parameters = link.output.2.lowercased().split(separator: ";")
        let isWanted = parameters.contains { parameter in
          let pair = parameter.split(separator: "=", maxSplits: 1)
          guard pair.count == 2, pair[0].trimmed == "rel" else {
            return false
          }
          let value = pair[1].split { " \t,\"".contains($0) }
          return value.contains(relation)
        }
        if isWanted { return String(link.output.1) }
      }
    }
    return nil
  }
}
