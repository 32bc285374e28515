import AggregatorFoundation

/// The pictures that a terminal can show.
package struct TerminalGraphics: Sendable {
  package let format: Picture.Format

  /// The colors of symbols, under the name that `chafa` has for them.
  package let colors: String

  /// The size of a cell in pixels; `nil` if the terminal does not report it.
  package let cell: (width: Int, height: Int)?

  /// Asks the terminal if its variables do not tell.
  package init(_ variables: [String: String], _ layout: TerminalLayout, obeysEscapes: Bool) {
    let cell = Self.measuredCell
    self.cell = cell
    colors = layout.style.isOn ? Self.colors(variables) : "none"
    if !obeysEscapes {
      format = .symbols
    } else if let known = Self.format(variables) {
      format = known
    } else {
      // Without the size of a cell, sixels have no size either.
      format = cell != nil && TerminalQuery.attributes()?.contains(4) == true ? .sixels : .symbols
    }
  }

  /// The format of a terminal that is known by its variables.
  private static func format(_ variables: [String: String]) -> Picture.Format? {
    let (term, program) = (variables["TERM", default: ""], variables["TERM_PROGRAM", default: ""])
    // Inside a multiplexer the variables of the outer terminal are still set.
    let isInside = ["TMUX", "STY"].contains { variables[$0]?.isEmpty == false }
    if isInside || ["tmux", "screen"].contains(where: term.hasPrefix) { return nil }
    if ["xterm-kitty", "xterm-ghostty"].contains(term) || program == "ghostty" { return .kitty }
    if ["iTerm.app", "WezTerm"].contains(program) || variables["LC_TERMINAL"] == "iTerm2" {
      return .iterm
    }
    return nil
  }

  private static func colors(_ variables: [String: String]) -> String {
    let term = variables["TERM", default: ""]
    if ["truecolor", "24bit"].contains(variables["COLORTERM"]) || term.hasSuffix("-direct") {
      return "full"
    }
    return term.contains("256color") ? "256" : "16"
  }

  private static var measuredCell: (width: Int, height: Int)? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    let cell = (width: Int(size.ws_xpixel / size.ws_col), height: Int(size.ws_ypixel / size.ws_row))
    return cell.width > 0 && cell.height > 0 ? cell : nil
  }
}
