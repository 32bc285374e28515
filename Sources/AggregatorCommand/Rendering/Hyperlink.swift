import AggregatorKit
import Foundation

/// Links in a terminal (OSC 8, https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
enum Hyperlink {
  /// Longer addresses are not taken by some terminals.
  private static let longest = 2083

  /// A piece of text as a link; the text as it is where the address cannot be one.
  ///
  /// An address has only printable characters of ASCII here, so it cannot end the sequence that it is in.
  /// Pieces of the same address on several lines are one link.
  static func text(_ text: String, to address: String) -> String {
    guard let url = address.webAddress.flatMap({ URL(string: $0) })?.absoluteString,
      url.utf8.count <= longest, url.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return text }
    let id = String(url.fnv1a, radix: 36)
    return "\u{1B}]8;id=\(id);\(url)\u{1B}\\\(text)\u{1B}]8;;\u{1B}\\"
  }

  /// Whether `FORCE_HYPERLINK` says so; `nil` if it says nothing.
  ///
  /// As with other programs, `0` is no, and everything else is yes, even in a pipe.
  static func isForced(by variables: [String: String]) -> Bool? {
    guard let word = variables["FORCE_HYPERLINK"], !word.isEmpty else { return nil }
    return word != "0"
  }

  /// Whether the terminal is one that is known to have links.
  ///
  /// Others should ignore the sequence, but not all do.
  static func isKnown(to variables: [String: String]) -> Bool {
    let (term, program) = (variables["TERM", default: ""], variables["TERM_PROGRAM", default: ""])
    let version = variables["TERM_PROGRAM_VERSION", default: ""]
    // Inside a multiplexer the variables of the terminal outside are still there.
    if variables["STY"] != nil { return false }
    if variables["TMUX"] != nil || program == "tmux" || term.hasPrefix("tmux") {
      return program == "tmux" && version.isVersion(atLeast: 3, 4)
    }
    switch program {
    case "iTerm.app": return version.isVersion(atLeast: 3, 1)
    case "WezTerm": return version.isVersion(atLeast: 20_200_620, 0)
    case "vscode": return version.isVersion(atLeast: 1, 72)
    case "ghostty": return true
    default: break
    }
    if let number = variables["VTE_VERSION"].flatMap({ Int($0) }) {
      // The first version with links crashed on them.
      return number > 5000
    }
    let isNamed = ["kitty", "ghostty", "foot", "alacritty", "contour", "wezterm"].contains {
      term == $0 || term == "xterm-\($0)" || term.hasPrefix("\($0)-")
    }
    return isNamed || ["WT_SESSION", "DOMTERM"].contains { variables[$0]?.isEmpty == false }
  }
}

extension String {
  /// Whether this is a version such as `3.4`, `3.5a` or `next-3.6`, and not an older one.
  fileprivate func isVersion(atLeast major: Int, _ minor: Int) -> Bool {
    guard let match = firstMatch(of: /([0-9]{1,9})(?:\.([0-9]{1,9}))?/),
      let first = Int(match.1)
    else { return false }
    let second = match.2.flatMap { Int($0) } ?? 0
    return (first, second) >= (major, minor)
  }
}

/// Lines in which addresses, each of which may go on over several lines, are links.
///
/// What is seen stays as it is, so that nobody has to know when widths are counted.
struct LinkedLines {
  private let lines: [String]
  private let addresses: [String]

  /// Lines of a value.
  ///
  /// - Parameters:
  ///   - lines: The value's text, wrapped.
  ///   - value: The value: an address, or a list of them. Other values have no links.
  init(_ lines: [String], of value: JSON) {
    self.lines = lines
    let texts: [String] =
      switch value {
      case .string(let text): [text]
      case .array(let values): values.map(\.cell)
      default: []
      }
    // Words can be told apart by spaces only if they are what was sent, and have none.
    addresses =
      texts.allSatisfy {
        $0.webAddress != nil && $0.utf8.allSatisfy { byte in 0x21...0x7E ~= byte }
      } ? texts : []
  }

  /// The lines with their links.
  var text: [String] {
    var addresses = addresses[...]
    guard var address = addresses.popFirst() else { return lines }
    var rest = address[...]
    return lines.map { line in
      line.split(separator: " ", omittingEmptySubsequences: false).map { word in
        if rest.isEmpty, let next = addresses.popFirst() {
          address = next
          rest = address[...]
        }
        let piece = word.prefix(rest.count)
        guard !piece.isEmpty, rest.hasPrefix(piece) else { return String(word) }
        rest = rest.dropFirst(piece.count)
        return Hyperlink.text(String(piece), to: address) + word.dropFirst(piece.count)
      }.joined(separator: " ")
    }
  }
}
