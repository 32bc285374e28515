package import AggregatorCore
import AggregatorFoundation
package import AggregatorHTTP
import AggregatorText

extension URL {
  /// The resource below this URL at a path with a query, or another http(s) URL; an error has the code `invalidRequest`.
  ///
  /// The base may be a file, beside which the path is then.
  package func resource(_ text: String) throws(SourceError) -> URL {
    let invalid = SourceError(
      .invalidRequest,
      "invalid path \"\(text)\": must be below \(absoluteString), or an http(s) URL")
    let (path, _) = text.dividedAtQuery
    let isURL = text.firstMatch(of: /^[A-Za-z][A-Za-z0-9+.-]*:/) != nil
    guard !text.contains("#"), isURL || !text.hasPrefix("//"),
      !path.split(separator: "/").contains(where: {
        [".", ".."].contains(String($0).percentDecoded ?? "..")
      })
    else { throw invalid }
    var absolute = text
    if !isURL {
      var base = absoluteString.dividedAtQuery.path
      let relative = text.drop { $0 == "/" }
      if !path.allSatisfy({ $0 == "/" }) {
        if lastPathComponent.contains("."), !base.hasSuffix("/") {
          base = base[...(base.lastIndex(of: "/") ?? base.startIndex)]
        } else if !base.hasSuffix("/") {
          base += "/"
        }
      }
      absolute = String(base + relative)
    }
    guard let url = URL(string: absolute), Address(url) != nil else { throw invalid }
    return url
  }
}

extension String {
  fileprivate var dividedAtQuery: (path: Substring, query: Substring?) {
    let parts = split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts[0], parts.count > 1 ? parts[1] : nil)
  }
}

extension HTTPResponse {
  /// The URL of the next page that this response names.
  package func nextPage(after url: URL) -> URL? {
    let named = nextLink ?? nextMember
    guard let named, let next = URL(string: named, relativeTo: url)?.absoluteURL,
      Address(next) != nil
    else { return nil }
    return next
  }

  private var nextMember: String? {
    guard let body = JSONText(body).map({ JSON($0) }), case .object = body else { return nil }
    let values = [
      body["next"], body["links"]?["next"], body["_links"]?["next"]?["href"],
    ]
    return values.lazy.compactMap { $0?.string }.first {
      $0.firstMatch(of: /^(https?:\/\/|\/|\?)/) != nil
    }
  }
}
