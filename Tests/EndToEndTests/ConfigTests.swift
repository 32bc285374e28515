import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `config`, and where settings come from.
@Suite struct ConfigTests {
  static let userFile = "home/.config/aggregator/config.xcconfig"
  static let secret = "s3cr3t0f40charactersf00ba4b1c2d3e4f5a1f9"

  @Test func `a key from standard input is saved privately, used and never shown`() async throws {
    let sandbox = try Sandbox()
    let set = try await Binary.run(
      "config set COMIC_VINE_API_KEY --no-verify", input: "  \(Self.secret)\n", in: sandbox)
    #expect(set.status == 0)
    #expect(set.output == "")
    #expect(
      set.errors
        == "Set COMIC_VINE_API_KEY in \(sandbox.root.appending(path: Self.userFile).path)\n")
    #expect(try sandbox.permissions(of: Self.userFile) == 0o600)
    #expect(try sandbox.permissions(of: "home/.config/aggregator") == 0o700)
    #expect(try sandbox.text(of: Self.userFile).contains("= \(Self.secret)\n"))

    for line in [
      "config", "config list --json", "config get COMIC_VINE_API_KEY", "sources show heroes",
    ] {
      let outcome = try await Binary.run(line, in: sandbox)
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("set (…a1f9)"), "\(outcome)")
      #expect(!(outcome.output + outcome.errors).contains(Self.secret.prefix(12)))
    }

    let service = try FakeServer(.json(#"{"error":"OK","status_code":1,"results":[]}"#))
    var settings = service.settings
    settings["COMIC_VINE_API_KEY"] = .some(nil)
    #expect(try await Binary.run("heroes list", environment: settings, in: sandbox).status == 0)
    #expect(service.requests.map { $0.query["api_key"] } == [Self.secret])
  }

  @Test func `a key is verified with one request, and not saved if it is rejected`() async throws {
    let service = try FakeComicVine()
    let sandbox = try Sandbox()
    var environment: [String: String?] = service.settings.mapValues(Optional.some)
    environment["COMIC_VINE_API_KEY"] = .some(nil)
    func set(_ key: String) async throws -> Outcome {
      try await Binary.run(
        "config set COMIC_VINE_API_KEY", environment: environment, input: "\(key)\n", in: sandbox)
    }
    let wrong = try await set("wrong-key-of-a-test")
    #expect(wrong.status == 77)
    #expect(
      wrong.errors == """
        error: invalid API key; nothing was changed
        hint: check the key, or save it anyway with --no-verify

        """)
    #expect(try sandbox.files(under: "home").isEmpty)
    let right = try await set(FakeComicVine.key)
    #expect(right.status == 0)
    #expect(right.errors.hasSuffix("\nVerified with one request\n"), "\(right)")
    #expect(service.requests.count == 2)
    #expect(try sandbox.text(of: Self.userFile).contains("= \(FakeComicVine.key)\n"))
    // A service that does not answer says nothing about the key.
    service.stop()
    let unknown = try await set("another-key-of-a-test")
    #expect(unknown.status == 0)
    #expect(unknown.errors.contains("\nwarning: the key could not be verified: "), "\(unknown)")
    #expect(try sandbox.text(of: Self.userFile).contains("= another-key-of-a-test\n"))
  }

  @Test(arguments: [
    ["COMIC_VINE_API_KEY", secret], ["comic_vine_api_key", secret],
    ["COMIC_VINE_API_KEY=\(secret)"], ["COMIC_VINE_API_KEYS=\(secret)"],
  ])
  func `a key on the command line is rejected and not repeated`(arguments: [String]) async throws {
    let outcome = try await Binary.run(["config", "set"] + arguments, input: "another\n")
    #expect(outcome.status == 64)
    #expect(!outcome.errors.contains(Self.secret))
    #expect(try outcome.sandbox.files(under: "home").isEmpty)
  }

  @Test(arguments: [
    ("first\nsecond\n", "the value has more than one line"),
    (String(repeating: "x", count: 4097), "the value is longer than 4096 bytes"),
  ])
  func `an invalid key changes nothing`(input: String, words: String) async throws {
    let outcome = try await Binary.run("config set COMIC_VINE_API_KEY", input: input)
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == """
        error: \(words); nothing was changed
        hint: aggregator help config set

        """)
    #expect(try outcome.sandbox.files(under: "home").isEmpty)
  }

  @Test(arguments: [" ", "="])
  func `a key in the command line is refused, and not repeated`(separator: String) async throws {
    let outcome = try await Binary.run("config set COMIC_VINE_API_KEY\(separator)s3cret")
    #expect(outcome.status == 64 && !outcome.errors.contains("s3cret"), "\(outcome)")
    #expect(
      outcome.errors.hasPrefix(
        "error: COMIC_VINE_API_KEY cannot be passed on the command line, where other users could see it"
      ))
    #expect(try outcome.sandbox.files(under: "home").isEmpty)
  }

  @Test(arguments: ["", "\n", " \n \n"])
  func `standard input without a key changes nothing`(input: String) async throws {
    let outcome = try await Binary.run("config set COMIC_VINE_API_KEY", input: input)
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == """
        error: no value on standard input
        hint: aggregator config set COMIC_VINE_API_KEY < key.txt

        """)
    #expect(try outcome.sandbox.files(under: "home").isEmpty)
  }

  @Test func `an invalid directory is an error, and not a crash`() async throws {
    let sandbox = try Sandbox()
    try FileManager.default.createSymbolicLink(
      at: sandbox.home.appending(path: ".config"),
      withDestinationURL: URL(filePath: "/nowhere/at/all"))
    let outcome = try await Binary.run("config set COMIC_VINE_RATE 2/s", in: sandbox)
    #expect(outcome.status == 74)
    #expect(outcome.errors.hasPrefix("error: "))
  }

  @Test func `an ordinary setting is set, got and listed with its origin`() async throws {
    let sandbox = try Sandbox()
    let unset = try await Binary.run("config get COMIC_VINE_API_KEY", in: sandbox)
    #expect(unset.status == 1)
    #expect(unset.output == "")
    #expect(
      unset.errors == """
        error: COMIC_VINE_API_KEY is not set
        hint: aggregator config set COMIC_VINE_API_KEY

        """)
    #expect(try await Binary.run("config get COMIC_VINE_RATE", in: sandbox).output == "1/s 200/h\n")
    #expect(
      try await Binary.run(["config", "set", "COMIC_VINE_RATE", "2/s"], in: sandbox).status == 0)
    #expect(try await Binary.run("config get comic_vine_rate", in: sandbox).output == "2/s\n")
    let assigned = try await Binary.run("config set comic_vine_page_size=50", in: sandbox)
    #expect(assigned.status == 0, "\(assigned)")
    #expect(try await Binary.run("config get COMIC_VINE_PAGE_SIZE", in: sandbox).output == "50\n")
    let path = sandbox.root.appending(path: Self.userFile).path
    #expect(try await Binary.run("config path", in: sandbox).output == "\(path)\n")
    let list = try await Binary.run("config list", in: sandbox)
    #expect(list.lines.contains { $0.hasPrefix("COMIC_VINE_RATE\t2/s\t\(path):1\t") }, "\(list)")
    let overridden = try await Binary.run(
      "config list --fields key,value,origin", environment: ["COMIC_VINE_RATE": "off"], in: sandbox)
    #expect(overridden.lines.contains("COMIC_VINE_RATE\toff\tenvironment"), "\(overridden)")
  }

  @Test func `unset removes a setting and reports its new value`() async throws {
    let sandbox = try Sandbox()
    let path = try sandbox.write(
      """
      // mine
      COMIC_VINE_RATE = 2/s
      COMIC_VINE_RATE = 3/s // slow
      PRODUCTS_URL = http:/$()/localhost:1
      """, to: Self.userFile
    ).path
    let outcome = try await Binary.run("config unset comic_vine_rate", in: sandbox)
    #expect(outcome.status == 0)
    #expect(
      outcome.errors
        == "Removed COMIC_VINE_RATE from \(path); the default is 1/s 200/h\n")
    let left = "// mine\n// slow\nPRODUCTS_URL = http:/$()/localhost:1"
    #expect(try sandbox.text(of: Self.userFile) == left)
    #expect(try await Binary.run("config get COMIC_VINE_RATE", in: sandbox).output == "1/s 200/h\n")

    let again = try await Binary.run(
      "config unset COMIC_VINE_RATE", environment: ["COMIC_VINE_RATE": "4/s"], in: sandbox)
    #expect(again.status == 0)
    #expect(
      again.errors
        == "COMIC_VINE_RATE is not set in \(path); the value now comes from environment\n")
    #expect(try sandbox.text(of: Self.userFile) == left)
  }

  @Test func `removing a missing setting creates no file`() async throws {
    let outcome = try await Binary.run("config unset COMIC_VINE_API_KEY")
    #expect(outcome.status == 0)
    #expect(outcome.errors.hasSuffix("; there is no default\n"))
    #expect(try outcome.sandbox.files(under: "home").isEmpty)
    let unknown = try await Binary.run("config unset COMIC_VINE_RATES")
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("Did you mean \"COMIC_VINE_RATE\"?"))
  }

  @Test(arguments: [
    ("COMIC_VINE_RATE", "often", "must be a rate"),
    ("PRODUCTS_URL", "nowhere", "must be an http(s) URL"),
    ("RANDOM_USER_PAGE_SIZE", "0", "invalid value \"0\" for RANDOM_USER_PAGE_SIZE"),
    ("AGGREGATOR_HOME", "here", "must be an absolute path"),
  ])
  func `an invalid value is listed with a warning`(
    key: String, value: String, words: String
  ) async throws {
    let outcome = try await Binary.run("config list", environment: [key: value])
    #expect(outcome.status == 0)
    #expect(outcome.lines.contains { $0.hasPrefix("\(key)\t\(value)\tenvironment\t") })
    #expect(
      outcome.errors.hasPrefix("warning: environment: invalid value \"\(value)\" for \(key): "),
      "\(outcome)")
    #expect(outcome.errors.contains(words))
    #expect(outcome.errorLines.allSatisfy { $0.hasPrefix("warning: ") || $0.hasPrefix("hint: ") })
  }

  @Test(arguments: ["products list", "products search lamp", "heroes list"])
  func `an invalid page size of syncs is named by lists, too`(line: String) async throws {
    let key = line.hasPrefix("heroes") ? "COMIC_VINE_PAGE_SIZE" : "PRODUCTS_PAGE_SIZE"
    let outcome = try await Binary.run(line, environment: [key: "abc"])
    #expect(outcome.status == 78 && outcome.output == "", "\(outcome)")
    #expect(
      outcome.errors.contains("invalid value \"abc\" for \(key): must be an integer"),
      "\(outcome)")
  }

  @Test func `an invalid rate is named by a list without a key, too`() async throws {
    let outcome = try await Binary.run(
      "heroes list", environment: ["COMIC_VINE_RATE": "fast", "COMIC_VINE_API_KEY": nil])
    #expect(outcome.status == 78)
    #expect(
      outcome.errors.contains("invalid value \"fast\" for COMIC_VINE_RATE: must be a rate"),
      "\(outcome)")
  }

  @Test func `valid values are listed without warnings`() async throws {
    let outcome = try await Binary.run(
      "config list", environment: ["AGGREGATOR_RECORD": "tape", "COMIC_VINE_RATE": "off"])
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
  }

  @Test func `a URL is written so that it is read back`() async throws {
    let sandbox = try Sandbox()
    let url = "https://mirror.example/api"
    #expect(try await Binary.run("config set COMIC_VINE_URL \(url)", in: sandbox).status == 0)
    let read = try await Binary.run(
      "config get COMIC_VINE_URL", environment: ["COMIC_VINE_URL": nil], in: sandbox)
    #expect(read.output == "\(url)\n")
  }

  @Test(arguments: [
    ["COMIC_VINE_RATE", "often"], ["COMIC_VINE_URL", "nowhere"], ["COMIC_VINE_URL", "ftp://x"],
    ["COMIC_VINE_RATE", "1/s\nCOMIC_VINE_URL = http://evil.example"],
  ])
  func `an invalid value is not written`(arguments: [String]) async throws {
    let outcome = try await Binary.run(["config", "set"] + arguments)
    #expect(outcome.status == 64 || outcome.status == 78)
    #expect(outcome.errors.contains(arguments[0]))
    #expect(try outcome.sandbox.files(under: "home").isEmpty)
  }

  @Test func `an invalid value exits 78 with file and line`() async throws {
    let sandbox = try Sandbox()
    let file = try sandbox.write("\n// mine\nCOMIC_VINE_RATE = often\n", to: Self.userFile)
    let outcome = try await Binary.run(
      "heroes list", environment: ["COMIC_VINE_API_KEY": Self.secret], in: sandbox)
    #expect(outcome.status == 78)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("error: "))
    #expect(outcome.errors.contains("\(file.path):3: "))
  }

  @Test func `without HOME, there is no settings directory`() async throws {
    for line in ["config path", "config set COMIC_VINE_RATE off"] {
      let outcome = try await Binary.run(line, environment: ["HOME": nil])
      #expect(outcome.status == 78)
      #expect(
        outcome.errors == """
          error: no directory for a settings file
          hint: set HOME or XDG_CONFIG_HOME

          """)
    }
    #expect(try await Binary.run("heroes list -q", environment: ["HOME": nil]).status == 0)
    let sandbox = try Sandbox()
    let path = try await Binary.run(
      "config path", environment: ["HOME": nil, "XDG_CONFIG_HOME": sandbox.work.path])
    #expect(path.output == "\(sandbox.work.path)/aggregator/config.xcconfig\n")
  }

  @Test func `the working directory may set a key, but no address that receives it`() async throws {
    let service = try FakeComicVine()
    let evil = try FakeServer(.json("{}"))
    let sandbox = try Sandbox()
    let evilURL = try #require(evil.settings["COMIC_VINE_URL"] ?? nil).replacing(
      "//", with: "/$()/")
    try sandbox.write(
      """
      COMIC_VINE_API_KEY = \(FakeComicVine.key)
      COMIC_VINE_URL = \(evilURL)
      COMIC_VINE_RATE = off
      """, to: "work/\(Binary.settingsFile)")
    // The address of the user's own file holds.
    let own = service.url.absoluteString.replacing("//", with: "/$()/")
    try sandbox.write("COMIC_VINE_URL = \(own)\n", to: Self.userFile)
    let outcome = try await Binary.run(
      "heroes list -L3 --json", environment: ["COMIC_VINE_URL": nil], in: sandbox)
    #expect(outcome.status == 0)
    #expect(try outcome.envelope().provenance?.origin == "live", "\(outcome)")
    #expect(evil.requests.isEmpty)
    #expect(service.requests.map { $0.query["api_key"] } == [FakeComicVine.key])
    #expect(outcome.errors.contains("\(Binary.settingsFile):2"), "\(outcome)")
  }

  @Test func `a placeholder counts as missing and is reported`() async throws {
    let outcome = try await Binary.run(
      "heroes list --no-fallback", environment: ["COMIC_VINE_API_KEY": "your_api_key_here"])
    #expect(outcome.status == 77)
    #expect(
      outcome.errors.hasPrefix(
        "error: heroes: COMIC_VINE_API_KEY is still the example placeholder\n"))
  }

  @Test func `the file of --config overrides the user's own, and must exist`() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("COMIC_VINE_RATE = 3/s\n", to: Self.userFile)
    try sandbox.write("COMIC_VINE_RATE = 4/s\n", to: "work/mine.xcconfig")
    for (option, variables) in [
      ("--config mine.xcconfig", [:]), ("", ["AGGREGATOR_CONFIG": "mine.xcconfig"]),
    ] as [(String, [String: String?])] {
      let outcome = try await Binary.run(
        "config get COMIC_VINE_RATE \(option)", environment: variables, in: sandbox)
      #expect(outcome.output == "4/s\n", "\(outcome)")
    }
    let missing = try await Binary.run("config get COMIC_VINE_RATE --config gone", in: sandbox)
    #expect(missing.status == 78)
    #expect(missing.errors.hasPrefix("error: settings file not found: gone"))
  }
}
