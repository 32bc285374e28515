import AggregatorKit
import Testing

@Suite struct SettingsLayerTests {
  /// A layer of files that are written down here; the first is the root.
  private func layer(_ root: String, _ files: [String: String] = [:]) -> SettingsLayer {
    SettingsLayer(SettingsText("dir/root", bytes: Array(root.utf8))) { path in
      guard let text = files[path] else { return .missing }
      return .text(SettingsText(path, bytes: Array(text.utf8)))
    }
  }

  private func assignments(_ layer: SettingsLayer) -> [String] {
    layer.assignments.map { "\($0.location) \($0.statement.key)=\($0.statement.value)" }
  }

  @Test func `includes files where they are named, relative to the including file`() {
    let layer = layer(
      "A = 1\n#include \"sub/b\"\nA = 3",
      ["dir/sub/b": "A = 2\n#include \"../c\"", "dir/sub/../c": "C = 4"])
    #expect(
      assignments(layer) == [
        "dir/root:1 A=1", "dir/sub/b:1 A=2", "dir/sub/../c:1 C=4", "dir/root:3 A=3",
      ])
    #expect(layer.diagnostics.isEmpty)
  }

  @Test func `includes absolute paths as they are`() {
    #expect(assignments(layer("#include \"/etc/x\"", ["/etc/x": "A = 1"])) == ["/etc/x:1 A=1"])
  }

  @Test func `ignores a missing optional include`() {
    let layer = layer("#include? \"no\"\nA = 1")
    #expect(assignments(layer) == ["dir/root:2 A=1"])
    #expect(layer.diagnostics.isEmpty)
  }

  @Test func `reports a missing include`() {
    #expect(
      layer("\n#include \"no\"").diagnostics.map(\.description) == [
        "dir/root:2: file not found: no (create it, or write #include? \"no\")"
      ])
  }

  @Test(arguments: [
    ["dir/a": "#include \"a\""],
    ["dir/a": "\n#include? \"b\"", "dir/b": "#include \"a\""],
    ["dir/a": "#include \"b\"", "dir/b": "#include \"c\"", "dir/c": "#include \"a\""],
    ["dir/a": "#include \"root\"", "dir/root": "#include \"a\""],
  ])
  func `ends a circular include with a diagnostic`(files: [String: String]) throws {
    let layer = layer("#include \"a\"", files)
    #expect(layer.diagnosticCount == 1)
    #expect(
      try #require(layer.diagnostics.first).description.contains("circular include"))
  }

  @Test func `includes a file twice if the includes are not circular`() {
    let layer = layer("#include \"a\"\n#include \"a\"", ["dir/a": "A = 1"])
    #expect(assignments(layer) == ["dir/a:1 A=1", "dir/a:1 A=1"])
  }

  @Test(arguments: [(16, 0), (17, 1)])
  func `follows includes sixteen deep`(depth: Int, diagnostics: Int) {
    let files =
      (1..<depth).map { ("dir/\($0)", "#include \"\($0 + 1)\"") } + [("dir/\(depth)", "A = 1")]
    let layer = layer("#include \"1\"", Dictionary(uniqueKeysWithValues: files))
    #expect(layer.diagnosticCount == diagnostics)
    #expect(layer.assignments.count == 1 - diagnostics)
  }

  @Test func `reads no more than 32 files, however they multiply`() {
    let files = (1...15).map {
      ("dir/\($0)", "#include \"\($0 + 1)\"\n#include \"\($0 + 1)\"\nA = 1")
    }
    let layer = layer(
      "#include \"1\"", Dictionary(uniqueKeysWithValues: files + [("dir/16", "B = 1")]))
    #expect(layer.assignments.count <= 32)
    #expect(
      layer.diagnostics.allSatisfy { $0.message.hasSuffix(": more than 32 files are included") })
  }

  @Test func `stores the first diagnostics of a binary file`() {
    let layer = layer(String(repeating: "\u{1}\n", count: 5000))
    #expect(layer.diagnostics.count == SettingsLayer.maxDiagnostics)
    #expect(layer.diagnosticCount == 5000)
  }

  @Test func `reports the reason why a file is refused`() {
    let layer = SettingsLayer(SettingsText("root", bytes: Array("#include? \"x\"".utf8))) { _ in
      .refused(SourceError(.storage, "cannot read x: private", remedy: "ask"))
    }
    #expect(layer.diagnostics.map(\.description) == ["root:1: cannot read x: private (ask)"])
    #expect(layer.diagnostics.first?.code == .storage)
  }
}
