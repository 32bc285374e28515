import AggregatorFoundation

/// Names of sources.
package enum SourceName {
  /// A name for the source at a URL: the last word of its path that is free, else the host's, else the first of them with a
  /// number; `list` for one without a word, such as `http://192.168.0.7/`, and empty for what is no URL.
  package static func proposed(
    for url: String, if isFree: (_ name: String) -> Bool = { _ in true }
  ) -> String {
    guard let url = URL(string: url) else { return "" }
    let path = url.path(percentEncoded: false).split(separator: "/").map { $0.prefix { $0 != "." } }
    let host = (url.host() ?? "").split(separator: ".")
    let names = (path.reversed() + host.reversed().dropFirst()).map { part in
      let words = part.lowercased().split { !$0.isASCII || !$0.isLetter && !$0.isNumber }
      return String(words.joined(separator: "-").drop { !$0.isLetter }.prefix(32))
    }
    // A version says nothing.
    .filter { $0.count > 1 && $0.wholeMatch(of: /v[0-9]+/) == nil }
    let best = names.first ?? "list"
    let numbered = (2...9).lazy.map { "\(best.prefix(30))-\($0)" }
    return ([best] + names).first(where: isFree) ?? numbered.first(where: isFree) ?? best
  }
}
