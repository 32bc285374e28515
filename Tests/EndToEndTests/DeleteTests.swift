import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Deleted records stay hidden, whatever their origin, until they are restored.
@Suite struct DeleteTests {
  private let services: FourServices
  private let home: TestHome

  init() throws {
    services = try FourServices()
    home = try TestHome(services.settings)
  }

  private func ids(_ line: String, of source: (name: String, id: String)) async throws -> [String] {
    try await home.column(source.id, "\(source.name) \(line)")
  }

  @Test(arguments: FourServices.sources.indices)
  func `a deleted record appears nowhere until it is restored`(index: Int) async throws {
    let source = FourServices.sources[index]
    let before = try await ids("list --all", of: source)
    let name = source.name == "products" ? "title" : source.name == "users" ? "lastName" : "name"
    let rows = try await home.run("\(source.name) list --fields \(source.id),\(name) --tsv").lines
    // Not all have a name.
    let row = try #require(
      rows.dropFirst(3).map { $0.split { "\t ".contains($0) } }.first { $0.count > 1 })
    let (id, word) = (String(row[0]), row[1])
    #expect(try await ids("search \(word) --limit 100", of: source).contains(id))
    let deleted = try await home.run("\(source.name) delete \(id) --yes")
    #expect(deleted.status == 0)
    #expect(deleted.output == "")

    let without = before.filter { $0 != id }
    // Fresh cached data answers, and the service.
    // Users are never requested again.
    for way in source.name == "users" ? [""] : ["", " --refresh"] {
      try await expectNowhere(id, word, without, source, way)
    }
    // Stale cached data answers.
    services.stop()
    try home.file.age(byDays: 30)
    for way in ["", " --offline"] {
      try await expectNowhere(id, word, without, source, way)
    }
    let restored = try await home.run("\(source.name) restore \(id)")
    #expect(restored.status == 0)
    #expect(try await ids("list --all", of: source) == before)
    #expect(try await home.run("\(source.name) show \(id)").status == 0)
  }

  @Test func `deleted records are listed, also those that only the bundle has`() async throws {
    let none = try await home.run("heroes list --deleted")
    #expect(none.status == 0)
    #expect(none.output == "")
    #expect(none.errors == "No deleted heroes\n")
    #expect(try await home.run("heroes list --all").status == 0)
    let ids = Array(NextTests.cast.prefix(30))
    let typed = ids.map { "\($0)" }.joined(separator: " ")
    #expect(try await home.run("heroes delete \(typed) --yes").status == 0)
    let count = services.requestCount()

    let some = try await home.run("heroes list --deleted --tsv")
    #expect(some.status == 0)
    #expect(some.ids.count == 20)
    #expect(some.errors.contains("20 of 30 deleted heroes · more: --cursor "), "\(some)")
    #expect(some.errors.hasSuffix("Restore: aggregator heroes restore ID\n"), "\(some)")
    let all = try await home.run("heroes list --deleted --all --tsv --fields id")
    #expect(all.ids.sorted() == ids.sorted())
    let envelope = try await home.run("heroes list --deleted --limit 3 --json").envelope()
    #expect(envelope.items.count == 3)
    #expect(envelope.page.total == 30)
    #expect(envelope.provenance?.origin == "cached")
    let rest = try await home.run(
      "heroes list --deleted --limit 100 --tsv --cursor \(try #require(envelope.page.next))")
    #expect(Set(envelope.items.compactMap(\.id) + rest.ids) == Set(ids))
    #expect(services.requestCount() == count)

    // A deletion outlives its record.
    #expect(try await home.run("heroes delete 1443 --yes").status == 0)
    #expect(try await home.run("store clear heroes --yes").status == 0)
    let left = try await home.run("heroes list --deleted --tsv --fields id,name")
    #expect(left.lines.contains("1443\tSpider-Man"), "\(left)")
    #expect(
      left.errors.contains("warning: heroes: deleted, but not cached: "), "\(left)")
    #expect(try await home.run("heroes restore --all").errors == "Restored 31 heroes\n")
    #expect(try await home.run("heroes list --deleted").errors == "No deleted heroes\n")
    for option in ["--refresh", "--session a", "--explain"] {
      #expect(try await home.run("heroes list --deleted \(option)").status == 64, "\(option)")
    }
  }

  /// The ids of the records in a JSON document.
  private func jsonIDs(
    _ line: String, of source: (name: String, id: String)
  ) async throws -> [String] {
    try await home.run("\(source.name) \(line) --json --fields \(source.id)").output
      .matches(of: /\{"(?:id|code|email)":"?([^"}]+)"?\}/).map { String($0.1) }
  }

  private func expectNowhere(
    _ id: String, _ word: Substring, _ others: [String], _ source: (name: String, id: String),
    _ way: String
  ) async throws {
    let comment = Comment(rawValue: "\(source.name)\(way)")
    #expect(try await ids("list --all\(way)", of: source) == others, comment)
    #expect(try await jsonIDs("list --all\(way)", of: source) == others, comment)
    let found = try await home.run(
      "\(source.name) search \(word) --limit 100 --fields \(source.id) --tsv\(way)")
    #expect(found.status == 0, comment)
    #expect(!found.lines.contains(id), comment)
    let next = try await ids("next --reset --limit 6\(way)", of: source)
    #expect(next == Array(others.prefix(6)), comment)
    let shown = try await home.run("\(source.name) show \(id)\(way)")
    #expect(shown.status == 1, comment)
    #expect(shown.output == "", comment)
    #expect(
      shown.errors == """
        error: \(source.name): record "\(id)" is deleted
        hint: aggregator \(source.name) restore \(id)

        """, comment)
  }

  @Test func `a deleted user is not in later pages that contain it`() async throws {
    // One person is the last of every page.
    let id = "same.person9@example.com"
    #expect(try await ids("list --all", of: FourServices.sources[3]).contains(id))
    #expect(try await home.run("users delete \(id.uppercased()) --yes").status == 0)
    let next = try await ids("next --limit 100", of: FourServices.sources[3])
    #expect(next.count == 100)
    #expect(!next.contains(id))
    #expect(try await home.run("users load 20").status == 0)
    #expect(try await !ids("list --all", of: FourServices.sources[3]).contains(id))
  }

  @Test(arguments: FourServices.sources.indices)
  func `bundled records can be deleted too`(index: Int) async throws {
    let source = FourServices.sources[index]
    let home = try TestHome()
    func ids(_ line: String) async throws -> [String] {
      try await home.column(source.id, "\(source.name) \(line)")
    }
    let before = try await ids("list --all --offline")
    let id = before[2]
    #expect(try await home.run("\(source.name) delete \(id) --yes").status == 0)
    for way in ["", " --offline"] {
      #expect(try await ids("list --all\(way)") == before.filter { $0 != id })
      let shown = try await home.run("\(source.name) show \(id)\(way)")
      #expect(shown.status == 1)
      #expect(shown.errors.contains("hint: aggregator \(source.name) restore \(id)\n"))
    }
    #expect(try await home.run("\(source.name) restore --all").status == 0)
    #expect(try await ids("list --all --offline") == before)
  }
}
