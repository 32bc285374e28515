import AggregatorKit

/// Hyperlinks in a terminal (OSC 8, https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
enum Hyperlink {
  /// The longest URL that all terminals accept.
  private static let maxLength = 2083

  /// Pieces of one URL on several lines are one link; unchanged if the URL is not valid: printable
  /// ASCII only, so that it cannot end the escape sequence.
  static func text(_ text: String, to url: String) -> String {
    guard let url = url.webAddress.flatMap({ URL(string: $0) })?.absoluteString,
      url.utf8.count <= maxLength, url.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return text }
    let id = String(url.fnv1a, radix: 36)
    return "\u{1B}]8;id=\(id);\(url)\u{1B}\\\(text)\u{1B}]8;;\u{1B}\\"
  }
}

/// Lines with URLs as links, made after wrapping because links do not change the visible text.
struct LinkedLines {
  private let lines: [String]
  private let urls: [String]

  /// - Parameter value: The unwrapped value: a URL, or a list of them. Other values have no links.
  init(_ lines: [String], of value: JSON) {
    self.lines = lines
    let texts: [String] =
      switch value {
      case .string(let text): [text]
      case .array(let values): values.map(\.cell)
      default: []
      }
    // Splitting at spaces works only if sanitizing left the URLs unchanged.
    urls =
      texts.allSatisfy {
        $0.webAddress != nil && $0.utf8.allSatisfy { byte in 0x21...0x7E ~= byte }
      } ? texts : []
  }

  var text: [String] {
    var urls = urls[...]
    guard var url = urls.popFirst() else { return lines }
    var rest = url[...]
    return lines.map { line in
      line.split(separator: " ", omittingEmptySubsequences: false).map { word in
        if rest.isEmpty, let next = urls.popFirst() {
          url = next
          rest = url[...]
        }
        let piece = word.prefix(rest.count)
        guard !piece.isEmpty, rest.hasPrefix(piece) else { return String(word) }
        rest = rest.dropFirst(piece.count)
        return Hyperlink.text(String(piece), to: url) + word.dropFirst(piece.count)
      }.joined(separator: " ")
    }
  }
}
