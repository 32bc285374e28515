import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Images on a terminal, drawn by `chafa`.
@Suite(.timeLimit(.minutes(10))) struct PictureTests {
  private let home: PetHome

  init() async throws { home = try await PetHome(["a", "b", "none", "gone"]) }

  private func run(
    _ line: String, _ variables: [String: String?], width: Int = 80
  ) async throws -> Outcome {
    try await home.run(line, variables.merging(["AGGREGATOR_FORCE_TTY": "\(width)"]) { $1 })
  }

  /// A program that prints these bytes.
  private func printing(_ escapes: String) throws -> [String: String?] {
    try FakeChafa.path("printf '\(escapes)'", in: home.sandbox)
  }

  @Test func `shows an image on a terminal`() async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let outcome = try await run("pets image a", chafa)
    #expect(outcome.status == 0)
    #expect(outcome.output == FakeChafa.drawn)
    #expect(
      try Data(contentsOf: home.sandbox.root.appending(path: "image")) == FakePictures.picture)
    let arguments = try home.sandbox.text(of: "arguments")
    #expect(arguments.hasPrefix("--format\nsymbols\n--size\n80x22\n--animate\noff\n"))
    #expect(arguments.hasSuffix("--colors\n16\n--symbols\nblock\n--optimize\n0\n/dev/fd/3\n"))
    // Neither settings nor the terminal are its business.
    let names = Set(
      try home.sandbox.text(of: "variables").split(separator: "\n").map { $0.prefix { $0 != "=" } })
    #expect(names.isSubset(of: ["PATH", "TERM", "PWD", "SHLVL", "OLDPWD", "_"]), "\(names)")
  }

  @Test(arguments: [
    (["TERM": "xterm-256color"], "256"), (["COLORTERM": "truecolor"], "full"),
    (["COLORTERM": "truecolor", "NO_COLOR": "1"], "none"), (["TERM": "dumb"], "none"),
  ])
  func `symbols have the colors of the terminal`(
    variables: [String: String], colors: String
  ) async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let terminal = variables.mapValues(Optional.some)
    #expect(try await run("pets image a", chafa.merging(terminal) { $1 }).status == 0)
    #expect(try home.sandbox.text(of: "arguments").contains("--colors\n\(colors)\n"))
  }

  @Test(arguments: [
    (["TERM": "xterm-kitty"], "kitty"), (["TERM_PROGRAM": "ghostty"], "kitty"),
    (["TERM_PROGRAM": "iTerm.app"], "iterm"), (["LC_TERMINAL": "iTerm2"], "iterm"),
    (["TERM_PROGRAM": "iTerm.app", "TMUX": "/tmp/tmux"], "symbols"),
    (["TERM_PROGRAM": "WezTerm", "TERM": "screen-256color"], "symbols"),
    (["TERM_PROGRAM": "WezTerm", "TERM": "dumb"], "symbols"),
  ])
  func `a known terminal needs no question`(
    variables: [String: String], format: String
  ) async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    _ = try await run("pets image a", chafa.merging(variables.mapValues(Optional.some)) { $1 })
    #expect(try home.sandbox.text(of: "arguments").hasPrefix("--format\n\(format)\n"))
  }

  @Test func `pixels pass as they are`() async throws {
    let kitty = try await run(
      "pets image a",
      printing(#"\033_Ga=T,f=32,s=1,v=1,c=2,r=1,m=0;AAAA\033\\"#)
        .merging(["TERM": "xterm-kitty"]) { $1 })
    #expect(kitty.output == "\u{1B}_Ga=T,f=32,s=1,v=1,c=2,r=1,m=0;AAAA\u{1B}\\\n", "\(kitty)")
  }

  @Test func `shows several, and goes on after a failure`() async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let outcome = try await run("pets image a none b", chafa)
    #expect(outcome.status == 3)
    #expect(outcome.output == FakeChafa.drawn + FakeChafa.drawn)
    #expect(outcome.messages.contains("pet none has no image"))
    #expect(try await run("pets image none", chafa).status == 1)
    #expect(try await run("pets image --all", chafa).status == 64)
  }

  @Test(arguments: [
    #"\033]0;title\007▀▀▀"#, "hello", #"▀▀\033[2J"#, #"▀▀\033[6n▀"#, #"▀\302\233▀"#, "", #"\377"#,
  ])
  func `nothing but a picture reaches the terminal`(escapes: String) async throws {
    let outcome = try await run("pets image a", printing(escapes))
    #expect(outcome.status == 76)
    #expect(outcome.output == "")
    #expect(outcome.messages.contains("error: pets: chafa printed something else than a picture"))
  }

  @Test func `reports an image that cannot be decoded, without the program's words`() async throws {
    let chafa = try FakeChafa.path("echo 'p@wned' >&2; exit 2", in: home.sandbox)
    let outcome = try await run("pets image a", chafa)
    #expect(outcome.status == 76)
    #expect(
      outcome.messages.contains("error: pets: chafa cannot decode the image (image/png) (ID a)\n"))
    #expect(!outcome.messages.contains("p@wned"))
  }

  @Test func `ends a program that hangs`() async throws {
    #expect(try await home.run("pets image a -o a.png").status == 0)
    let chafa = try FakeChafa.path("exec sleep 1000", in: home.sandbox)
    let outcome = try await run("pets image a --offline --timeout 200ms", chafa)
    #expect(outcome.status == 75)
    #expect(outcome.messages.contains("error: pets: chafa did not draw the image within 200 ms"))
    #expect(outcome.messages.contains("hint: allow more time with --timeout, or try later\n"))
  }

  @Test func `limits the memory and the output of the program`() async throws {
    let root = home.sandbox.root.path
    let chafa = try FakeChafa.path(
      "{ ulimit -t; ulimit -v; ulimit -f; } > '\(root)/limits'; exit 1", in: home.sandbox)
    _ = try await run("pets image a", chafa)
    let limits = try home.sandbox.text(of: "limits").split(separator: "\n")
    #expect(limits.first == "20")
    #if os(Linux)
      #expect(limits == ["20", "2097152", "65536"])
    #endif
  }

  @Test func `does not even try to decode a huge image`() async throws {
    // The header of a PNG of 100 000 × 100 000 pixels.
    var bomb = FakePictures.picture
    bomb.replaceSubrange(16..<24, with: [0, 1, 0x86, 0xA0, 0, 1, 0x86, 0xA0])
    let service = try FakePets(["a"]) { [bomb] _ in .ok(bomb) }
    let home = try await PetHome(service)
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let outcome = try await home.run(
      "pets image a", chafa.merging(["AGGREGATOR_FORCE_TTY": "80"]) { $1 })
    #expect(outcome.status == 76)
    #expect(
      outcome.messages.contains("the image is too large to show (100000×100000 pixels)"),
      "\(outcome)"
    )
    #expect(throws: (any Error).self) { try home.sandbox.text(of: "arguments") }
  }

  @Test func `an SVG is saved, and never drawn`() async throws {
    let svg = Data(
      #"<!DOCTYPE svg [<!ENTITY a "&b;&b;">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>"#
        .utf8)
    let home = try await PetHome(
      FakePets(["a"]) { _ in .ok(svg, headers: [("Content-Type", "image/svg+xml")]) })
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let terminal = chafa.merging(["AGGREGATOR_FORCE_TTY": "80"]) { $1 }
    let shown = try await home.run("pets image a", terminal)
    #expect(shown.status == 76, "\(shown)")
    let words = "the image is SVG, which is not shown in a terminal (ID a)"
    #expect(shown.messages.contains(words), "\(shown)")
    #expect(shown.messages.contains("hint: save it to a file with image -o\n"), "\(shown)")
    let card = try await home.run("pets show a --image", terminal)
    #expect(card.output.contains("Pet a"), "\(card)")
    #expect(throws: (any Error).self) { try home.sandbox.text(of: "arguments") }
    let saved = try await home.run("pets image a -o .")
    #expect(saved.status == 0, "\(saved)")
    let file = home.sandbox.work.appending(path: "pets-a.svg")
    #expect(try Data(contentsOf: file) == svg)
  }

  @Test(arguments: [
    ("pets image a", "showing an image requires", "add -o FILE"),
    ("pets show a --image", "--image requires", "save the image with image -o"),
  ])
  func `says how to install a missing program, before any request`(
    line: String, words: String, alternative: String
  ) async throws {
    let before = home.pets.server.requests.count
    let outcome = try await run(line, ["PATH": "/nonexistent"], width: 200)
    #expect(outcome.status == 69)
    let install = "install it with your package manager (apt install chafa, brew install chafa)"
    #expect(
      outcome.messages == """
        error: \(words) chafa, which is not installed
        hint: \(install), or \(alternative)

        """)
    #expect(home.pets.server.requests.count == before)
  }

  @Test func `a pipe receives the bytes, and needs no program`() async throws {
    let file = try home.sandbox.write("", to: "image")
    let outcome = try await Binary.run(
      "pets image a", environment: ["PATH": "/nonexistent"], in: home.sandbox,
      output: .file(file.path))
    #expect(outcome.status == 0)
    #expect(try Data(contentsOf: file) == FakePictures.picture)
  }

  // MARK: - show --image

  @Test func `show --image shows the picture beside the card`() async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let outcome = try await run(
      "pets show a --image", chafa.merging(["NO_COLOR": "1", "FORCE_HYPERLINK": "0"]) { $1 })
    #expect(outcome.status == 0, "\(outcome)")
    let lines = outcome.output.split(separator: "\n").map {
      $0.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    }
    #expect(lines[0] == "▀▄ " + String(repeating: " ", count: 25) + "ID     a")
    #expect(lines[1] == "▀▀▀" + String(repeating: " ", count: 25) + "name   Pet a")
    #expect(lines[2].hasPrefix(String(repeating: " ", count: 28) + "image  http://"))
    #expect(try home.sandbox.text(of: "arguments").contains("--size\n26x17\n"))
  }

  @Test func `show --image shows the picture above the card if that is narrow`() async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let outcome = try await run(
      "pets show a --image", chafa.merging(["NO_COLOR": "1"]) { $1 }, width: 50)
    let card = try await run("pets show a", ["NO_COLOR": "1"], width: 50)
    #expect(outcome.output == FakeChafa.drawn + card.output)
  }

  @Test func `show --image prints the card also without a picture`() async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let missing = try await run("pets show none --image", chafa)
    #expect(missing.status == 0)
    #expect(missing.messages.contains("pet none has no image\n"))
    #expect(missing.output.contains("Pet none"))
    let failed = try await run("pets show gone a --image", chafa)
    #expect(failed.status == 3)
    #expect(failed.messages.contains("warning: pets: no image of pet gone: "))
    #expect(failed.output.contains("Pet gone") && failed.output.contains("▀▀▀"))
  }

  @Test func `show --image requires a table on a terminal`() async throws {
    let chafa = try FakeChafa.drawing(in: home.sandbox)
    let pipe = try await home.run("pets show a --image --format table", chafa)
    let json = try await run("pets show a --image --json", chafa)
    for outcome in [pipe, json] {
      #expect(outcome.status == 64)
      #expect(outcome.output == "")
      #expect(
        outcome.messages == """
          error: --image requires a table on a terminal
          hint: aggregator pets image a -o .

          """)
    }
  }

  @Test func `only sources with images have the option`() async throws {
    let outcome = try await run("countries show FR --image", [:])
    #expect(outcome.status == 64)
    #expect(outcome.messages.contains("\"countries show\" does not accept --image"))
  }

  // MARK: - The real program

  @Test(
    .enabled(if: FakeChafa.real != nil, "chafa is not installed"),
    arguments: ["xterm", "xterm-256color", "xterm-kitty"])
  func `the installed program draws pictures that are accepted`(term: String) async throws {
    let path = try #require(FakeChafa.real).dropLast("/chafa".count)
    for color in ["auto", "never"] {
      let outcome = try await run(
        "pets image a --color \(color)", ["PATH": "\(path):/usr/bin:/bin", "TERM": term])
      #expect(outcome.status == 0, "\(outcome)")
      #expect(!outcome.output.isEmpty)
    }
    let iterm = try await run(
      "pets show a b --image",
      ["PATH": "\(path):/usr/bin:/bin", "TERM": term, "TERM_PROGRAM": "iTerm.app"])
    #expect(iterm.status == 0, "\(iterm)")
  }
}

extension Outcome {
  /// Standard error without colors, which it has at a terminal.
  fileprivate var messages: String { errors.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
}
