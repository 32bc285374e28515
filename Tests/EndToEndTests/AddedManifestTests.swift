import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The manifests of added sources: shown, edited, moved, hidden and broken.
@Suite struct AddedManifestTests {
  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  private var manifest: String { "home/.config/aggregator/sources/lamps.json" }

  /// A script that edits its file.
  private func editor(_ script: String) throws -> String {
    let file = try home.sandbox.write("#!/bin/sh\n\(script)\n", to: "bin/editor")
    try home.sandbox.makeExecutable(file)
    return file.path
  }

  @Test func `of many sources an error names the nearest ones`() async throws {
    for number in 1...5 {
      try home.sandbox.write("{", to: home.manifestPath("lamps\(number).json"))
    }
    let outcome = try await home.run("sources show lamp")
    #expect(
      outcome.errors.hasSuffix(
        "\nhint: similar sources: lamps1, lamps2, lamps3, lamps4, lamps5\nhint: aggregator sources list\n"
      ), "\(outcome)")
    let other = try await home.run("sources show x")
    #expect(other.errors.hasSuffix("\nhint: aggregator sources list\n"), "\(other)")
    #expect(!other.errors.contains("available"), "\(other)")
  }

  @Test func `show prints the manifest without secrets, and the chain`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let text = try home.sandbox.text(of: manifest)
    try home.sandbox.write(
      text.replacing(
        "\"rows\"", with: "\"headers\": {\"X-Api-Key\": \"\(FakeLamps.key)\"}, \"rows\""),
      to: manifest)
    let shown = try await home.run("sources show lamps --json")
    #expect(shown.status == 0, "\(shown)")
    let path = home.sandbox.root.appending(path: manifest).path
    for part in ["\"file\":\"\(path)\"", "RESTSource(", "X-Api-Key", "page=1", "…"] {
      #expect(shown.output.replacing("\\/", with: "/").contains(part), "\(part): \(shown)")
    }
    #expect(!shown.output.contains("hunter2"))
    #expect(try await home.column("file", "sources show heroes") == [])
    #expect(
      try await home.column("name", "sources list")
        == (try await home.column("name", "sources")))
  }

  @Test func `a summary from others is shown without escapes`() async throws {
    try home.sandbox.write(
      #"""
      {"url": "http://127.0.0.1:1/", "rows": "$", "id": "id", "fields": ["na\u001b[2Jme"],
       "summary": "Lamps \u001b]0;owned\u0007\u001b[31mred\u202e\n and more"}
      """#, to: manifest)
    for line in [
      "help", "help lamps", "sources list", "lamps list --fields help", "sources --json",
    ] {
      let outcome = try await home.run(line)
      #expect(!outcome.output.isEmpty, "\(line): \(outcome)")
      for text in [outcome.output, outcome.errors] {
        #expect(!text.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E }, "\(line)")
      }
    }
  }

  @Test func `edit replaces a manifest only with a valid one`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let old = try home.sandbox.text(of: manifest)

    let same = try await home.run("sources edit lamps", ["EDITOR": "true"])
    #expect(same.status == 0)
    #expect(same.errors == "Nothing changed\n")

    let wrong = try editor(#"printf '{"url": "http://x.example/",\n"rowz": "a"}' > "$1""#)
    let refused = try await home.run(
      "sources edit lamps", ["EDITOR": wrong, "TMPDIR": "\(home.sandbox.root.path)"])
    #expect(refused.status == 78, "\(refused)")
    #expect(refused.errors.contains("line 2: unknown key \"rowz\"; did you mean \"rows\"?"))
    #expect(try home.sandbox.text(of: manifest) == old)
    let kept = try #require(refused.errors.firstMatch(of: /your version is in (\S+)/)?.output.1)
    #expect(try String(contentsOfFile: String(kept), encoding: .utf8).contains("rowz"))
    try FileManager.default.removeItem(atPath: String(kept))

    let right = try editor(
      #"sed 's/"url"/\/\/ mine\n"summary": "my lamps", "url"/' "$2" > "$2.new" && mv "$2.new" "$2""#
    )
    let changed = try await home.run(
      "sources edit lamps", ["VISUAL": "\(right) --wait", "EDITOR": "false"])
    #expect(changed.status == 0, "\(changed)")
    #expect(changed.errors.hasPrefix("Changed "))
    #expect(try home.sandbox.text(of: manifest).contains("// mine"))
    #expect(try await home.column("summary", "sources").contains("my lamps"))

    #expect(!changed.errors.contains("sources check"))

    // Other rows may be none.
    let moved = try editor(#"sed 's/"rows": *"/&elsewhere./' "$1" > "$1.new" && mv "$1.new" "$1""#)
    let other = try await home.run("sources edit lamps", ["EDITOR": moved])
    #expect(
      other.errors.hasSuffix("\nVerify it with: aggregator sources check lamps\n"), "\(other)")

    let failed = try await home.run("sources edit lamps", ["EDITOR": "false"])
    #expect(failed.status == 74, "\(failed)")
    #expect(failed.errors.contains("the editor \"false\" failed; nothing was changed"))
    #expect(try await home.run("sources edit heroes", ["EDITOR": "true"]).status == 1)
  }

  @Test func `an asterisk in the fields of edit needs cached records`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("sources edit lamps --fields name").status == 0)
    let unknown = try await home.run("sources edit lamps --fields *")
    #expect(
      unknown.status == 64 && unknown.errors.hasSuffix("\nhint: aggregator lamps sync\n"),
      "\(unknown)")
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("sources edit lamps --fields *").status == 0)
    let listed = try await home.run("lamps list --csv")
    #expect(listed.lines.first?.contains("maker.name") == true, "\(listed)")
  }

  @Test func `a path that is added before anything is cached is said to be unknown`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let edited = try await home.run("sources edit lamps --fields name,parts.sku")
    #expect(
      edited.status == 0
        && edited.errors.hasPrefix(
          "warning: lamps: nothing is cached, so it is not known if records have \"parts.sku\"; "
            + "a path through a list needs * for its elements\n"),
      "\(edited)")
    let star = try await home.run("sources edit lamps --fields name,parts.*.sku")
    #expect(star.status == 0 && !star.errors.contains("warning:"), "\(star)")
  }

  @Test func `edit warns of a path that no cached record has, without a request`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let wrong = try editor(#"sed -i 's/"fields": \[/&"nmae", /' "$1""#)
    // Without cached records there is nothing to compare.
    let blind = try await home.run("sources edit lamps", ["EDITOR": wrong])
    #expect(blind.status == 0 && !blind.errors.contains("warning:"), "\(blind)")
    let right = try editor(#"sed -i 's/"nmae", *//' "$1""#)
    #expect(try await home.run("sources edit lamps", ["EDITOR": right]).status == 0)
    #expect(try await home.run("lamps list").status == 0)
    let count = lamps.server.requests.count
    let again = try editor(#"sed -i 's/"fields": \[/&"nmae", /' "$1""#)
    let changed = try await home.run("sources edit lamps", ["EDITOR": again])
    #expect(changed.status == 0, "\(changed)")
    #expect(
      changed.errors.contains(#"has "nmae"; did you mean "name"?"#)
        && changed.errors.components(separatedBy: "warning:").count == 2, "\(changed)")
    #expect(lamps.server.requests.count == count)
  }

  @Test func `a terminal is asked whether to edit again`() async throws {
    #expect(try await home.add(lamps).status == 0)
    // The first time it makes a mistake, then it mends it.
    let script = try editor(
      #"if grep -q rowz "$1"; then sed -i s/rowz/summary/ "$1"; else sed -i 's/{/{"rowz": "a",/' "$1"; fi"#
    )
    let terminal = try PseudoTerminal()
    let run = try Binary.start(
      "sources edit lamps", environment: ["EDITOR": script], terminal: terminal.descriptor,
      in: home.sandbox)
    terminal.type("y\n")
    let outcome = try await run.outcome()
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors.contains("unknown key \"rowz\""))
    #expect(outcome.errors.contains("Edit it again? [y/N] Changed "))
    #expect(try home.sandbox.text(of: manifest).contains(#""summary": "a""#))
  }

  @Test func `--manifests names another folder`() async throws {
    let added = try await home.run(
      "sources add lamps \(lamps.url) --rate off --manifests mine",
      ["AGGREGATOR_MANIFESTS": "/nowhere"])
    #expect(added.status == 0, "\(added)")
    #expect(home.hasFile("work/mine/lamps.json"))
    #expect(try await home.run("lamps list -L 1 --manifests=mine").lines.count == 1)
    let path = home.sandbox.work.appending(path: "mine").path
    let variable: [String: String?] = ["AGGREGATOR_MANIFESTS": path]
    #expect(try await home.run("lamps list -L 1", variable).lines.count == 1)
    #expect(try await home.run("lamps list -L 1").status == 64)
    #expect(try await home.run("lamps list -L 1 --manifests").status == 64)
    let completed = try await Binary.run(
      ["__complete", "fish", "--line", "aggregator --manifests mine lam"], in: home.sandbox)
    #expect(completed.output.hasPrefix("lamps\t"), "\(completed)")
  }

  @Test(arguments: ["heroes", "sql"])
  func `a hidden manifest is named with the way out`(name: String) async throws {
    #expect(try await home.add(lamps).status == 0)
    let folder = home.sandbox.root.appending(path: "home/.config/aggregator/sources").path
    try FileManager.default.moveItem(
      atPath: "\(folder)/lamps.json", toPath: "\(folder)/\(name).json")
    for line in [name == "sql" ? "sql SELECT/**/1" : "heroes list --offline", "sources"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(
        outcome.errors.hasPrefix(
          "warning: the added source \"\(name)\" is hidden by the source or command of the same name\n"
            + "hint: rename it: mv '\(folder)/\(name).json' '\(folder)/\(name)-2.json'\n"),
        "\(outcome)")
    }
    #expect(try await !home.run("countries list -L 1 --offline").errors.contains("hidden"))
    try FileManager.default.moveItem(
      atPath: "\(folder)/\(name).json", toPath: "\(folder)/\(name)-2.json")
    #expect(try await home.run("\(name)-2 list -L 1").lines.count == 1)
    #expect(try await home.run("sources").errors == "")
  }

  @Test func `a broken manifest disturbs no other command`() async throws {
    #expect(try await home.add(lamps).status == 0)
    try home.sandbox.write("{\n\"url\": 7}", to: home.manifestPath("broken.json"))
    let listed = try await home.run("sources list --fields name,summary --tsv")
    #expect(listed.status == 0)
    let line = try #require(listed.lines.first { $0.hasPrefix("broken\t") })
    #expect(line.contains("broken.json: line 2: \"url\" must be a text"), "\(line)")
    let explained = try await home.run("help broken")
    #expect(explained.output.hasPrefix("Error:"), "\(explained)")
    for line in [
      "broken", "broken list", "sources show broken", "api broken /", "export broken -o x.csv",
      "export broken --format singer", "sql SELECT/**/count(*)/**/FROM/**/broken",
    ] {
      let refused = try await home.run(line)
      #expect(refused.status == 78, "\(line): \(refused)")
      #expect(refused.output == "" && refused.errors.contains("line 2: \"url\""), "\(line)")
    }
    for line in ["lamps sync", "sql SELECT/**/count(*)/**/FROM/**/lamps", "config", "store"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0, "\(line): \(outcome)")
      #expect(!outcome.errors.contains("broken"), "\(line): \(outcome)")
    }
    let found = try await home.run("search lamp --source lamps,broken --json")
    #expect(found.status == 3, "\(found)")
    #expect(found.errors.contains("broken"), "\(found)")
    #expect(found.output.contains("\"lamp 1\""))
    let mend = try editor(#"printf '{"url": "http://127.0.0.1:1/"}' > "$1""#)
    #expect(try await home.run("sources edit broken", ["EDITOR": mend]).status == 0)
    #expect(try await home.run("sources remove broken --yes").status == 0)
  }

  @Test func `remove clears cached records on request`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    let kept = try await home.run("sources remove lamps --yes")
    #expect(
      kept.errors
        == "Removed the source lamps\nStill in the store: 25 cached records. "
        + "Remove with: aggregator store clear lamps --forget-deleted\n")
    #expect(try home.file.ids(of: "lamps").count == 25)
    #expect(try await home.run("store clear lamps --yes").errors == "Removed 25 cached records\n")
    #expect(try home.file.ids(of: "lamps") == [])
    #expect(try await home.run("store clear lamps --yes").status == 64)

    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps list").status == 0)
    let dry = try await home.run("sources remove lamps --data --dry-run")
    #expect(dry.errors == "Would remove the source lamps and its 20 cached records\n")
    let gone = try await home.run("sources remove lamps --data --yes")
    #expect(gone.errors == "Removed the source lamps and its 20 cached records\n")
    #expect(try home.file.ids(of: "lamps") == [])
    #expect(!home.hasFile(manifest))
  }

  @Test func `the list of sources has their cached records and their last syncs`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    let listed = try await home.run(
      "sources list --ndjson --fields name,records,bundled,complete,kind,lastSync")
    #expect(
      listed.lines.contains {
        $0.hasPrefix(
          #"{"name":"lamps","records":25,"bundled":null,"complete":true,"kind":"added","lastSync":"20"#
        )
      }, "\(listed)")
    #expect(
      listed.lines.contains {
        $0.hasPrefix(
          #"{"name":"countries","records":0,"bundled":250,"complete":null,"kind":"built-in""#)
      }, "\(listed)")
    for width in [40, 60, 80, 120] {
      let table = try await home.run("sources list", ["AGGREGATOR_FORCE_TTY": "\(width)"])
      #expect(table.status == 0 && table.output.contains("lamps"), "\(table)")
      // A narrow terminal has it in several lines.
      let words = table.errors.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        .split(whereSeparator: \.isWhitespace)
      #expect(
        words.joined(separator: " ").contains("Bundled, while none are cached: 250 countries, "),
        "\(table)")
      // Where columns have no room, each source is a card.
      #expect(width > 40 || table.output.contains("superheroes and villains"), "\(table)")
    }
  }

  @Test func `sources of one directory are told apart in a list of 80 columns`() async throws {
    for name in ["one", "two"] {
      try home.sandbox.write(
        #"{"url": "http://127.0.0.1:1/", "summary": "/tmp/a-directory-of-files/\#(name).json"}"#,
        to: home.manifestPath("\(name).json"))
    }
    let variables = ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": "1"]
    let table = try await home.run("sources list", variables)
    for name in ["one", "two"] {
      #expect(table.output.contains("/\(name).json  not needed"), "\(table)")
    }
  }

  @Test func `several sources are removed at once, or none`() async throws {
    for name in ["one", "two"] {
      try home.sandbox.write(
        #"{"url": "http://127.0.0.1:1/"}"#, to: home.manifestPath("\(name).json"))
    }
    let wrong = try await home.run("sources remove one three --yes")
    #expect(wrong.status == 1 && wrong.errors.contains("\"three\""), "\(wrong)")
    let dry = try await home.run("sources remove one two one --dry-run")
    #expect(dry.errors == "Would remove the sources one and two\n")
    #expect(home.hasFile(home.manifestPath("one.json")))
    #expect(try await home.run("sources remove one two --yes").status == 0)
    for name in ["one", "two"] { #expect(!home.hasFile(home.manifestPath("\(name).json"))) }
  }

  @Test func `a source is renamed with what is stored of it`() async throws {
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps list").status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps delete 3 --yes").status == 0)
    #expect(try await home.run("query save lit -- lamps list --offline --all").status == 0)
    #expect(try await home.run("query save glow -- search lamp --source lamps").status == 0)
    for (line, message) in [
      ("lamps", "missing argument: NEW"), ("lamps Lights", "invalid name \"Lights\""),
      ("lamps heroes", "\"heroes\" is the name of a source"),
      ("lamps lamps", "there is a source \"lamps\" already"),
    ] {
      let refused = try await home.run("sources rename \(line)")
      #expect(refused.status == 64 && refused.errors.contains(message), "\(refused)")
    }
    let renamed = try await home.run("sources rename lamps lights")
    #expect(
      renamed.errors == """
        Renamed lamps to lights, with 25 cached records and 1 deletion
        Also in the saved query "lit"
        warning: the saved query "glow" names lamps
        hint: aggregator query show glow

        """, "\(renamed)")
    #expect(!home.hasFile(manifest) && home.hasFile(home.manifestPath("lights.json")))
    let lit = try await home.run("lit")
    #expect(lit.status == 0 && lit.lines.count == 24, "\(lit)")
    #expect(try await home.run("lights list --all").lines.count == 24)
    #expect(try await home.run("lights restore 3").status == 0)
    #expect(try await home.run("lights list --all --refresh").lines.count == 25)
    #expect(try await !home.run("store").errors.contains("lamps"))
    #expect(try await home.add(lamps).status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    let both = try await home.run("sources rename lights lamps")
    #expect(
      both.status == 64
        && both.errors.contains("or remove that one first\nhint: aggregator sources remove lamps"),
      "\(both)")
    #expect(try await home.run("sources remove lamps --yes").status == 0)
    let taken = try await home.run("sources rename lights lamps")
    #expect(taken.status == 64, "\(taken)")
    #expect(taken.errors.contains("has records or deletions of lamps already"), "\(taken)")
    let orphaned = try await home.run("store")
    #expect(
      orphaned.errors.contains(
        "lamps is not a source here, but the store has 25 cached records of it. Remove with: "
          + "aggregator store clear lamps --forget-deleted\n"), "\(orphaned)")
    #expect(try await home.run("store clear lamps --forget-deleted --yes").status == 0)
    #expect(try await home.run("sources rename lights lamps").status == 0)
    #expect(try await home.run("lamps list --offline --all").lines.count == 25)
    #expect(try await home.run("sources rename lamps lights").status == 0)
    try home.sandbox.write(
      #"{"url": "\#(lamps.url)/{lights.id}", "each": "lights", "rows": "$", "id": "id"}"#,
      to: home.manifestPath("parts.json"))
    let named = try await home.run("sources rename lights lamps")
    #expect(named.status == 64 && named.errors.contains("sources edit parts"), "\(named)")
  }

  @Test func `next pages on another host need --allow-host`() async throws {
    let other = try LoopbackServer { _ in .json(#"{"things": [{"id": 3, "name": "c"}]}"#) }
    let link = "\(other.baseURL)/things".replacing("127.0.0.1", with: "localhost")
    let service = try LoopbackServer { _ in
      .json(
        #"{"next": "\#(link)", "things": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}"#)
    }
    let words = [
      "sources", "add", "things", "\(service.baseURL)/things", "--rate", "off", "--header",
      "X-Api-Key: abcdefgh",
    ]
    let refused = try await Binary.run(words + ["--yes"], in: home.sandbox)
    #expect(refused.status == 69, "\(refused)")
    #expect(refused.errors.contains("hint: allow it with --allow-host localhost"), "\(refused)")
    #expect(other.requests.isEmpty)
    #expect(try home.sandbox.files(under: "home").isEmpty)

    let added = try await Binary.run(words + ["--allow-host", "localhost"], in: home.sandbox)
    #expect(added.status == 0, "\(added)")
    #expect(
      try home.sandbox.text(of: home.manifestPath("things.json")).contains("\"localhost\""))
    #expect(try await home.column("id", "things list --all") == ["1", "2", "3"])
    #expect(!other.requests.isEmpty)
    #expect(other.requests.allSatisfy { $0.header("X-Api-Key") == nil })
    #expect(service.requests.allSatisfy { $0.header("X-Api-Key") == "abcdefgh" })
  }

  @Test func `--timeout limits each request`() async throws {
    let slow = try LoopbackServer { _ in .stalled }
    let outcome = try await home.run("sources add lamps \(slow.baseURL) --timeout 300ms")
    #expect(outcome.status == 75, "\(outcome)")
    #expect(outcome.errors.hasSuffix("hint: allow more time with --timeout, or try later\n"))
    #expect(try await home.add(lamps, "--timeout 40s").status == 0)
    #expect(try home.sandbox.text(of: manifest).contains("\"timeout\": \"40s\""))
  }

  @Test func `--body is JSON or a file of JSON`() async throws {
    let service = try LoopbackServer { request in
      let isRight = request.method == "POST" && request.body == Data(#"{"kind":"lamp"}"#.utf8)
      return isRight
        ? .json(#"{"total": 1, "things": [{"id": 1, "name": "a"}]}"#) : .status(400, "what?")
    }
    try home.sandbox.write(#"{"kind": "lamp"}"#, to: "work/body.json")
    for body in ["@body.json", #"{"kind":"lamp"}"#] {
      let added = try await home.run(
        "sources add things \(service.baseURL)/x --rate off --single --replace --body \(body)")
      #expect(added.status == 0, "\(added)")
      #expect(try await home.column("id", "things list --refresh") == ["1"])
    }
    let missing = try await home.run("sources add more \(service.baseURL)/x --body @nothing")
    #expect(missing.status == 74, "\(missing)")
    #expect(missing.errors.contains("cannot read nothing: no such file"))
  }

  @Test func `a terminal is asked what cannot be decided`() async throws {
    let service = try LoopbackServer { _ in
      .json(
        #"{"left": [{"a": 1, "b": 4}, {"a": 2, "b": 5}], "right": [{"a": 3, "b": 6}, {"a": 4, "b": 7}]}"#
      )
    }
    let words = ["sources", "add", "things", "\(service.baseURL)/x", "--rate", "off", "--single"]
    let terminal = try PseudoTerminal()
    let run = try Binary.Run(words, terminal: terminal.descriptor, in: home.sandbox)
    terminal.type("5\n2\n1\n")
    let asked = try await run.outcome()
    #expect(asked.status == 0, "\(asked)")
    #expect(
      asked.errors == """
        Which list has the records?
          1  left: 2 objects, 2 keys in common
          2  right: 2 objects, 2 keys in common
        Number, or Return to leave it open: Number, or Return to leave it open: What identifies a record?
          1  a: 3
          2  b: 6
        Number, or Return to leave it open: 
        """)
    #expect(try await home.column("id", "things list") == ["3", "4"])

    for input in ["--no-input", "--dry-run"] {
      let quiet = try await Binary.run(
        words + [input, "--replace"], input: "2\n", in: home.sandbox)
      #expect(!quiet.errors.contains("Number"), "\(quiet)")
      #expect(quiet.errors.contains("the rows may also be at \"right\""), "\(quiet)")
      let hint = "hint: if those are the records, use --rows right"
      #expect(
        quiet.errors.contains(hint + (input == "--dry-run" ? "\n" : " and --replace\n")), "\(quiet)"
      )
    }
  }
}
