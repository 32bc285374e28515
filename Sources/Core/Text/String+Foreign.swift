import Foundation

/// What sources make of the texts that services send.
extension String {
  /// This text without white space around it; `nil` if nothing is left.
  public var nonBlank: String? {
    // Most text has nothing around it, which its ends tell if they are ASCII.
    if let first = utf8.first, let last = utf8.last, 0x21...0x7E ~= first, 0x21...0x7E ~= last {
      return self
    }
    let text = trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }

  /// This text if it is an address of the web, with `http` or `https` and a host; else `nil`.
  ///
  /// Only such addresses are shown as links and opened: with any other scheme a browser might run a
  /// program or read a file.
  public var webAddress: String? {
    guard let url = URL(string: self), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host()?.isEmpty == false
    else { return nil }
    return self
  }
}
