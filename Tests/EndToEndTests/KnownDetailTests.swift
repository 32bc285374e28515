import AggregatorFakeServices
import AggregatorSourceTesting
import Synchronization
import Testing

@testable import AggregatorProgramTesting

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

  @Test func `fields that lists do not include are named, and fetched on request`() async throws {
    let list = try await home.run("heroes list --limit 3 --fields id,powers --json")
    #expect(list.status == 0)
    #expect(
      list.errors.contains(
        "warning: heroes: lists do not include \"powers\": unknown for 3 of 3 heroes\n"
          + "hint: --details fetches each record\n"), "\(list)")
    #expect(list.output.contains(#""code":"unfetched""#))
    for line in ["list --limit 3 --json", "list --limit 3 --fields id,name"] {
      #expect(try await !home.run("heroes \(line)").errors.contains("do not include"), "\(line)")
    }
    let search = try await home.run("search spider --fields id,powers")
    #expect(
      search.errors.contains("hint: aggregator heroes search spider --details\n"), "\(search)")

    let count = service.requests.count
    let details = try await home.run("heroes list --limit 3 --fields id,powers --details --ndjson")
    #expect(details.status == 0, "\(details)")
    #expect(details.lines.count == 3)
    #expect(!details.output.contains(#""powers":null"#), "\(details)")
    #expect(!details.errors.contains("do not include"), "\(details)")
    #expect(service.requests.count == count + 3)
    // What is known is not fetched again, however old it is.
    try home.file.age(byDays: 30)
    let again = try await home.run("heroes list --limit 3 --fields id,powers --details --ndjson")
    #expect(again.output == details.output)
    #expect(service.requests.count == count + 4)
    #expect(try await home.run("countries list --details").status == 64)
  }

  @Test func `a hero of a list is not shown as a whole one`() async throws {
    _ = try await home.run("heroes list --all")
    let shown = try await home.run("heroes show 1253 --offline --json")
    #expect(shown.errors.contains("unknown for 1 of 1 hero\n"), "\(shown)")
    #expect(shown.errors.contains("hint: aggregator heroes show 1253\n"), "\(shown)")
    #expect(shown.output.contains(#""code":"unfetched""#), "\(shown)")
    let others = ["show 1253 --offline --fields id,name", "show 1253", "show 1253 --offline"]
    for line in others {
      #expect(try await !home.run("heroes \(line)").errors.contains("unknown for"), "\(line)")
    }
  }

  @Test func `the details end at the first failure, and the rest stays unknown`() async throws {
    _ = try await home.run("heroes list --limit 5")
    service.fail(with: .json("{}", status: 403), after: 2)
    let count = service.requests.count
    let outcome = try await home.run("heroes list --limit 5 --fields id,powers --details --ndjson")
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.lines.count { $0.contains(#""powers":null"#) } == 3)
    #expect(service.requests.count == count + 3)
    #expect(outcome.errors.contains("unknown for 3 of 5 heroes\n"), "\(outcome)")
    let offline = try await home.run("heroes list --limit 5 --fields id,powers --details --offline")
    #expect(offline.status == 0, "\(offline)")
    #expect(offline.errors.contains("unknown for 3 of 5 heroes\n"), "\(offline)")
    #expect(service.requests.count == count + 3)
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
    let rows = NextTests.rows(0..<5, total: 5)
    let sent = Mutex(rows)
    let service = try FakeServer { _ in .json(sent.withLock(\.self)) }
    let home = try TestHome(service.settings)
    _ = try await home.run("heroes list")
    let before = try home.file.records()
    sent.withLock { $0 = rows.replacing("Hero 3", with: "Hero III") }
    let after = try await home.run("heroes list --refresh --tsv")
    #expect(after.output.contains("Hero III"))
    let written = zip(before, try home.file.records()).filter { $0 != $1 }
    #expect(written.count == 1)
    #expect(written.first?.1.contains("Hero III") == true)
  }
}
