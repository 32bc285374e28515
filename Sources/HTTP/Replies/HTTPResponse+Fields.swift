import AggregatorCore
import AggregatorFoundation
import AggregatorText

extension HTTPResponse {
  /// The URL with `rel="next"` in the `Link` header fields (RFC 8288).
  public var nextLink: String? { link("next") }

  package var lastLink: String? { link("last") }

  private func link(_ relation: Substring) -> String? {
    for field in headers where field.name == "link" {
      for link in field.value.matches(of: /<([^<>]*)>([^<]*)/) {
        let parameters = link.output.2.lowercased().split(separator: ";")
        for pair in parameters.map({ $0.split(separator: "=", maxSplits: 1) })
        where pair.count == 2 && pair[0].trimmed == "rel" {
          let value = pair[1].split { " \t,\"".contains($0) }
          if value.contains(relation) { return String(link.output.1) }
        }
      }
    }
    return nil
  }
}
