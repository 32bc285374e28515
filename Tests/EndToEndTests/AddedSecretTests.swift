import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Secrets of added sources: from curl commands, header fields and prompts.
@Suite struct AddedSecretTests {
  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  private var settings: String { get throws { try home.sandbox.text(of: TestHome.settingsFile) } }

  private func add(_ header: String, _ options: String...) async throws -> Outcome {
    try await Binary.run(
      ["sources", "add", "lamps", lamps.url, "--rate", "off", "--header", header] + options,
      in: home.sandbox)
  }

  @Test func `a curl command on standard input becomes a source`() async throws {
    let search = "\(lamps.url)?q={query}&api_key=\(FakeLamps.key)"
    let command = """
      curl '\(lamps.url)?api_key=\(FakeLamps.key)' \\
        -H 'accept: application/json' \\
        -H 'authorization: Bearer \(FakeLamps.key)' \\
        -H 'user-agent: Mozilla/5.0' -H 'referer: https://www.example/' \\
        -b 'session=\(FakeLamps.key)' --compressed
      """
    let added = try await home.run(
      "sources add lamps --curl --rate off --search url:\(search)", input: command)
    #expect(added.status == 0, "\(added)")
    #expect(
      added.errors.contains("Left out what browsers add: user-agent, referer."), "\(added.errors)")
    #expect(
      added.errors.contains("Set LAMPS_AUTHORIZATION, LAMPS_COOKIE, LAMPS_API_KEY in "),
      "\(added.errors)")
    #expect(!added.errors.contains("history"))
    #expect(try settings.contains("LAMPS_API_KEY = \(FakeLamps.key)"))
    let manifest = try home.sandbox.text(of: home.manifestPath("lamps.json"))
    #expect(manifest.contains("?api_key=${LAMPS_API_KEY}"))
    #expect(manifest.contains("Bearer ${LAMPS_AUTHORIZATION}"))
    for text in [added.output, added.errors, manifest] { #expect(!text.contains("hunter2")) }

    let listed = try await home.run("lamps list --all -v")
    #expect(listed.lines.count == 25)
    #expect(!listed.errors.contains("hunter2"))
    #expect(manifest.contains("?q={query}&api_key=${LAMPS_"))
    #expect(try await home.column("id", "lamps search 24") == ["24"])
    let request = try #require(lamps.server.requests.last)
    #expect(request.query["api_key"] == FakeLamps.key)
    #expect(request.header("Authorization") == "Bearer \(FakeLamps.key)")
    #expect(request.header("Cookie") == "session=\(FakeLamps.key)")
    #expect(request.header("Referer") == nil)
  }

  @Test func `a rotated key loses nothing`() async throws {
    #expect(try await add("X-Api-Key: \(FakeLamps.key)").status == 0)
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("lamps delete 7 --yes").status == 0)
    let rotated = ["LAMPS_X_API_KEY": "rotated-key-of-4711"]
    let why = "warning: lamps: its secret is new here: "
    for line in ["lamps list --all --offline", "sql 'SELECT id FROM lamps'"] {
      let words =
        line.hasPrefix("sql")
        ? ["sql", "SELECT id FROM lamps"] : line.split(separator: " ").map(String.init)
      let outcome = try await Binary.run(
        words, environment: home.environment.merging(rotated) { $1 }, in: home.sandbox)
      #expect(outcome.status == 3, "\(outcome)")
      #expect(outcome.lines.count == 24)
      #expect(outcome.errors.contains(why), "\(outcome)")
    }
    let shown = try await home.run("lamps show 8 --offline --json", rotated)
    #expect(shown.status == 3, "\(shown)")
    #expect(shown.output.contains(#""code":"unknownSecret""#), "\(shown)")
    let exported = try await home.run(
      "export lamps -o \(home.sandbox.root.appending(path: "lamps.csv").path)", rotated)
    #expect(exported.status == 3, "\(exported)")
    // The first page says whose records they are.
    lamps.accept("rotated-key-of-4711")
    #expect(try await home.run("lamps list --all --refresh", rotated).status == 0)
    for variables in [rotated, [:]] {
      let outcome = try await home.run("lamps list --all --offline", variables)
      #expect(outcome.lines.count == 24)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(!outcome.errors.contains(why), "\(outcome)")
    }
    #expect(try await home.column("secrets", "store scopes") == ["2"])
  }

  @Test func `a record whose secret was replaced has a warning wherever its values are shown`()
    async throws
  {
    lamps.behave { number in
      guard number == 1 else { return nil }
      return .json(FakeLamps.page(1).replacing("lamp 3", with: "lamp \(FakeLamps.key)"))
    }
    #expect(try await add("X-Api-Key: \(FakeLamps.key)").status == 0)
    let why = "warning: lamps: REDACTED in records stands for a secret"
    let lines = [
      ["lamps", "list"], ["lamps", "sync"], ["lamps", "list", "--offline"],
      ["lamps", "list", "--where", "id=3"], ["lamps", "list", "--group-by", "name"],
      ["lamps", "show", "3", "--offline"], ["export", "lamps", "-o", "-", "--format", "csv"],
      ["sql", "SELECT name FROM lamps"],
    ]
    for words in lines {
      let outcome = try await Binary.run(
        words, environment: home.environment, in: home.sandbox)
      #expect(outcome.status == 0 && outcome.errors.contains(why), "\(words): \(outcome)")
      #expect(!outcome.output.contains(FakeLamps.key), "\(words): \(outcome)")
    }
    let document = try await home.run("lamps list --offline --json")
    #expect(document.output.contains(#""code":"redacted""#), "\(document)")
    for words in [["lamps", "show", "4", "--offline"], ["sql", "SELECT id FROM lamps"]] {
      let outcome = try await Binary.run(
        words, environment: home.environment, in: home.sandbox)
      #expect(!outcome.errors.contains(why), "\(words): \(outcome)")
    }
  }

  @Test func `a curl command that cannot be read changes nothing`() async throws {
    for (input, message) in [
      ("", "it must begin with curl"), ("curl x --fancy", "unknown option --fancy"),
      ("curl x", "invalid URL \"x\""),
    ] {
      let outcome = try await home.run("sources add lamps --curl", input: input)
      #expect(outcome.status == 64, "\(outcome)")
      #expect(outcome.errors.contains(message), "\(outcome)")
    }
    #expect(try await home.run("sources add lamps http://x --curl").status == 64)
    let argument = try await Binary.run(
      ["sources", "add", "lamps", "--curl", "curl http://x"], in: home.sandbox)
    #expect(argument.status == 64, "\(argument)")
    #expect(
      argument.errors == """
        error: --curl reads the curl command from standard input
        hint: paste it after aggregator sources add lamps --curl

        """)
    #expect(lamps.server.requests.isEmpty)
    #expect(try home.sandbox.files(under: "home").isEmpty)
  }

  @Test func `no hint repeats a key of the URL`() async throws {
    let key = "hunter2hunter2"
    let unnamed = try await home.run("sources add http://127.0.0.1:1/lamps?appid=\(key)")
    #expect(unnamed.status == 64 && unnamed.errors.contains("${LAMPS_APPID}"), "\(unnamed)")
    try home.sandbox.write(
      #"{"url": "http://127.0.0.1:1/lamps?appid=\#(key)"}"#, to: home.manifestPath("bare.json"))
    let bare = try await home.run("bare list")
    #expect(bare.errors.contains("?appid=${NAME}"), "\(bare)")
    for outcome in [unnamed, bare] { #expect(!outcome.errors.contains(key), "\(outcome)") }
  }

  @Test func `a literal secret in a header field becomes a setting`() async throws {
    let dry = try await add("Authorization: Bearer \(FakeLamps.key)", "--dry-run")
    #expect(dry.status == 0, "\(dry)")
    #expect(try home.sandbox.files(under: "home").isEmpty)

    let added = try await add("Authorization: Bearer \(FakeLamps.key)")
    #expect(added.status == 0, "\(added)")
    #expect(added.errors.contains("Set LAMPS_AUTHORIZATION in "))
    #expect(added.errors.contains("other users can see arguments"))
    #expect(try settings == "LAMPS_AUTHORIZATION = \(FakeLamps.key)\n")
    #expect(try home.sandbox.permissions(of: TestHome.settingsFile) == 0o600)
    #expect(try await home.run("lamps list").status == 0)
    let config = try await home.run("config get LAMPS_AUTHORIZATION")
    #expect(config.output == "set (…)\n")
    #expect(try await home.column("key", "config").contains("LAMPS_AUTHORIZATION"))
  }

  @Test func `a secret that the service refuses is not saved`() async throws {
    let wrong = try await add("X-Api-Key: wrong")
    #expect(wrong.status == 77, "\(wrong)")
    #expect(try home.sandbox.files(under: "home").isEmpty)
    #expect(lamps.server.requests.count == 1)
  }

  @Test func `a secret at the prompt is saved only after the service accepted it`() async throws {
    for (typed, code) in [("wrong", 77), (FakeLamps.key, 0)] as [(String, Int32)] {
      let terminal = try PseudoTerminal()
      let pipe = try ProgramPipe()
      let run = try Binary.Run(
        [
          "sources", "add", "lamps", lamps.url, "--rate", "off", "--header", "X-Api-Key: ${MY_KEY}",
        ],
        terminal: terminal.descriptor, in: home.sandbox, output: .descriptor(pipe.writeEnd),
        isMerged: true)
      let prompt = await pipe.firstBytes(atMost: 100)
      #expect(String(decoding: prompt, as: UTF8.self) == "MY_KEY: ")
      terminal.type("\(typed)\n")
      #expect(try await run.outcome().status == code)
      #expect(home.hasFile(TestHome.settingsFile) == (code == 0))
    }
    #expect(try settings == "MY_KEY = \(FakeLamps.key)\n")
  }

  @Test func `a replaced source gets a new secret, but no other source its old one`() async throws {
    #expect(try await add("X-Api-Key: \(FakeLamps.key)").status == 0)
    let thief = try FakeLamps()
    let words = ["sources", "add", "thief", thief.url, "--rate", "off", "--header"]
    let stolen = try await Binary.run(words + ["X: ${LAMPS_X_API_KEY}"], in: home.sandbox)
    #expect(stolen.status == 64, "\(stolen)")
    #expect(stolen.errors.contains("LAMPS_X_API_KEY belongs to 127.0.0.1:\(lamps.server.port)"))
    #expect(thief.server.requests.isEmpty)

    let moved = try await Binary.run(
      [
        "sources", "add", "lamps", thief.url, "--replace", "--rate", "off", "--header",
        "X-Api-Key: \(FakeLamps.key)",
      ], in: home.sandbox)
    #expect(moved.status == 0, "\(moved)")
    #expect(try await home.run("lamps list").status == 0)
  }

  @Test func `a secret that a removed source leaves is shown until it is removed`() async throws {
    #expect(try await add("X-Api-Key: \(FakeLamps.key)").status == 0)
    let key = "LAMPS_X_API_KEY"
    #expect(try settings.contains(key))
    let removed = try await home.run("sources remove lamps --yes")
    #expect(removed.errors.contains("Still set: \(key) ("), "\(removed)")
    #expect(
      removed.errors.hasSuffix("Remove with: aggregator config unset \(key)\n"), "\(removed)")
    let list = try await home.run("config list --fields key,about")
    #expect(list.lines.contains("\(key)\tsecret of a source that was removed"), "\(list)")
    #expect(!list.output.contains(FakeLamps.key))
    let findings = try await home.run("doctor --offline --fields name,state,remedy")
    #expect(
      findings.lines.contains("\(key)\twarning\taggregator config unset \(key)"), "\(findings)")
    #expect(try await home.run("config unset \(key)").status == 0)
    #expect(try !settings.contains(key))
    #expect(try await !home.run("config list").output.contains(key))
    #expect(try await home.run("config unset \(key)").status == 64)
  }

  @Test func `a secret of the environment is used in later runs, and is not saved`() async throws {
    let secrets: [String: String?] = ["LAMP_KEY": FakeLamps.key]
    let added = try await Binary.run(
      [
        "sources", "add", "lamps", lamps.url, "--rate", "off", "--header", "X-Api-Key: ${LAMP_KEY}",
      ], environment: secrets, in: home.sandbox)
    #expect(added.status == 0, "\(added)")
    #expect(
      added.errors.hasPrefix(
        "LAMP_KEY is not saved: later runs read it from the environment, too. To save it: "
          + "aggregator config set LAMP_KEY\n"), "\(added)")
    #expect(!home.hasFile(TestHome.settingsFile))
    #expect(try await home.run("lamps list -L 1 --refresh", secrets).status == 0)
    #expect(lamps.server.requests.allSatisfy { $0.header("X-Api-Key") == FakeLamps.key })
    let later = try await home.run("lamps list -L 1 --refresh --no-fallback")
    #expect(later.status == 77 && later.errors.contains("LAMP_KEY is not set"), "\(later)")
  }

  @Test func `a copied manifest takes no secret from the environment`() async throws {
    let secrets: [String: String?] = ["AWS_SECRET_ACCESS_KEY": FakeLamps.key]
    try home.sandbox.write(
      #"{"url": "\#(lamps.url)", "headers": {"X-Api-Key": "${AWS_SECRET_ACCESS_KEY}"}, "rows": "lamps", "id": "id"}"#,
      to: home.manifestPath("copied.json"))
    let refused = try await home.run("copied list", secrets)
    #expect(refused.status == 77, "\(refused)")
    #expect(
      refused.errors.hasSuffix(
        """
        hint: setting it allows that, also if an environment variable has its value
        hint: aggregator config set AWS_SECRET_ACCESS_KEY

        """), "\(refused)")
    #expect(lamps.server.requests.isEmpty)

    // Nor does it after a change of something else.
    let editor = try home.sandbox.write(
      "#!/bin/sh\nsed -i 's/{/{\"summary\": \"mine\", /' \"$1\"\n", to: "bin/editor")
    try home.sandbox.makeExecutable(editor)
    let edited = try await home.run(
      "sources edit copied", secrets.merging(["EDITOR": editor.path]) { $1 })
    #expect(edited.errors.hasPrefix("Changed "), "\(edited)")
    #expect(try await home.run("copied list", secrets).status == 77)
    #expect(lamps.server.requests.isEmpty)

    let set = try await home.run("config set AWS_SECRET_ACCESS_KEY", input: FakeLamps.key)
    #expect(set.status == 0, "\(set)")
    #expect(set.errors.contains("It is sent to 127.0.0.1:\(lamps.server.port) only"), "\(set)")
    #expect(try await home.run("copied list -L 1").lines.count == 1)

    // Then a manifest of another host cannot have it.
    let thief = try FakeLamps()
    try home.sandbox.write(
      #"{"url": "\#(thief.url)", "headers": {"X-Api-Key": "${AWS_SECRET_ACCESS_KEY}"}, "rows": "lamps", "id": "id"}"#,
      to: home.manifestPath("thief.json"))
    #expect(
      try await home.run("config set AWS_SECRET_ACCESS_KEY", input: FakeLamps.key).status == 0)
    #expect(try await home.run("thief list", secrets).status == 77)
    #expect(thief.server.requests.isEmpty)
  }

  @Test func `setting a secret gives it to no manifest that only names it`() async throws {
    func manifest(_ url: String, _ key: String) -> String {
      #"{"url": "\#(url)", "headers": {"X-Api-Key": "${\#(key)}"}, "rows": "lamps", "id": "id"}"#
    }
    // The secret of a compiled source.
    try home.sandbox.write(
      manifest(lamps.url, "COMIC_VINE_API_KEY"), to: home.manifestPath("thief.json"))
    let set = try await home.run("config set COMIC_VINE_API_KEY", input: FakeLamps.key)
    #expect(set.status == 0, "\(set)")
    #expect(!set.errors.contains("It is sent to"))
    #expect(try await home.run("thief list").status == 77)

    // A secret that two hosts would get.
    let other = try FakeLamps()
    try home.sandbox.write(manifest(lamps.url, "SHARED"), to: home.manifestPath("one.json"))
    try home.sandbox.write(manifest(other.url, "SHARED"), to: home.manifestPath("two.json"))
    let shared = try await home.run("config set SHARED", input: FakeLamps.key)
    #expect(shared.status == 64, "\(shared)")
    #expect(shared.errors.contains("by one and to 127.0.0.1:\(other.server.port) by two"))
    #expect(lamps.server.requests.isEmpty)
    #expect(other.server.requests.isEmpty)
  }
}
