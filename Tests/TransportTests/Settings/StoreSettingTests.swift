import Testing

@testable import AggregatorKit

/// The setting of a store, whose value may contain a password.
@Suite struct StoreSettingTests {
  private static let store = Setting("NOTES_STORE", .store, about: "")
  private static let password = Setting("NOTES_STORE_PASSWORD", .secret, about: "")
  private static let url = Setting("NOTES_URL", .url, about: "")

  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  private func load(
    _ groups: [[Setting]] = [[url], [store, password]], _ environment: [String: String] = [:]
  ) throws(SourceError) -> SettingsLoader.Loaded {
    try SettingsLoader(
      groups, environment: ["HOME": sandbox.home].merging(environment) { $1 },
      workingDirectory: sandbox.work, build: .debug
    ).load()
  }

  @Test func `is a secret to all but its reader`() throws {
    let settings = try load([[Self.store]], ["NOTES_STORE": "postgresql://u:pass@host/database"])
      .settings
    #expect(settings.text(Self.store) == nil)
    #expect(settings.secret(Self.store)?.reveal(\.self) == "postgresql://u:pass@host/database")
    #expect("\(settings.shown(Self.store))" == "set (…base)")
  }

  @Test(arguments: [
    ([[store, password]], "must not choose where NOTES_STORE_PASSWORD is sent"),
    ([[store]], "must not choose where files are written"),
  ])
  func `is not taken from the working directory`(groups: [[Setting]], words: String) throws {
    try sandbox.write(
      "NOTES_STORE = postgresql:/$()/evil/db", to: "work/Configuration/Debug.xcconfig")
    let loaded = try load(groups)
    #expect(loaded.settings.secret(Self.store) == nil)
    #expect(loaded.warnings.map(\.code.description) == ["ignored"])
    #expect(loaded.warnings.first?.message.contains(words) == true)
  }

  @Test func `no other value contains it`() throws {
    try sandbox.writeUserFile("NOTES_STORE = postgresql:/$()/u:pass@host/db")
    try sandbox.write(
      "NOTES_URL = http:/$()/evil/$(NOTES_STORE)", to: "work/Configuration/Debug.xcconfig")
    let loaded = try load()
    #expect(loaded.settings.text(Self.url) == nil)
    #expect(loaded.warnings.map(\.code.description) == ["settings"])
    #expect(loaded.warnings.first?.message.contains("must not refer to the secret") == true)
  }

  @Test func `it may contain the password`() throws {
    try sandbox.writeUserFile(
      "NOTES_STORE_PASSWORD = pass\nNOTES_STORE = postgresql:/$()/u:$(NOTES_STORE_PASSWORD)@host/db"
    )
    let loaded = try load()
    #expect(loaded.settings.secret(Self.store)?.reveal(\.self) == "postgresql://u:pass@host/db")
    #expect(loaded.warnings.isEmpty)
  }

  @Test(arguments: [
    ("/srv/store.sqlite", []), ("postgresql:/$()/u@host:5432/db?sslmode=require", []),
    ("postgresql:/$()/u:pass@host/db", ["exposed"]),
    ("postgresql:/$()/host/db?password=pass", ["exposed"]),
  ])
  func `a file with its password should be private`(value: String, codes: [String]) throws {
    try sandbox.writeUserFile("NOTES_STORE = \(value)", mode: 0o644)
    #expect(try load().warnings.map(\.code.description) == codes)
  }

  @Test func `a URL cut at its slashes is diagnosed`() throws {
    try sandbox.writeUserFile("NOTES_STORE = postgresql://u@host/db")
    let error = #expect(throws: SourceError.self) { try load() }
    #expect(error?.message.contains("the URL in NOTES_STORE is cut off") == true)
    #expect(error?.remedy?.text == "write postgresql:/$()/host for postgresql://host")
  }
}
