import Testing

/// Layout rules beyond those of the compiler: `Package.swift` declares the imports between targets,
/// and SwiftPM rejects cycles.
@Suite struct LayoutTests {
  static let files = (try? Repository.swiftFiles(under: "Sources")) ?? []

  @Test func `no task is left open in the code`() throws {
    #expect(Self.files.count > 100)
    for file in Self.files {
      let text = try Repository.text(of: file)
      #expect(!text.contains(/\b(TODO|FIXME|XXX|HACK)\b/), "\(file)")
    }
  }

  @Test func `time limits of tests guard against hanging and measure nothing`() throws {
    var count = 0
    for file in try Repository.swiftFiles(under: "Tests") {
      for match in try Repository.text(of: file).matches(of: /timeLimit\(\.(\w+\(\w+\))\)/) {
        #expect(match.1 == "minutes(10)", "\(file)")
        count += 1
      }
    }
    #expect(count > 100)
  }

  @Test func `the core uses no file and no network`() throws {
    let core = Self.files.filter { $0.hasPrefix("Sources/Core/") }
    #expect(core.count > 20)
    for file in core {
      let text = try Repository.text(of: file)
      let calls = text.firstMatch(
        of: /\b(FileManager|FileHandle|URLSession|URLRequest|fopen|getenv)\b/)
      #expect(calls == nil, "\(file)")
    }
  }
}
