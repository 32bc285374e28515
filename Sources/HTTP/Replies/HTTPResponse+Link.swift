import Foundation

extension HTTPResponse {
  /// The URL with `rel="next"` in the `Link` header fields (RFC 8288).
  public var nextLink: String? {
    for field in headers where field.name == "link" {
      for link in field.value.matches(of: /<([^<>]*)>([^<]*)/) {
        let parameters = link.output.2.lowercased().split(separator: ";")
        let isNext = parameters.contains { parameter in
          let pair = parameter.split(separator: "=", maxSplits: 1)
          guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces) == "rel" else {
            return false
          }
          let value = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t,\""))
          return value.split(separator: " ").contains("next")
        }
        if isNext { return String(link.output.1) }
      }
    }
    return nil
  }
}
