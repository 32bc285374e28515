import Foundation

/// What is known of the terminal, if there is one.
struct Terminal: Sendable {
  /// Whether standard output is a terminal.
  let isOutput: Bool

  /// Whether standard error is a terminal.
  let isError: Bool

  /// How many cells a line has.
  let width: Int

  /// Whether it obeys escape sequences.
  let obeysEscapes: Bool

  /// Whether colour is wanted where nobody says so.
  let wantsColor: Bool

  /// Whether addresses on standard output are made links.
  let hasLinks: Bool

  /// The width where it cannot be found out.
  static let standardWidth = 80

  /// Looks at the descriptors of this process.
  ///
  /// - Parameter variables: `AGGREGATOR_FORCE_TTY=N` stands for a terminal N cells wide; `COLUMNS`
  ///   wins over the terminal's own word; `NO_COLOR` and `TERM=dumb` are honoured;
  ///   `FORCE_HYPERLINK` wins over what is known of terminals and links.
  init(_ variables: [String: String]) {
    let forced = variables["AGGREGATOR_FORCE_TTY"].flatMap { Self.width(in: $0) }
    isOutput = forced != nil || isatty(STDOUT_FILENO) == 1
    isError = forced != nil || isatty(STDERR_FILENO) == 1
    width =
      variables["COLUMNS"].flatMap { Self.width(in: $0) } ?? forced ?? Self.measuredWidth
      ?? Self.standardWidth
    obeysEscapes = variables["TERM"] != "dumb"
    wantsColor = obeysEscapes && variables["NO_COLOR", default: ""].isEmpty
    hasLinks =
      Hyperlink.isForced(by: variables)
      ?? (isOutput && obeysEscapes && Hyperlink.isKnown(to: variables))
  }

  private static func width(in text: String) -> Int? {
    Int(text).flatMap { 1...10_000 ~= $0 ? $0 : nil }
  }

  private static var measuredWidth: Int? {
    var size = winsize()
    for descriptor in [STDOUT_FILENO, STDERR_FILENO]
    where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return nil
  }
}
