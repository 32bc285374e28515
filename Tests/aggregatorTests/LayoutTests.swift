import Testing

/// What the compiler does not check: which target may import which is written in `Package.swift`, and
/// SwiftPM refuses a cycle.
@Suite struct LayoutTests {
  static let files = (try? Repository.swiftFiles(under: "Sources")) ?? []

  @Test func `nothing is left to be done`() throws {
    #expect(Self.files.count > 100)
    for file in Self.files {
      let text = try Repository.text(of: file)
      #expect(!text.contains(/\b(TODO|FIXME|XXX|HACK)\b/), "\(file)")
    }
  }

  @Test func `the core touches no file and no network`() throws {
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
