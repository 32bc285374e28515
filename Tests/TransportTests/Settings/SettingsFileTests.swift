import AggregatorKit
import Foundation
import Testing

@Suite struct SettingsFileTests {
  let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private var file: SettingsFile { SettingsFile(sandbox.userFile, settings: Keys.all) }

  private func edited(_ text: String, _ key: String, _ value: String) -> String {
    String(decoding: Xcconfig.setting(key, to: value, in: Array(text.utf8)), as: UTF8.self)
  }

  @Test(arguments: [
    ("", "K = v\n"),
    ("A = 1", "A = 1\nK = v\n"),
    ("A = 1\n\n// end\n", "A = 1\n\n// end\nK = v\n"),
    ("A = 1\r\n", "A = 1\r\nK = v\r\n"),
    ("K = old", "K = v"),
    ("// K = no\n\tK  =\told \t// why\nA = 1", "// K = no\n\tK  =\tv \t// why\nA = 1"),
    ("K = 1\nK = 2\nK[a=b] = 3\nKK = 4", "K = 1\nK = v\nK[a=b] = 3\nKK = 4"),
    ("K =\nA = 1", "K = v\nA = 1"),
    ("K =// why", "K = v // why"),
    ("K = old;", "K = v;"),
    ("K = old// why", "K = v // why"),
    ("K = https://old.example/x // y\nA = 1", "K = v\nA = 1"),
    ("\u{FEFF}K = old\r\nB = \u{65E5}", "\u{FEFF}K = v\r\nB = \u{65E5}"),
  ])
  func `changes one value and nothing else`(before: String, after: String) {
    #expect(edited(before, "K", "v") == after)
  }

  @Test(arguments: [
    ("", ""), ("A = 1", "A = 1"), ("K = 1", ""), ("K = 1\n", ""),
    ("A = 1\nK = 2\nB = 3\n", "A = 1\nB = 3\n"),
    ("A = 1\r\nK = 2\r\nB = 3", "A = 1\r\nB = 3"),
    ("K = 1 // why\nA = 1", "// why\nA = 1"),
    ("K = 1\nA = 1\nK=2", "A = 1\n"),
    ("K = https://cut.example/x\nA = 1", "A = 1"),
    ("// K = 1\nKK = 2\nK[a=b] = 3\n", "// K = 1\nKK = 2\nK[a=b] = 3\n"),
    ("\u{FEFF}K = 1\nA = 1", "\u{FEFF}A = 1"),
  ])
  func `removes a key and preserves the rest`(before: String, after: String) {
    let edited = Xcconfig.removing("K", from: Array(before.utf8))
    #expect(String(decoding: edited, as: UTF8.self) == after)
  }

  @Test(arguments: [
    "https://host/a//b///c", "a//", "//", "/", "$(A)", "${A}", "$$(A)", "$", "$()", "a;", ";;",
    "a = b",
    "日本 🇯🇵", "/\u{301}/\u{301}", "#include \"x\"", "[a=b] = c", "\\", "a'b\"c", "$(inherited)",
  ])
  func `writes any text so that it is read unchanged`(text: String) throws {
    let layer = SettingsLayer(
      SettingsText("f", bytes: Xcconfig.setting("K", to: text, in: Array("K = old// c".utf8)))
    ) { _ in .missing }
    var expansion = SettingsExpansion(of: layer, settings: [:]) { _ in nil }
    #expect(try expansion.value(of: "K") == text)
    #expect(layer.diagnosticCount == 0)
  }

  @Test func `writes a URL with $()`() throws {
    try file.set("COUNTRIES_URL", to: " https://host/a ")
    #expect(try sandbox.bytes(of: sandbox.userFile) == "COUNTRIES_URL = https:/$()/host/a\n")
    let loaded = try sandbox.load()
    #expect(try loaded.settings.url(Keys.countriesURL).absoluteString == "https://host/a")
    #expect(loaded.warnings.isEmpty)
  }

  @Test func `creates directories and file for the owner only`() throws {
    try file.set("COMIC_VINE_API_KEY", to: "0123456789abcdef")
    #expect(try sandbox.mode(of: sandbox.userFile) == 0o600)
    #expect(try sandbox.mode(of: "\(sandbox.home)/.config") == 0o700)
    #expect(try sandbox.mode(of: "\(sandbox.home)/.config/aggregator") == 0o700)
  }

  @Test func `makes a file private that other users could read`() throws {
    try sandbox.writeUserFile("A = 1\n", mode: 0o644)
    try file.set("COMIC_VINE_RATE", to: "1/s")
    #expect(try sandbox.bytes(of: sandbox.userFile) == "A = 1\nCOMIC_VINE_RATE = 1/s\n")
    #expect(try sandbox.mode(of: sandbox.userFile) == 0o600)
  }

  @Test(arguments: [true, false])
  func `follows a symbolic link, even to a missing file`(exists: Bool) throws {
    try sandbox.makeDirectory("home/.config/aggregator")
    try sandbox.makeDirectory("dotfiles")
    if exists { try sandbox.write("A = 1\n", to: "dotfiles/config") }
    try sandbox.link("home/.config/aggregator/config.xcconfig", to: "../../../dotfiles/config")
    try file.set("COMIC_VINE_RATE", to: "off")
    #expect(
      try sandbox.bytes(of: "\(sandbox.root)/dotfiles/config")
        == (exists ? "A = 1\nCOMIC_VINE_RATE = off\n" : "COMIC_VINE_RATE = off\n"))
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: sandbox.userFile)
        == "../../../dotfiles/config")
  }

  @Test func `rejects circular links`() throws {
    try sandbox.makeDirectory("home/.config/aggregator")
    try sandbox.link("home/.config/aggregator/config.xcconfig", to: "config.xcconfig")
    let error = #expect(throws: SourceError.self) { try file.set("COMIC_VINE_RATE", to: "off") }
    #expect(error?.code == .storage)
  }

  @Test(arguments: [
    (
      "COMIC_VINE_API_KY", "x",
      "unknown setting COMIC_VINE_API_KY (did you mean \"COMIC_VINE_API_KEY\"?)"
    ),
    ("XYZ", "x", "unknown setting XYZ"),
    (
      "COMIC_VINE_RATE", "a\nb",
      "the value of COMIC_VINE_RATE contains a line break or a control character (use a single line of text)"
    ),
    (
      "COMIC_VINE_RATE", "a\u{7F}b",
      "the value of COMIC_VINE_RATE contains a line break or a control character (use a single line of text)"
    ),
    ("COMIC_VINE_RATE", " ", "the value of COMIC_VINE_RATE is empty (use the actual value)"),
    (
      "COMIC_VINE_API_KEY", "your_api_key_here",
      "the value of COMIC_VINE_API_KEY is a placeholder (use the actual value)"
    ),
    (
      "COMIC_VINE_RATE", "often",
      #"invalid value "often" for COMIC_VINE_RATE: must be a rate such as "1/s 200/h", or "off""#
    ),
    (
      "COMIC_VINE_PAGE_SIZE", "101",
      "invalid value \"101\" for COMIC_VINE_PAGE_SIZE: must be an integer from 1 to 100"
    ),
    (
      "COUNTRIES_URL", "ftp://host",
      "invalid value \"ftp://host\" for COUNTRIES_URL: must be an http(s) URL"
    ),
    (
      "AGGREGATOR_HOME", "here",
      "invalid value \"here\" for AGGREGATOR_HOME: must be an absolute path"
    ),
  ])
  func `rejects invalid values, and writes nothing`(key: String, value: String, words: String)
    throws
  {
    let error = #expect(throws: SourceError.self) { try file.set(key, to: value) }
    #expect(error.map { "\($0)" } == words)
    #expect(!FileManager.default.fileExists(atPath: "\(sandbox.home)/.config"))
  }

  @Test func `refuses to change an invalid file`() throws {
    try sandbox.write("COMIC_VINE_RATE = 5/s", to: "home/.config/aggregator/more")
    for (text, words) in [
      ("oops\n", ":1: the line has no ="),
      ("COMIC_VINE_RATE = 1/s\n#include \"more\"\n", "another line sets COMIC_VINE_RATE too"),
    ] {
      try sandbox.writeUserFile(text)
      let error = #expect(throws: SourceError.self) { try file.set("COMIC_VINE_RATE", to: "2/s") }
      #expect(error?.code == .invalidSettings)
      #expect(error?.message.contains(words) == true)
      #expect(try sandbox.bytes(of: sandbox.userFile) == text)
    }
  }

  @Test func `repairs the line it replaces`() throws {
    try sandbox.writeUserFile("COUNTRIES_URL = https://cut.example\nCOMIC_VINE_RATE = \"1/s\"\n")
    try file.set("COUNTRIES_URL", to: "https://host")
    try file.set("COMIC_VINE_RATE", to: "2/s")
    #expect(
      try sandbox.bytes(of: sandbox.userFile)
        == "COUNTRIES_URL = https:/$()/host\nCOMIC_VINE_RATE = 2/s\n")
  }

  @Test func `reports a file that cannot be written, and leaves it unchanged`() throws {
    try sandbox.write("a file", to: "home/.config")
    let error = #expect(throws: SourceError.self) { try file.set("COMIC_VINE_RATE", to: "2/s") }
    #expect(error?.code == .storage)
    #expect(error?.message == "cannot write \(sandbox.userFile): Not a directory")
    #expect(try sandbox.bytes(of: "\(sandbox.home)/.config") == "a file")
  }

  @Test func `does not treat a directory as an empty file`() throws {
    try sandbox.makeDirectory("home/.config/aggregator/config.xcconfig")
    let error = #expect(throws: SourceError.self) { try file.set("COMIC_VINE_RATE", to: "2/s") }
    #expect(error?.code == .storage)
  }

  @Test func `leaves no other file behind`() throws {
    try file.set("COMIC_VINE_RATE", to: "2/s")
    _ = try? file.set("COMIC_VINE_RATE", to: "often")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: "\(sandbox.home)/.config/aggregator")
        == ["config.xcconfig"])
  }

  @Test(arguments: 0..<20)
  func `loses nothing in concurrent edits`(round: Int) async throws {
    let path = "\(sandbox.root)/\(round)/config.xcconfig"
    let file = SettingsFile(path, settings: Keys.all)
    let values = [
      "COUNTRIES_URL": "https://a", "COMIC_VINE_URL": "https://b", "COMIC_VINE_API_KEY": "k",
      "COMIC_VINE_RATE": "2/s", "COMIC_VINE_PAGE_SIZE": "3", "AGGREGATOR_HOME": "/h",
    ]
    try await withThrowingTaskGroup { group in
      for (key, value) in values { group.addTask { try file.set(key, to: value) } }
      try await group.waitForAll()
    }
    let lines = try sandbox.bytes(of: path).split(separator: "\n")
    #expect(Set(lines.map { String($0.prefix { $0 != " " }) }) == Set(values.keys))
  }
}
