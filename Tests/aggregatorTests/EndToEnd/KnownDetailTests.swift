import AggregatorFakeServices
import AggregatorSourceTesting
import Testing

/// Details of a record's long form stay known, and unchanged records are not written.
@Suite struct KnownDetailTests {
  private let service: FakeComicVine
  private let home: TestHome

  init() throws {
    service = try FakeComicVine()
    home = try TestHome(service.settings)
  }

  @Test func `keeps the powers of a shown hero after a list without them`() async throws {
    let shown = try await home.run("heroes show 1253 --json").envelope().items
    let powers = try #require(shown.first?.powers)
    #expect(!powers.isEmpty)
    for line in ["list --all --refresh", "search spider --refresh", "list --limit 10 --refresh"] {
      #expect(try await home.run("heroes \(line)").status == 0)
      let known = try await home.run("heroes show 1253 --offline --json").envelope().items.first
      #expect(known?.powers == powers)
      #expect(known?.teams == shown.first?.teams)
      #expect(known?.biography == shown.first?.biography)
    }
    #expect(service.requests.count { $0.path.contains("/character/") } == 1)
  }

  @Test func `an unchanged refresh writes no record`() async throws {
    _ = try await home.run("heroes show 1253")
    _ = try await home.run("heroes list --all")
    let before = try home.file.records()
    #expect(before.count == 257)
    let count = service.requests.count
    for line in ["list --all --refresh", "search spider --refresh", "show 1253 --refresh"] {
      #expect(try await home.run("heroes \(line)").status == 0)
    }
    #expect(service.requests.count == count + 5)
    #expect(try home.file.records() == before)
  }

  @Test func `writes only changed records`() async throws {
    let sent = try FakeServer { _ in .json(NextTests.rows(0..<5, total: 5)) }
    let changed = try FakeServer { _ in
      .json(NextTests.rows(0..<5, total: 5).replacing("Hero 3", with: "Hero III"))
    }
    let home = try TestHome(sent.settings)
    _ = try await home.run("heroes list")
    let before = try home.file.records()
    let after = try await home.run("heroes list --refresh --tsv", changed.settings)
    #expect(after.output.contains("Hero III"))
    let written = zip(before, try home.file.records()).filter { $0 != $1 }
    #expect(written.count == 1)
    #expect(written.first?.1.contains("Hero III") == true)
  }
}
