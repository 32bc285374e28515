import AggregatorFiles
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorCommand

/// The directories of the program's data.
@Suite struct DirectoriesTests {
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
    let directories = try Directories(Settings(), variables: variables)
    #expect([directories.data, directories.state, directories.cache] == paths)
  }

  @Test func `AGGREGATOR_HOME replaces all directories`() throws {
    let directories = try Directories(
      Settings(["AGGREGATOR_HOME": "/one"]), variables: ["HOME": "/h", "XDG_DATA_HOME": "/d"])
    #expect(directories.data == "/one")
    #expect(directories.state == "/one")
    #expect(directories.cache == "/one/cache")
  }

  @Test func `rejects a relative AGGREGATOR_HOME`() {
    let failure = #expect(throws: CommandError.self) {
      try Directories(Settings(["AGGREGATOR_HOME": "here"]), variables: ["HOME": "/h"])
    }
    #expect(failure?.code == .settings)
    #expect(
      failure?.message == "invalid value \"here\" for AGGREGATOR_HOME: must be an absolute path")
  }

  @Test func `config shows AGGREGATOR_HOME, which no working directory sets`() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("AGGREGATOR_HOME = /elsewhere\n", to: "work/Configuration/Debug.xcconfig")
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
