import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorArguments

extension Shell {
  /// The path of the shell; `nil` if it is not installed.
  var path: String? {
    ["/usr/bin/\(self)", "/bin/\(self)", "/usr/local/bin/\(self)"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The installed shells.
  static let installed = allCases.filter { $0.path != nil }

  /// The shells that are not installed, and so not tested.
  static var missing: [String] { allCases.filter { $0.path == nil }.map(\.rawValue) }
}

/// An interactive shell with the completions of the program.
///
/// In this shell, running the program only records its arguments, in the file `typed` of the
/// working directory; completing runs the real one.
final class ShellAtTerminal: Sendable {
  private let terminal: PseudoTerminal
  private let child: Child
  private let sandbox: Sandbox

  private static let prompt = "ready> "

  /// Starts a shell, and waits until it is ready.
  ///
  /// - Throws: `POSIXError` if it cannot be started or prints nothing.
  ///
  /// - Parameter hasWidget: True for a shell with the key that picks records, too.
  init(_ shell: Shell, in home: PopulatedHome, hasWidget: Bool = false) async throws {
    sandbox = home.household.sandbox
    terminal = try PseudoTerminal()
    terminal.widen(to: 200)
    let widget = "aggregator completions \(shell) --widget"
    let setup =
      !hasWidget ? "" : shell == .fish ? "\(widget) | source\n" : "eval \"$(\(widget))\"\n"
    let start = try sandbox.write(setup + Self.setup(of: shell), to: "start/.\(shell)rc").path
    let options =
      switch shell {
      case .bash: ["--noprofile", "--rcfile", start, "-i"]
      case .zsh: ["-i"]
      case .fish: ["-i", "-C", "source \(start)"]
      }
    let programs = URL(filePath: try Binary.path).deletingLastPathComponent().path
    // A controlling terminal, to which keys such as Ctrl-C apply.
    child = try Child(
      ["/usr/bin/setsid", "-c", "-w", try #require(shell.path)] + options,
      environment: [
        "HOME": sandbox.home.path, "PATH": "\(programs):/usr/bin:/bin", "TERM": "xterm",
        "PRODUCTS_URL": "\(try Binary.nowhere.get().baseURL)",
        "ZDOTDIR": sandbox.root.appending(path: "start").path, "LC_ALL": "C.UTF-8",
      ],
      directory: sandbox.work.path,
      descriptors: [terminal.descriptor, terminal.descriptor, terminal.descriptor])
    try await terminal.read(until: Self.prompt)
  }

  private static func setup(of shell: Shell) -> String {
    switch shell {
    case .bash:
      """
      eval "$(aggregator completions bash)"
      aggregator() { printf '%s\\n' "$@" >> typed; echo noted; }
      PS1='\(prompt)'
      """
    case .zsh:
      """
      autoload -Uz compinit && compinit -u -D
      eval "$(aggregator completions zsh)"
      aggregator() { printf '%s\\n' "$@" >> typed; echo noted; }
      PS1='\(prompt)'
      """
    case .fish:
      """
      aggregator completions fish | source
      function aggregator; printf '%s\\n' $argv >> typed; echo noted; end
      function fish_prompt; printf '\(prompt)'; end
      function fish_greeting; end
      """
    }
  }

  /// Types a command line, and waits until it has run.
  func run(_ keys: String) async throws {
    terminal.type("\(keys)\n")
    // The prompt may be redrawn before that.
    try await terminal.read(until: "noted\r\n", Self.prompt)
  }

  /// Types a command line and the key that picks a record, which is found by a query, and runs it.
  func pick(_ line: String, _ query: String) async throws {
    terminal.type("\(line)\u{1B}i")
    try await terminal.read(until: "\u{1B}[?1049h", "Enter picks")
    // The end waits for the records.
    terminal.type("\(query)\r")
    try await terminal.read(until: "\u{1B}[?1049l")
    try await run("")
  }

  /// Types a command line and the key that picks a record, leaves the picker, and runs the line.
  func leave(_ line: String) async throws {
    terminal.type("\(line)\u{1B}i")
    try await terminal.read(until: "\u{1B}[?1049h", "Enter picks")
    terminal.type("\u{1B}")
    try await terminal.read(until: "\u{1B}[?1049l")
    try await run("")
  }

  /// Types keys, and waits for some text.
  func type(_ keys: String, until text: String) async throws {
    terminal.type(keys)
    try await terminal.read(until: text)
  }

  /// The arguments of all runs of the program, in one list.
  func typed() throws -> [String] {
    try sandbox.text(of: "work/typed").split(separator: "\n").map(String.init)
  }
}
