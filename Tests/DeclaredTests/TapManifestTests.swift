import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import DeclaredSource

@Suite struct TapManifestTests {
  private static let tap =
    #""tap": {"command": ["tap-x", "-v"], "config": {"token": "${X_TOKEN}"}, "variables": ["TZ"]}"#

  private func manifest(_ text: String) throws -> Manifest {
    try Manifest(reading: Data(text.utf8))
  }

  @Test func `a tap and its stream take the place of a URL`() throws {
    let manifest = try manifest("{\(Self.tap), \"stream\": \"orders\", \"id\": \"id\"}")
    let tap = try #require(manifest.tap)
    #expect(tap.command == ["tap-x", "-v"])
    #expect(tap.stream == "orders")
    #expect(tap.variables == ["TZ"])
    #expect(manifest.secretNames == ["X_TOKEN"])
    #expect(manifest.secretHosts == ["X_TOKEN": "tap:tap-x"])
    #expect(manifest.timeout == .seconds(300))
    #expect(try self.manifest(manifest.json.text) == manifest)
    #expect(DeclaredPlugin("shop", manifest).policy.readOrder == .storedOnly)
  }

  @Test(arguments: [
    (#""stream": "x""#, "line 1: \"stream\" must be beside a \"tap\""),
    (#""tap": {"command": ["x"]}"#, "line 1: \"tap\" must be beside the name of a \"stream\""),
    (#""tap": {"command": ["x"]}, "stream": "a", "url": "https://a.example""#, "absent beside"),
    (#""tap": {"command": "rm -rf /"}, "stream": "a""#, "an object with the list \"command\""),
    (#""tap": {"command": []}, "stream": "a""#, "an object with the list \"command\""),
    (#""tap": {"command": [""]}, "stream": "a""#, "an object with the list \"command\""),
    (#""tap": {"command": ["x", "${SECRET}"]}, "stream": "a""#, "without ${NAME}"),
    (#""tap": {"command": ["x", 1]}, "stream": "a""#, "an object with the list \"command\""),
    (#""tap": {"command": ["x"], "config": []}, "stream": "a""#, "\"config\""),
    (#""tap": {"command": ["x"], "variables": ["A=B"]}, "stream": "a""#, "\"command\""),
    (#""tap": {"command": ["x"], "confg": {}}, "stream": "a""#, "did you mean \"config\"?"),
  ])
  func `a mistake is named`(_ members: String, _ message: String) throws {
    let error = #expect(throws: SourceError.self) { try manifest("{\(members)}") }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `the streams of a service share its tap`() throws {
    let text = """
      {"service": {\(Self.tap)},
       "resources": {"orders": {"stream": "Orders", "id": "id"}, "lines": {"stream": "lines"}}}
      """
    let file = try ManifestFile(reading: Data(text.utf8), named: "shop")
    let manifests = try file.manifests()
    #expect(manifests.map(\.tap?.stream) == ["Orders", "lines"])
    #expect(manifests.allSatisfy { $0.tap?.command == ["tap-x", "-v"] })
  }

  @Test func `without a way to start programs none is started`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(#"{"tap": {"command": ["x"]}, "stream": "a"}"#.utf8)
      .write(to: folder.appending(path: "shop.json"))
    let plugin = DeclaredPlugin("shop", in: ManifestFolder(folder.path))
    let environment = PluginEnvironment(
      settings: SourceSettings([String: String]()), transport: LongTimeoutTransport())
    let error = #expect(throws: SourceError.self) {
      try plugin.feed(in: environment, maxSilence: nil)
    }
    #expect(error?.message.contains("only one in your own folder may") == true)
  }

  @Test func `a secret of a tap is not that of another program`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let manifests = ManifestFolder(folder.path)
    func text(_ program: String) -> JSON {
      [
        "tap": ["command": [.string(program)], "config": ["token": "${X_TOKEN}"]], "stream": "a",
      ]
    }
    try manifests.write(service: text("tap-x"), as: "shop")
    #expect(manifests.isBound("X_TOKEN", to: "tap:tap-x"))
    #expect(throws: SourceError.self) {
      try manifests.replace("shop", with: Array(text("tap-y").text.utf8))
    }
  }
}
