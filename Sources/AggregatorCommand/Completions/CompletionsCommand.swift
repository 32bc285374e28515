import AggregatorKit

extension CommandTree.Node {
  /// `aggregator completions bash|zsh|fish`.
  ///
  /// - Parameter program: What the program is called.
  /// - Returns: The node.
  static func completions(_ program: String) -> CommandTree.Node {
    CommandTree.Node(
      "completions", "Print what makes a shell complete command lines", nil,
      children: Shell.allCases.map { shell in
        .init(
          "completions \(shell.rawValue)",
          "Print what makes \(shell.rawValue) complete command lines",
          .printStub(of: shell, program))
      })
  }
}

extension Command {
  fileprivate static func printStub(of shell: Shell, _ program: String) -> Command {
    Command(
      notes: shell.installing(program) + [
        "Ids are those of records that are stored. No service is asked."
      ],
      examples: [("completions \(shell.rawValue)", "what \(shell.rawValue) is to evaluate")]
    ) { invocation, session in
      try invocation.refuseArguments()
      try session.output.write(shell.stub(session.tree.program))
      return .success
    }
  }
}
