import AggregatorFoundation
package import AggregatorTerminal

extension Chafa {
  /// Fails with code `unavailable` if `chafa` is not installed.
  ///
  /// - Parameters:
  ///   - alternative: The words of the hint for those who do without it.
  ///   - terminal: The terminal that will be in use while images are drawn; `nil` for standard output, which is not.
  package init(
    _ invocation: Invocation, _ context: CommandContext, requiredBy action: String,
    or alternative: String = "", using terminal: Int32? = nil
  ) throws(CommandError) {
    let path = try ExternalProgram.path(
      of: Self.program, requiredBy: action, or: alternative, context.variables)
    let graphics = TerminalGraphics(
      context.variables, of: terminal ?? STDOUT_FILENO,
      hasColor: terminal == nil ? context.terminalLayout.style.isOn : context.hasColorOnTerminal,
      obeysEscapes: context.terminal.obeysEscapes)
    self.init(
      at: path, search: context.variables["PATH"] ?? "", graphics,
      within: invocation.duration(.timeout) ?? .seconds(20), using: terminal)
  }
}
