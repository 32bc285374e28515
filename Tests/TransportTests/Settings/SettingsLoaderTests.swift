import AggregatorKit
import Foundation
import Testing

@Suite struct SettingsLoaderTests {
  let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  @Test func `has defaults`() throws {
    let loaded = try sandbox.load()
    #expect(loaded.settings.text(Keys.countriesURL) == "https://host/c")
    #expect(loaded.settings.origin(of: Keys.countriesURL) == .standard)
    #expect(loaded.settings.apiKey == nil)
    #expect(loaded.warnings.isEmpty)
  }

  /// Removes each layer in turn, from the highest; the next one applies.
  @Test func `prefers the higher layer`() throws {
    func line(_ name: String) -> String { "COUNTRIES_URL = https:/$()/\(name)\n" }
    try sandbox.write(line("config"), to: "my.xcconfig")
    try sandbox.write(line("work"), to: "work/Configuration/Debug.xcconfig")
    try sandbox.writeUserFile(line("user"))
    let config = "\(sandbox.root)/my.xcconfig"
    let variable = ["COUNTRIES_URL": "https://environment"]
    let option = ["COUNTRIES_URL": "https://option"]
    func check(
      _ loaded: SettingsLoader.Loaded, _ host: String, _ origin: SourceSettings.Origin
    ) throws {
      #expect(try loaded.settings.url(Keys.countriesURL).absoluteString == "https://\(host)")
      #expect(loaded.settings.origin(of: Keys.countriesURL) == origin)
      #expect(loaded.warnings.isEmpty)
    }
    try check(sandbox.load(variable, options: option, configFile: config), "option", .option)
    try check(sandbox.load(variable, configFile: config), "environment", .environment)
    try check(sandbox.load(configFile: config), "config", .file(path: config, line: 1))
    try check(sandbox.load(), "work", .file(path: "Configuration/Debug.xcconfig", line: 1))
    try check(sandbox.load(build: .release), "user", .file(path: sandbox.userFile, line: 1))
  }

  @Test func `reads the file of --config, or else of AGGREGATOR_CONFIG`() throws {
    try sandbox.write("COUNTRIES_URL = one", to: "work/one.xcconfig")
    try sandbox.write("COUNTRIES_URL = two", to: "work/two.xcconfig")
    let environment = ["AGGREGATOR_CONFIG": "two.xcconfig"]
    #expect(try sandbox.load(environment).settings.text(Keys.countriesURL) == "two")
    let both = try sandbox.load(environment, configFile: "one.xcconfig")
    #expect(both.settings.text(Keys.countriesURL) == "one")
    #expect(
      try sandbox.load(["AGGREGATOR_CONFIG": ""]).settings.text(Keys.countriesURL)
        == "https://host/c")
  }

  @Test func `fails if a named file does not exist`() throws {
    let option = #expect(throws: SourceError.self) { try sandbox.load(configFile: "no.xcconfig") }
    #expect(option?.code == .invalidSettings)
    #expect(option?.message == "settings file not found: no.xcconfig")
    let variable = #expect(throws: SourceError.self) {
      try sandbox.load(["AGGREGATOR_CONFIG": "/no"])
    }
    #expect(variable?.message == "settings file not found: /no")
  }

  @Test func `finds the user's file by XDG_CONFIG_HOME, then HOME, and only if absolute`() {
    func path(_ environment: [String: String]) -> String? {
      SettingsLoader([], environment: environment, workingDirectory: "/w", build: .debug).userFile
    }
    #expect(path(["HOME": "/h"]) == "/h/.config/aggregator/config.xcconfig")
    #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]) == "/x/aggregator/config.xcconfig")
    #expect(
      path(["HOME": "/h", "XDG_CONFIG_HOME": "x"]) == "/h/.config/aggregator/config.xcconfig")
    #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": ""]) == "/h/.config/aggregator/config.xcconfig")
    #expect(path(["HOME": "h"]) == nil)
    #expect(path([:]) == nil)
  }

  @Test func `treats an empty value as unset, in every layer`() throws {
    try sandbox.writeUserFile("COUNTRIES_URL = https:/$()/user")
    try sandbox.write("COUNTRIES_URL =", to: "work/Configuration/Debug.xcconfig")
    let loaded = try sandbox.load(["COUNTRIES_URL": " "], options: ["COUNTRIES_URL": ""])
    #expect(loaded.settings.text(Keys.countriesURL) == "https://user")
  }

  @Test func `treats a placeholder as a missing key, and prefers a real one`() throws {
    try sandbox.write(
      "COMIC_VINE_API_KEY = your_api_key_here", to: "work/Configuration/Debug.xcconfig")
    let placeholder = try sandbox.load().settings
    #expect(placeholder.apiKey == nil)
    #expect(placeholder.shown(Keys.apiKey) == .placeholder)
    #expect(
      placeholder.origin(of: Keys.apiKey) == .file(path: "Configuration/Debug.xcconfig", line: 1))
    try sandbox.writeUserFile("COMIC_VINE_API_KEY = real")
    #expect(try sandbox.load().settings.apiKey == "real")
    #expect(try sandbox.load(["COMIC_VINE_API_KEY": "your_api_key_here"]).settings.apiKey == "real")
  }

  @Test func `reads variables and options literally`() throws {
    let loaded = try sandbox.load(["COUNTRIES_URL": " https://h/$(COMIC_VINE_RATE)//; "])
    #expect(loaded.settings.text(Keys.countriesURL) == "https://h/$(COMIC_VINE_RATE)//;")
  }

  @Test(arguments: ["a\nb", "a\u{0}b", "a\u{1B}[0m", "a\u{2028}b"])
  func `rejects control characters in variables`(value: String) throws {
    let error = #expect(throws: SourceError.self) { try sandbox.load(["COUNTRIES_URL": value]) }
    #expect(
      error?.message == "environment: COUNTRIES_URL contains a line break or a control character")
  }

  @Test func `expands values of lower layers, but not of higher ones`() throws {
    try sandbox.writeUserFile("COMIC_VINE_RATE = 2/s\nCOUNTRIES_URL = a$(COMIC_VINE_PAGE_SIZE)")
    try sandbox.write("COUNTRIES_URL = $(inherited)-$(COMIC_VINE_RATE)", to: "my.xcconfig")
    let loaded = try sandbox.load(["COMIC_VINE_PAGE_SIZE": "7"], configFile: "../my.xcconfig")
    #expect(loaded.settings.text(Keys.countriesURL) == "a100-2/s")
  }

  @Test func `warns of unreadable lines in the working directory`() throws {
    try sandbox.write(
      "oops\n#include \"no\"\nCOUNTRIES_URL = http://h\nCOMIC_VINE_RATE = 9/s",
      to: "work/Configuration/Debug.xcconfig")
    let loaded = try sandbox.load()
    #expect(loaded.settings.text(Keys.countriesURL) == "https://host/c")
    #expect(loaded.settings.text(Keys.rate) == "9/s")
    #expect(loaded.warnings.map(\.code.description) == ["settings", "settings", "settings"])
    #expect(
      loaded.warnings.map { $0.message.prefix(31) } == [
        "Configuration/Debug.xcconfig:1:", "Configuration/Debug.xcconfig:2:",
        "Configuration/Debug.xcconfig:3:",
      ])
  }

  @Test func `limits the warnings for a file in another format`() throws {
    try sandbox.write(
      String(repeating: "x\n", count: 1000), to: "work/Configuration/Debug.xcconfig")
    let warnings = try sandbox.load().warnings
    #expect(warnings.count == 4)
    #expect(warnings.last?.message == "Configuration/Debug.xcconfig: 997 more invalid lines")
  }

  @Test(arguments: [
    ("oops", ":1: the line has no ="),
    ("\n#include \"no\"", ":2: file not found: no"),
    (
      "COUNTRIES_URL = http://h",
      ":1: the URL in COUNTRIES_URL is cut off, because // starts a comment"
    ),
    ("COUNTRIES_URL = $(COUNTRIES_URL)", ":1: COUNTRIES_URL refers to itself"),
  ])
  func `fails on an unreadable line elsewhere`(text: String, message: String) throws {
    try sandbox.writeUserFile(text)
    let error = #expect(throws: SourceError.self) { try sandbox.load() }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message == sandbox.userFile + message)
  }

  @Test func `does not warn of an app's keys`() throws {
    try sandbox.write(
      "PRODUCT_NAME = $(A:lower)\nSDK[sdk=*] = x\nX = $(COMIC_VINE_API_KEY)\nY = $(Y)\n"
        + "COMIC_VINE_API_KY = x",
      to: "work/Configuration/Debug.xcconfig")
    #expect(try sandbox.load().warnings == [])
  }

  @Test func `warns of a condition`() throws {
    let line = "COUNTRIES_URL[sdk=*] = x"
    try sandbox.write("\(line)\n\(line)", to: "work/Configuration/Debug.xcconfig")
    try sandbox.writeUserFile("OTHER[arch=*] = x")
    #expect(
      try sandbox.load().warnings.map(\.message) == [
        "\(sandbox.userFile):1: OTHER[…] is ignored: conditions are not supported (write OTHER = value)",
        "Configuration/Debug.xcconfig:1: COUNTRIES_URL[…] is ignored: conditions are not supported "
          + "(write COUNTRIES_URL = value)",
      ])
  }

  @Test func `warns of a key similar to a known one`() throws {
    try sandbox.writeUserFile("COMIC_VINE_API_KY = x\ncountries_url = x\nPRODUCT_BUNDLE = x")
    #expect(
      try sandbox.load().warnings.map(\.message) == [
        "\(sandbox.userFile):1: unknown setting COMIC_VINE_API_KY (did you mean \"COMIC_VINE_API_KEY\"?)",
        "\(sandbox.userFile):2: unknown setting countries_url (did you mean \"COUNTRIES_URL\"?)",
      ])
  }

  @Test func `does not warn of a key used by another value`() throws {
    try sandbox.writeUserFile("COUNTRIES_UR = a\nCOUNTRIES_URL = $(COUNTRIES_UR)")
    #expect(try sandbox.load().warnings.isEmpty)
  }

  @Test func `reports a key that is set only for the other build`() throws {
    try sandbox.write(
      "COMIC_VINE_API_KEY = 0123456789abcdef\nCOMIC_VINE_URL = x\nCOMIC_VINE_RATE =",
      to: "work/Configuration/Release.xcconfig")
    #expect(
      try sandbox.load().warnings == [
        Warning(
          Warning.Code("otherBuild"),
          "COMIC_VINE_API_KEY is set in Configuration/Release.xcconfig, but this is a debug build, "
            + "which reads Debug.xcconfig")
      ])
    #expect(try sandbox.load(build: .release).warnings.map(\.code.description) == ["ignored"])
    #expect(try sandbox.load(["COMIC_VINE_API_KEY": "k"]).warnings.isEmpty)
    #expect(try sandbox.load(["COMIC_VINE_API_KEY": "your_api_key_here"]).warnings.count == 1)
    try sandbox.write(
      "COMIC_VINE_API_KEY = your_api_key_here", to: "work/Configuration/Release.xcconfig")
    #expect(try sandbox.load().warnings.isEmpty)
  }

  @Test(arguments: [(0o644, true), (0o640, true), (0o602, true), (0o600, false), (0o400, false)])
  func `warns of a secret that others can read`(mode: Int, isExposed: Bool) throws {
    try sandbox.writeUserFile("COMIC_VINE_API_KEY = 0123456789abcdef", mode: mode)
    let file = sandbox.userFile
    #expect(
      try sandbox.load().warnings.map(\.message)
        == (isExposed
          ? ["\(file) contains a secret and is open to other users (run: chmod 600 \(file))"] : [])
    )
  }

  @Test(arguments: [
    "COUNTRIES_URL = a", "COMIC_VINE_API_KEY = your_api_key_here", "COMIC_VINE_API_KEY =",
  ])
  func `ignores the permissions of a file without a secret`(text: String) throws {
    try sandbox.writeUserFile(text, mode: 0o644)
    #expect(try sandbox.load().warnings.isEmpty)
  }

  @Test func `warns of the included file that holds the secret`() throws {
    try sandbox.writeUserFile("#include \"keys\"\nCOMIC_VINE_API_KEY = $(PART)")
    try sandbox.write("PART = 0123456789abcdef", to: "home/.config/aggregator/keys", mode: 0o644)
    let loaded = try sandbox.load()
    #expect(loaded.settings.apiKey == "0123456789abcdef")
    #expect(loaded.warnings.map(\.code.description) == ["exposed"])
    #expect(
      loaded.warnings.first?.message.hasPrefix("\(sandbox.home)/.config/aggregator/keys ") == true)
  }

  @Test func `reads a file only once if it is named twice`() throws {
    try sandbox.write("COMIC_VINE_URL = https:/$()/h", to: "work/Configuration/Debug.xcconfig")
    let loaded = try sandbox.load(configFile: "Configuration/Debug.xcconfig")
    #expect(try loaded.settings.url(Keys.heroesURL).absoluteString == "https://h")
    #expect(loaded.warnings.isEmpty)
  }

  @Test func `never hangs on a named pipe, nor reads a directory or a huge file`() throws {
    try #require(mkfifo("\(sandbox.work)/Configuration/Debug.xcconfig", 0o600) == 0)
    #expect(
      try sandbox.load().warnings.map(\.message) == [
        "cannot read Configuration/Debug.xcconfig: not a regular file"
      ])
    let directory = #expect(throws: SourceError.self) { try sandbox.load(configFile: sandbox.root) }
    #expect(directory?.code == .storage)
    try sandbox.write(String(repeating: "\n", count: 65_537), to: "huge")
    let huge = #expect(throws: SourceError.self) { try sandbox.load(configFile: "../huge") }
    #expect(huge?.message == "../huge: is larger than 64 KiB")
  }

  @Test func `reveals no variable in its description or mirror`() {
    let loader = SettingsLoader(
      Keys.groups, environment: ["COMIC_VINE_API_KEY": "0123456789abcdef", "TOKEN": "t0k3n"],
      workingDirectory: "/", build: .debug)
    var words = "\(loader)"
    dump(loader, to: &words)
    #expect(!words.contains("0123456789"))
    #expect(!words.contains("t0k3n"))
  }
}
