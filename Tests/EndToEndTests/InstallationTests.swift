import AggregatorKit
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// The files that `Scripts/layout` installs, and those of the packages.
@Suite struct InstallationTests {
  static let manual = "share/man/man1/aggregator.1.gz"
  static let completions: [Shell: String] = [
    .bash: "share/bash-completion/completions/aggregator",
    .zsh: "share/zsh/site-functions/_aggregator",
    .fish: "share/fish/vendor_completions.d/aggregator.fish",
  ]
  static let documents = ["share/doc/aggregator/changelog.gz", "share/doc/aggregator/copyright"]

  /// A program that answers like the built one, whose copies take little time and space.
  private func program(in sandbox: Sandbox) throws -> String {
    let file = try sandbox.write(
      "#!/bin/sh\nexec '\(try Binary.path)' \"$@\"\n", to: "built/aggregator")
    try sandbox.makeExecutable(file)
    return file.path
  }

  /// Runs a script of the repository.
  private func run(
    _ script: String, _ arguments: String..., in sandbox: Sandbox,
    _ variables: [String: String] = [:]
  ) async throws -> Outcome {
    // The program itself is the last argument, which is the name of the shell.
    let line = ([Repository.root.appending(path: "Scripts/\(script)").path] + arguments)
      .map { "'\($0)'" }.joined(separator: " ")
    return try await Binary.run(
      [String](), environment: variables.mapValues(Optional.some), in: sandbox,
      by: ["/bin/sh", "-c", line])
  }

  private func installing() async throws -> Sandbox {
    let sandbox = try Sandbox()
    let outcome = try await run(
      "layout", try program(in: sandbox), sandbox.root.appending(path: "target").path, in: sandbox)
    #expect(outcome.status == 0, "\(outcome)")
    return sandbox
  }

  /// Paths from the prefix, and permissions, of everything that is no directory.
  private func installed(in sandbox: Sandbox) throws -> [String: Int] {
    var found: [String: Int] = [:]
    for path in try sandbox.files(under: "target") {
      let file = sandbox.root.appending(path: "target/\(path)")
      var isDirectory: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
      if !isDirectory.boolValue { found[path] = try sandbox.permissions(of: "target/\(path)") }
    }
    return found
  }

  @Test func `everything is in its place, with its mode`() async throws {
    var expected = ["bin/aggregator": 0o755, Self.manual: 0o644]
    for path in Self.completions.values + Self.documents { expected[path] = 0o644 }
    let sandbox = try await installing()
    #expect(try installed(in: sandbox) == expected)
  }

  @Test func `an installation has the same bytes for everyone`() async throws {
    let sandbox = try await installing()
    // Another user, who has added a source.
    let other = try Sandbox()
    try other.write(
      #"{"version": 1, "url": "https://lamps.example/lamps", "id": "id"}"#,
      to: "home/.config/aggregator/sources/lamps.json")
    let outcome = try await run(
      "layout", try program(in: sandbox), other.root.appending(path: "target").path, in: other,
      ["XDG_CONFIG_HOME": other.home.appending(path: ".config").path, "COLUMNS": "30"])
    #expect(outcome.status == 0, "\(outcome)")
    for path in try installed(in: sandbox).keys {
      let files = [sandbox, other].map { $0.root.appending(path: "target/\(path)").path }
      #expect(FileManager.default.contentsEqual(atPath: files[0], andPath: files[1]), "\(path)")
    }
  }

  @Test func `removing it leaves the files of others`() async throws {
    let sandbox = try await installing()
    try sandbox.write("", to: "target/share/man/man1/other.1.gz")
    let outcome = try await run(
      "layout", "--remove", sandbox.root.appending(path: "target").path, in: sandbox)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try installed(in: sandbox).keys.sorted() == ["share/man/man1/other.1.gz"])
    #expect(
      !FileManager.default.fileExists(
        atPath: sandbox.root.appending(path: "target/share/doc/aggregator").path))
  }

  @Test func `the manual page is compressed without a date or a name`() async throws {
    let sandbox = try await installing()
    let file = sandbox.root.appending(path: "target/\(Self.manual)")
    // RFC 1952: no flags, so no name, and no time.
    #expect(try Data(contentsOf: file).prefix(8) == Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]))
    let page = try await Binary.run(
      [String](), in: sandbox, by: ["/bin/sh", "-c", "gzip -cd '\(file.path)'"])
    #expect(page.output == (try await Binary.run("help man")).output)
  }

  @Test(arguments: Shell.installed)
  func `each shell finds and loads the completions`(shell: Shell) async throws {
    let sandbox = try await installing()
    let target = sandbox.root.appending(path: "target").path
    let path = try #require(Self.completions[shell])
    let script =
      switch shell {
      case .bash: ". '\(target)/\(path)' && complete -p aggregator"
      case .zsh:
        "fpath=('\(target)/share/zsh/site-functions' $fpath); autoload -Uz compinit; "
          + "compinit -u -D; print $_comps[aggregator]; autoload +X _aggregator"
      case .fish: "complete -C 'aggregator countr'"
      }
    let program = try #require(shell.path)
    let outcome = try await Binary.run(
      [String](),
      environment: [
        "XDG_DATA_DIRS": "\(target)/share", "PATH": "\(target)/bin:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
      ], in: sandbox, by: [program, "-c", script])
    let expected =
      switch shell {
      case .bash: "complete -F _aggregator aggregator\n"
      case .zsh: "_aggregator\n"
      case .fish: "countries\t"
      }
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.hasPrefix(expected), "\(outcome)")
  }

  @Test func `the package names all libraries that are loaded when needed`() throws {
    let control = try Repository.text(of: "Packaging/debian-control")
    let fields = control.matches(of: /\n(?:Recommends|Suggests): (.*)/).map { String($0.1) }
    let packages = Set(fields.joined(separator: ", ").split(separator: ", ").map(String.init))
    var count = 0
    for file in try Repository.swiftFiles(under: "Sources") {
      let names = try Repository.text(of: file).matches(of: /"lib([a-z]+)\.so\.([0-9]+)"/)
      guard !names.isEmpty else { continue }
      count += 1
      // zlib is the exception of Debian's rule for names.
      let known = names.map { $0.1 == "z" ? "zlib1g" : "lib\($0.1)\($0.2)" }
      #expect(known.contains(where: packages.contains), "\(file): none of \(known)")
    }
    #expect(count >= 5)
  }

  @Test func `the formula has the checksums of the release`() async throws {
    let sandbox = try Sandbox()
    let platforms = ["darwin-arm64", "linux-aarch64", "linux-x86_64"]
    func sums(_ platforms: [String]) -> String {
      platforms.enumerated().map { index, platform in
        "\(String(repeating: "\(index)a", count: 32))  aggregator-1.2.3-\(platform).tar.gz\n"
      }.joined()
    }
    let file = try sandbox.write(sums(platforms), to: "SHA256SUMS").path
    let url = "https://git.example/lamps"
    let formula = try await run("formula", url, "1.2.3", file, in: sandbox)
    #expect(formula.status == 0, "\(formula)")
    #expect(!formula.output.contains("@"))
    for (index, platform) in platforms.enumerated() {
      let checksum = String(repeating: "\(index)a", count: 32)
      let lines = """
        url "\(url)/releases/download/v1.2.3/aggregator-1.2.3-\(platform).tar.gz"
        sha256 "\(checksum)"
        """
      let text = formula.output.replacing(/\n +/, with: "\n")
      #expect(text.contains(lines), "\(platform): \(formula.output)")
    }

    try sandbox.write(sums(platforms.dropLast()), to: "SHA256SUMS")
    let missing = try await run("formula", url, "1.2.3", file, in: sandbox)
    #expect(missing.status == 65)
    #expect(missing.output == "")
    #expect(missing.errors.contains("no checksum of aggregator-1.2.3-linux-x86_64.tar.gz"))
  }

  @Test func `a relative prefix and unknown words are refused`() async throws {
    let sandbox = try Sandbox()
    let relative = try await run("install-local", in: sandbox, ["PREFIX": "work"])
    #expect(relative.status == 64)
    #expect(relative.errors == "error: PREFIX must be an absolute path: \"work\"\n")
    for (script, word) in [("install-local", "--remove"), ("package", "--all"), ("layout", "x")] {
      let outcome = try await run(script, word, in: sandbox, ["PREFIX": sandbox.root.path])
      #expect(outcome.status == 64, "\(script): \(outcome)")
      #expect(outcome.errors.contains("Scripts/\(script)"), "\(outcome)")
    }
    let nothing = try await run(
      "install-local", "--uninstall", in: sandbox, ["PREFIX": sandbox.root.path])
    #expect(nothing.status == 1)
    #expect(nothing.errors.hasPrefix("error: aggregator is not installed in "))
  }
}
