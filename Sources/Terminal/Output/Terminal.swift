package import AggregatorKit

package struct Terminal: Sendable {
  package let isOutput: Bool
  package let isError: Bool
  /// In cells.
  package let width: Int
  /// `nil` if unknown, or if standard output is no terminal.
  package let height: Int?
  package let obeysEscapes: Bool
  /// False if the locale names another encoding; output in a minimal environment without one is UTF-8, too.
  package let hasUTF8: Bool
  package let wantsColor: Bool
  package let hasLinks: Bool

  static let defaultWidth = 80

  /// `AGGREGATOR_FORCE_TTY=N` simulates a terminal N cells wide and `COLUMNS` overrides the width;
  /// `NO_COLOR`, `TERM=dumb` and `FORCE_HYPERLINK` are honoured.
  package init(_ variables: [String: String], of program: ProgramName) {
    let forced = variables[program.variable("FORCE_TTY")].flatMap { Self.width(in: $0) }
    isOutput = forced != nil || isatty(STDOUT_FILENO) == 1
    isError = forced != nil || isatty(STDERR_FILENO) == 1
    width =
      variables["COLUMNS"].flatMap { Self.width(in: $0) } ?? forced
      ?? Self.measuredSize.map(\.columns) ?? Self.defaultWidth
    height =
      forced == nil && isOutput
      ? Self.measuredSize.flatMap { $0.rows > 0 ? $0.rows : nil } : nil
    obeysEscapes = variables["TERM"] != "dumb"
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { variables[$0] }
      .first { !$0.isEmpty }
    hasUTF8 = locale.map(Self.isUTF8) ?? true
    wantsColor = obeysEscapes && variables["NO_COLOR", default: ""].isEmpty
    hasLinks =
      Self.forcesHyperlinks(variables)
      ?? (isOutput && obeysEscapes && Self.supportsHyperlinks(variables))
  }

  /// - Parameter locale: As in `LANG`: `de_DE.UTF-8@euro`, `C.utf8`.
  private static func isUTF8(_ locale: String) -> Bool {
    let codeset = locale.prefix { $0 != "@" }.lowercased()
    return codeset.hasSuffix("utf-8") || codeset.hasSuffix("utf8")
  }

  private static func width(in text: String) -> Int? {
    Int(text).flatMap { 1...10_000 ~= $0 ? $0 : nil }
  }

  private static var measuredSize: (rows: Int, columns: Int)? {
    [STDOUT_FILENO, STDERR_FILENO].lazy.compactMap(windowSize).first
      .map { (Int($0.ws_row), Int($0.ws_col)) }
  }

  /// `nil` for what is no terminal, or does not know its size.
  package static func windowSize(of descriptor: Int32) -> winsize? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? size : nil
  }

  /// `nil` if it is not set; as elsewhere, `0` means no and anything else yes, even in a pipe.
  private static func forcesHyperlinks(_ variables: [String: String]) -> Bool? {
    guard let word = variables["FORCE_HYPERLINK"], !word.isEmpty else { return nil }
    return word != "0"
  }

  /// Known terminals only: others should ignore the sequence, but not all do.
  private static func supportsHyperlinks(_ variables: [String: String]) -> Bool {
    let (term, program) = (variables["TERM", default: ""], variables["TERM_PROGRAM", default: ""])
    let version = variables["TERM_PROGRAM_VERSION", default: ""]
    // Inside a multiplexer the variables of the outer terminal are still set.
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
      // Version 0.50, the first with links, crashed on them.
      return number > 5000
    }
    let isNamed = ["kitty", "ghostty", "foot", "alacritty", "contour", "wezterm"].contains {
      term == $0 || term == "xterm-\($0)" || term.hasPrefix("\($0)-")
    }
    return isNamed || ["WT_SESSION", "DOMTERM"].contains { variables[$0]?.isEmpty == false }
  }
}

extension String {
  /// `true` for a version such as `3.4`, `3.5a` or `next-3.6` that is not older.
  fileprivate func isVersion(atLeast major: Int, _ minor: Int) -> Bool {
    guard let match = firstMatch(of: /([0-9]{1,9})(?:\.([0-9]{1,9}))?/),
      let first = Int(match.1)
    else { return false }
    let second = match.2.flatMap { Int($0) } ?? 0
    return (first, second) >= (major, minor)
  }
}
