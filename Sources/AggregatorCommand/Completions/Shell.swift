import AggregatorKit

/// A shell whose completions this program knows.
package enum Shell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  /// What to do so that it completes, in paragraphs.
  ///
  /// - Parameter program: What the program is called.
  /// - Returns: The paragraphs.
  func installing(_ program: String) -> [String] {
    let command = "\(program) completions \(rawValue)"
    return switch self {
    case .bash:
      [
        "For this shell: eval \"$(\(command))\"",
        "For every shell, where the package bash-completion is installed: "
          + "\(command) > ~/.local/share/bash-completion/completions/\(program)",
        "Elsewhere put the first line into ~/.bashrc.",
      ]
    case .zsh:
      [
        "For this shell, after compinit: eval \"$(\(command))\"",
        "For every shell put that line into ~/.zshrc, or write it into a directory of $fpath: "
          + "\(command) > ~/.zsh/_\(program)",
      ]
    case .fish:
      [
        "For this shell: \(command) | source",
        "For every shell: \(command) > ~/.config/fish/completions/\(program).fish",
      ]
    }
  }

  /// What makes the shell ask the program for completions.
  ///
  /// All that is known of commands is in the program; this only hands over the line, and what comes
  /// back. It is data to the shell, never evaluated.
  ///
  /// - Parameter program: What the program is called.
  /// - Returns: Lines to be evaluated.
  func stub(_ program: String) -> String {
    let function = program.replacing(/[^A-Za-z0-9_]/, with: "_")
    return switch self {
    case .bash: Self.bashStub(program, function)
    case .zsh: Self.zshStub(program, function)
    case .fish: Self.fishStub(program, function)
    }
  }

  private static func bashStub(_ program: String, _ function: String) -> String {
    #"""
    # Completions of \#(program) for bash.
    _\#(function)() {
      local line
      COMPREPLY=()
      while IFS= read -r line; do
        case $line in
          $'\t'*) compopt -o "${line#?}" 2>/dev/null ;;
          *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
      done < <(COMP_WORDBREAKS=$COMP_WORDBREAKS command \#(program) __complete bash \
        --line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    }
    complete -F _\#(function) \#(program)

    """#
  }

  private static func zshStub(_ program: String, _ function: String) -> String {
    #"""
    #compdef \#(program)
    # Completions of \#(program) for zsh.
    _\#(function)() {
      local -a lines found shown suffix
      lines=(${(f)"$(command \#(program) __complete zsh \
        --line "${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" 2>/dev/null)"})
      case $lines[1] in
        $'\t_files'*) compset -P '--*='; ${=lines[1]#?}; return ;;
        $'\tnospace') suffix=(-S ''); shift lines ;;
      esac
      found=("${(@)lines%%$'\t'*}")
      shown=("${(@)lines/$'\t'/  -- }")
      (( $#lines )) && compadd -l -d shown "${(@)suffix}" -a found
    }
    if [[ $funcstack[1] == _\#(function) ]]; then _\#(function); else compdef _\#(function) \#(program); fi

    """#
  }

  private static func fishStub(_ program: String, _ function: String) -> String {
    #"""
    # Completions of \#(program) for fish.
    function __\#(function)_complete
        set -l line (commandline -cp | string collect)
        set -l found (command \#(program) __complete fish --line "$line" 2>/dev/null)
        set -l head (commandline -ct | string match -r -- '^--[^=]*=')
        set -l typed (commandline -ct | string replace -r -- '^--[^=]*=' '')
        switch "$found[1]"
            case \tfile \tdirectory
                for file in (complete -C "no-such-command $typed")
                    string match -qr '^\tfile|/$' -- $found[1] $file; and echo -- "$head$file"
                end
            case '*'
                string join -- \n $found
        end
    end
    complete -c \#(program) -f -a '(__\#(function)_complete)'

    """#
  }
}

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
