import AggregatorFiles
import AggregatorFoundation
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

package enum Shell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  func installing(_ program: String) -> [String] {
    let command = "\(program) completions \(rawValue)"
    return switch self {
    case .bash:
      [
        "In this shell: eval \"$(\(command))\"",
        "In every shell, with the package bash-completion: "
          + "\(command) > ~/.local/share/bash-completion/completions/\(program)",
        "Without the package, add the first command to ~/.bashrc.",
      ]
    case .zsh:
      [
        "In this shell, after compinit: eval \"$(\(command))\"",
        "In every shell: add that command to ~/.zshrc, or write its output to a directory in "
          + "$fpath: "
          + "\(command) > ~/.zsh/_\(program)",
      ]
    case .fish:
      [
        "In this shell: \(command) | source",
        "In every shell: \(command) > ~/.config/fish/completions/\(program).fish",
      ]
    }
  }

  /// The file with the completions of a program, or that loads them, where this shell usually has them; `nil` if there is
  /// none.
  package func completions(of program: String, _ variables: [String: String]) -> String? {
    let home = variables["HOME"] ?? ""
    let data = variables["XDG_DATA_HOME"]?.nonBlank ?? "\(home)/.local/share"
    let settings = variables["XDG_CONFIG_HOME"]?.nonBlank ?? "\(home)/.config"
    var (files, loaders): ([String], [String])
    switch self {
    case .bash:
      files = ["\(data)", "/usr/local/share", "/usr/share"].map {
        "\($0)/bash-completion/completions/\(program)"
      }
      loaders = ["\(home)/.bashrc", "\(home)/.bash_profile"]
    case .zsh:
      files = [
        "\(home)/.zsh", "/usr/local/share/zsh/site-functions", "/usr/share/zsh/site-functions",
        "/usr/share/zsh/vendor-completions",
      ].map { "\($0)/_\(program)" }
      loaders = ["\(variables["ZDOTDIR"]?.nonBlank ?? home)/.zshrc"]
    case .fish:
      files = [
        "\(settings)/fish/completions", "/usr/share/fish/vendor_completions.d",
      ].map { "\($0)/\(program).fish" }
      loaders = ["\(settings)/fish/config.fish"]
    }
    return files.first { access($0, R_OK) == 0 }
      ?? loaders.first { path in
        let bytes = try? OpenFile(reading: path).prefix(1 << 20)
        return String(decoding: bytes ?? [], as: UTF8.self).contains("\(program) completions")
      }
  }

  /// Only passes the line on and the completions back: data to the shell, never evaluated.
  package func script(_ program: String) -> String {
    let function = program.replacing(/[^A-Za-z0-9_]/, with: "_")
    return switch self {
    case .bash:
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
        done < <(COMP_WORDBREAKS=$COMP_WORDBREAKS COMP_TYPE=$COMP_TYPE command \#(program) \
          __complete bash --line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
      }
      complete -F _\#(function) \#(program)

      """#
    case .zsh:
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
        if [[ $words[CURRENT] =~ "^(--[a-z-]+=)(['\"])[^'\"]*\$" ]]; then
          # Zsh itself would write --where=a\ b for --where='a b.
          IPREFIX=$match[1]$match[2] PREFIX=${(Q)PREFIX#*=} found=("${(@)found#*=}")
          if [[ $match[2] == "'" ]]; then found=("${(@qq)found}"); else found=("${(@qqq)found}"); fi
          found=("${(@)${(@)found#?}%?}")
          (( $#suffix )) || suffix=(-S "$match[2] ")
          suffix+=(-Q)
        fi
        # The program offers what replaces the word only if nothing begins with it.
        [[ $found[1] == "${(Q)PREFIX}"* ]] || suffix+=(-U -p "$IPREFIX")
        (( $#lines )) && compadd -l -V found -d shown "${(@)suffix}" -a found
      }
      if [[ $funcstack[1] == _\#(function) ]]; then _\#(function); else compdef _\#(function) \#(program); fi

      """#
    case .fish:
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

  fileprivate func command(_ program: String) -> Command {
    Command(
      options: [.widget],
      notes: installing(program) + [
        "IDs and names are completed from cached records; no service is contacted.",
        installingWidget(program),
      ],
      examples: [
        ("completions \(rawValue)", "print the script"),
        ("completions \(rawValue) --widget", "print the key binding"),
      ]
    ) { invocation, context in
      let program = context.catalog.program
      try context.output.write(invocation.has(.widget) ? widget(program) : script(program))
      return .success
    }
  }
}

extension CommandTree.Node {
  package static func completions(_ program: String) -> CommandTree.Node {
    CommandTree.Node(
      "completions", "Generate a shell completion script", nil,
      children: Shell.allCases.map { shell in
        .init(
          "completions \(shell.rawValue)",
          "Generate the completion script for \(shell.rawValue)", shell.command(program))
      })
  }
}
