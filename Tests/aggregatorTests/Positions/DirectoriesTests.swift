import AggregatorFiles
import AggregatorKit
import CountriesSource
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorCommand
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// The directories of the program's data.
@Suite struct DirectoriesTests {
  private static let program = ProgramName("aggregator")

  @Test(arguments: [
    (
      ["HOME": "/h"],
      ["/h/.local/share/aggregator", "/h/.local/state/aggregator", "/h/.cache/aggregator"]
    ),
    (
      ["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c"],
      ["/d/aggregator", "/s/aggregator", "/c/aggregator"]
    ),
    // Relative paths would be in the working directory.
    (
      ["HOME": "/h", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "./s", "XDG_CACHE_HOME": ""],
      ["/h/.local/share/aggregator", "/h/.local/state/aggregator", "/h/.cache/aggregator"]
    ),
    (["HOME": "h", "XDG_STATE_HOME": "/s"], [nil, "/s/aggregator", nil]),
    ([:], [nil, nil, nil]),
  ])
  func `follows the XDG specification`(variables: [String: String], paths: [String?]) throws {
    let directories = try Directories(of: Self.program, SourceSettings(), variables: variables)
    #expect([directories.data, directories.state, directories.cache] == paths)
  }

  @Test func `AGGREGATOR_HOME replaces all directories`() throws {
    let directories = try Directories(
      of: Self.program, SourceSettings(["AGGREGATOR_HOME": "/one"]),
      variables: ["HOME": "/h", "XDG_DATA_HOME": "/d"])
    #expect(directories.data == "/one")
    #expect(directories.state == "/one")
    #expect(directories.cache == "/one/cache")
  }

  @Test func `a program of another name has its own directories, settings and variables`() throws {
    let tree = CommandTree("my-planets", plugins: [CountriesPlugin()])
    let variables = [
      "HOME": "/h", "XDG_CACHE_HOME": "/c", "AGGREGATOR_HOME": "/one", "AGGREGATOR_CONFIG": "/f",
      "AGGREGATOR_FORCE_TTY": "50", "AGGREGATOR_RECORD": "/r",
    ]
    let context = CommandContext(
      Invocation(arguments: [], values: [:]), of: tree.catalog, variables: variables)
    let directories = try context.directories(context.settings())
    #expect(directories.data == "/h/.local/share/my-planets")
    #expect(directories.state == "/h/.local/state/my-planets")
    #expect(directories.cache == "/c/my-planets")
    #expect(try context.userSettingsFile() == "/h/.config/my-planets/config.xcconfig")
    #expect(context.terminal.width != 50)
    let options = try RecordingOptions(
      Invocation(arguments: [], values: [:]), context.settings(), of: tree.catalog.name)
    #expect(!options.isOn)

    let own = CommandContext(
      Invocation(arguments: [], values: [:]), of: tree.catalog,
      variables: ["MY_PLANETS_HOME": "/one", "MY_PLANETS_FORCE_TTY": "50"])
    #expect(try own.directories(own.settings()).storePath == "/one/store.sqlite")
    #expect(try own.userSettingsFile() == "/one/config/config.xcconfig")
    #expect(own.terminal.width == 50)
    let keys = tree.catalog.settings.map(\.key).filter { !$0.hasPrefix("COUNTRIES_") }
    #expect(
      keys == [
        "MY_PLANETS_HOME", "MY_PLANETS_STORE", "MY_PLANETS_STORE_PASSWORD", "MY_PLANETS_HISTORY",
        "MY_PLANETS_SQL_STORE", "MY_PLANETS_STORE_READS", "MY_PLANETS_RECORD", "MY_PLANETS_REPLAY",
      ])
  }

  @Test func `no help of a program of another name mentions aggregator's files and variables`() {
    let tree = CommandTree("planets", plugins: [CountriesPlugin()])
    let help = Help(tree, width: 200)
    var texts = HelpTopic.allCases.map { $0.text(help) }
    tree.root.visit { texts.append(help.text(of: $0)) }
    for text in texts { #expect(!text.lowercased().contains("aggregator")) }
  }

  @Test(arguments: [
    ("aggregator", "AGGREGATOR_HOME"), ("goods-cli", "GOODS_CLI_HOME"), ("2d", "_2D_HOME"),
  ])
  func `variables are named after the program`(name: String, variable: String) {
    #expect(ProgramName(name).variable("HOME") == variable)
  }

  @Test func `with AGGREGATOR_HOME, config writes and reads settings there`() async throws {
    let sandbox = try Sandbox()
    let home: [String: String?] = ["AGGREGATOR_HOME": sandbox.root.appending(path: "own").path]
    let file = "own/config/config.xcconfig"
    let set = try await Binary.run(
      "config set COMIC_VINE_RATE 7/m", environment: home, in: sandbox)
    #expect(set.status == 0, "\(set)")
    #expect(try sandbox.text(of: file).contains("COMIC_VINE_RATE = 7/m"))
    #expect(try sandbox.files(under: "home") == [])
    let path = try await Binary.run("config path", environment: home, in: sandbox)
    #expect(path.output == sandbox.root.appending(path: file).path + "\n")
    let get = try await Binary.run("config get COMIC_VINE_RATE", environment: home, in: sandbox)
    #expect(get.output == "7/m\n")
    let other = try await Binary.run("config get COMIC_VINE_RATE", in: sandbox)
    #expect(other.output != "7/m\n")
    let unset = try await Binary.run(
      "config unset COMIC_VINE_RATE", environment: home, in: sandbox)
    #expect(unset.status == 0)
    #expect(try !sandbox.text(of: file).contains("7/m"))
    for line in ["config set COMIC_VINE_RATE 7/m", "config path"] {
      let relative = try await Binary.run(
        line, environment: ["AGGREGATOR_HOME": "here"], in: sandbox)
      #expect(relative.status == 78)
      #expect(
        relative.errors.contains(
          "invalid value \"here\" for AGGREGATOR_HOME: must be an absolute path"))
    }
    #expect(try sandbox.files(under: "home") == [])
    #expect(try sandbox.files(under: "work") == [])
  }

  @Test func `rejects a relative AGGREGATOR_HOME`() {
    let failure = #expect(throws: CommandError.self) {
      try Directories(
        of: Self.program, SourceSettings(["AGGREGATOR_HOME": "here"]), variables: ["HOME": "/h"])
    }
    #expect(failure?.code == .settings)
    #expect(
      failure?.message == "invalid value \"here\" for AGGREGATOR_HOME: must be an absolute path")
  }

  @Test func `config shows AGGREGATOR_HOME, which no working directory sets`() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("AGGREGATOR_HOME = /elsewhere\n", to: "work/\(Binary.settingsFile)")
    let guarded = try await Binary.run("config list", in: sandbox)
    #expect(guarded.lines.contains { $0.hasPrefix("AGGREGATOR_HOME\tnot set\tdefault\t") })
    #expect(
      guarded.errors.contains(
        "AGGREGATOR_HOME is ignored: the working directory must not choose where files are written")
    )
    let set = try await Binary.run(
      "config get AGGREGATOR_HOME", environment: ["AGGREGATOR_HOME": "/mine"], in: sandbox)
    #expect(set.output == "/mine\n")
  }

  @Test func `creates directories with mode 0700, and leaves existing ones unchanged`()
    throws
  {
    let sandbox = try Sandbox()
    let path = sandbox.root.appending(path: "home/.local/share").path
    try PrivateFile.makeDirectory(path)
    #expect(try sandbox.permissions(of: "home/.local") == 0o700)
    #expect(try sandbox.permissions(of: "home/.local/share") == 0o700)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    try PrivateFile.makeDirectory(path)
    #expect(try sandbox.permissions(of: "home/.local/share") == 0o755)
    let below = try sandbox.write("", to: "home/file").path + "/below"
    let error = #expect(throws: SourceError.self) { try PrivateFile.makeDirectory(below) }
    #expect(error?.code == .storage)
  }
}
