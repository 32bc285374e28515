package import AggregatorFoundation

package enum Browser {
  #if os(macOS)
    private static let opener = "open"
  #else
    private static let opener = "xdg-open"
  #endif

  /// Waits for the opener to exit; throws `unavailable` if there is none or it fails.
  package static func open(_ url: URL, variables: [String: String]) throws(CommandError) {
    let hint: Hint = "open \(url) yourself"
    guard let path = ExternalProgram.path(of: opener, variables) else {
      throw CommandError(.unavailable, "no browser found (\(opener) is not installed)", hint: hint)
    }
    let status = ExternalProgram.run([path, url.absoluteString], variables)
    guard status == 0 else {
      throw CommandError(.unavailable, "\(opener) failed with status \(status)", hint: hint)
    }
  }
}
