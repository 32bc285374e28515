import Foundation

/// A `chafa` program that does what a test says.
enum FakeChafa {
  /// A variable for the search path on which the script is found first.
  ///
  /// - Parameter script: A shell script; its arguments are those of `chafa`.
  static func path(_ script: String, in sandbox: Sandbox) throws -> [String: String?] {
    let file = try sandbox.write("#!/bin/sh\n\(script)\n", to: "bin/chafa")
    try sandbox.makeExecutable(file)
    return ["PATH": "\(sandbox.root.appending(path: "bin").path):/usr/bin:/bin"]
  }

  /// Two lines of three symbols; arguments and image go to files in the home directory of the test.
  static func drawing(in sandbox: Sandbox) throws -> [String: String?] {
    let root = sandbox.root.path
    return try path(
      #"""
      printf '%s\n' "$@" > '\#(root)/arguments'
      env > '\#(root)/variables'
      for file; do :; done
      cat "$file" > '\#(root)/image'
      printf '\033[?25l\033[31m▀▄ \033[0m\n▀▀▀\033[?25h'
      """#, in: sandbox)
  }

  /// The output of ``drawing(in:)``, made safe.
  static let drawn = "\u{1B}[31m▀▄ \u{1B}[0m\u{1B}[0m\n▀▀▀\n"

  static let real = ["/usr/bin/chafa", "/usr/local/bin/chafa", "/opt/homebrew/bin/chafa"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}
