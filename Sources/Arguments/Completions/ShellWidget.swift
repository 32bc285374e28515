extension Shell {
  /// The key of the widget, which no shell and not fzf binds: I as in ID.
  static let widgetKey = "Alt-I"

  func installingWidget(_ program: String) -> String {
    let command = "\(program) completions \(rawValue) --widget"
    let file =
      switch self {
      case .bash: "~/.bashrc"
      case .zsh: "~/.zshrc"
      case .fish: "~/.config/fish/config.fish"
      }
    let line = self == .fish ? "\(command) | source" : "eval \"$(\(command))\""
    return
      "With --widget it is a key binding instead: \(Self.widgetKey) on a command line of \(program) picks a record of "
      + "its source on the screen, and inserts the ID. In every shell: \(line) in \(file)"
  }

  /// A key that inserts an ID: data to the shell, quoted and never evaluated.
  ///
  /// A word that is being typed after the verb is the first query, and gives way to the ID.
  package func widget(_ program: String) -> String {
    let function = program.replacing(/[^A-Za-z0-9_]/, with: "_")
    return switch self {
    case .bash:
      #"""
      # \#(Self.widgetKey) inserts the ID of a record, for bash 4 and later.
      _\#(function)_pick() {
        local before=${READLINE_LINE:0:READLINE_POINT} after=${READLINE_LINE:READLINE_POINT}
        local word query= id
        local -a typed words=()
        [[ $before == *'\#(program) '* ]] || return 0
        read -ra typed <<< "${before##*'\#(program) '}"
        for word in "${typed[@]}"; do [[ $word == -* ]] || words+=("$word"); done
        (( ${#words[@]} )) || return 0
        if [[ $before != *[[:space:]] ]]; then
          if (( ${#words[@]} > 2 )) && [[ $word != -* ]]; then query=$word; else before+=' '; fi
        fi
        id=$(command \#(program) pick "${words[0]}" -- "$query" </dev/tty 2>/dev/null) || return 0
        printf -v id '%q ' "$id"
        before=${before%"$query"}$id
        READLINE_LINE=$before$after
        READLINE_POINT=${#before}
      }
      bind -m emacs-standard -x '"\ei": _\#(function)_pick'

      """#
    case .zsh:
      #"""
      # \#(Self.widgetKey) inserts the ID of a record, for zsh.
      _\#(function)_pick() {
        emulate -L zsh
        local query= id
        local -a typed words
        [[ $LBUFFER == *'\#(program) '* ]] || return 0
        typed=(${=LBUFFER##*'\#(program) '})
        words=(${typed:#-*})
        (( $#words )) || return 0
        if [[ $LBUFFER != *[[:space:]] ]]; then
          if (( $#words > 2 )) && [[ $typed[-1] != -* ]]; then query=$typed[-1]; else LBUFFER+=' '; fi
        fi
        if id=$(command \#(program) pick "$words[1]" -- "$query" </dev/tty 2>/dev/null); then
          LBUFFER="${LBUFFER%"$query"}${(q)id} "
        fi
        zle reset-prompt
      }
      zle -N _\#(function)_pick
      bindkey -M emacs '\ei' _\#(function)_pick

      """#
    case .fish:
      #"""
      # \#(Self.widgetKey) inserts the ID of a record, for fish.
      function __\#(function)_pick
          set -l line (commandline -cp | string collect)
          set -l words (string split -n ' ' -- $line | string match -v -- '-*')
          test "$words[1]" = '\#(program)'; and test (count $words) -ge 2; or return
          set -l typed (commandline -ct | string collect)
          if test (count $words) -lt 4; or string match -q -- '-*' $typed
              test -z "$typed"; or commandline -i ' '
              set typed ''
          end
          set -l id (command \#(program) pick $words[2] -- "$typed" </dev/tty 2>/dev/null | string collect)
          if test -n "$id"
              test -z "$typed"; or commandline -t ''
              commandline -i -- (string escape -- $id)' '
          end
          commandline -f repaint
      end
      bind \ei __\#(function)_pick

      """#
    }
  }
}
