import AggregatorKit

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
