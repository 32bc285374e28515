/// What text for people is laid out on.
struct TerminalLayout: Hashable, Sendable {
  /// How many cells a line has, 1 or more.
  var width: Int

  /// Whether the cursor can be moved; elsewhere spaces do it.
  ///
  /// A terminal that calls itself `dumb` cannot.
  var isTerminal: Bool

  /// Colours and weights.
  var style: Style

  /// Whether addresses are made links.
  var hasLinks: Bool

  /// A surface.
  ///
  /// - Parameters:
  ///   - width: How many cells a line has; less than 1 counts as 1.
  ///   - isTerminal: Whether the cursor can be moved.
  ///   - hasColor: Whether text is coloured.
  ///   - hasLinks: Whether addresses are made links; not by default.
  init(width: Int, isTerminal: Bool, hasColor: Bool, hasLinks: Bool = false) {
    self.width = max(1, width)
    self.isTerminal = isTerminal
    self.style = Style(isOn: hasColor)
    self.hasLinks = hasLinks
  }
}
