import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `store`: its status, its location and clearing it.
@Suite struct StoreCommandTests {
  private let services: FourServices
  private let home: TestHome

  init() throws {
    services = try FourServices()
    home = try TestHome(services.settings)
  }

  @Test func `status counts records, and path prints the location`() async throws {
    let empty = try await home.run("store status --tsv")
    #expect(empty.status == 0)
    let counts = empty.lines.map { $0.split(separator: "\t").prefix(4).joined(separator: " ") }
    #expect(counts == sourceNames.map { "\($0) 0 0 0" })
    #expect(empty.errors == "\(home.file.path), does not exist yet\n")
    #expect(try home.sandbox.files(under: "home").isEmpty)

    for source in ["countries", "heroes", "products"] {
      #expect(try await home.run("\(source) list --limit 5").status == 0)
    }
    #expect(try await home.run("users load 10").status == 0)
    #expect(try await home.run("heroes delete 1253 1254 --yes").status == 0)
    let full = try await home.run("store status --json")
    struct Status: Decodable {
      struct Item: Decodable {
        let source: String
        let records: Int
        let deleted: Int
        let pages: Int
        let fetchedAt: String?
      }
      let items: [Item]
    }
    let all = try JSONDecoder().decode(Status.self, from: Data(full.output.utf8)).items
    #expect(all.map(\.source) == sourceNames)
    let items = all.filter { item in FourServices.sources.contains { $0.name == item.source } }
    let users = try home.file.ids(of: "users").count
    #expect(items.map(\.records) == [249, 3, 5, users])
    #expect(items.map(\.deleted) == [0, 2, 0, 0])
    #expect(items.map(\.pages) == [1, 1, 1, 0])
    #expect(items.map { $0.fetchedAt != nil } == [true, true, true, true])
    let size = try #require(
      full.errors.firstMatch(of: /^(.+), (\d+(?:\.\d)?) (kB|MB)\n/), "\(full.errors)")
    #expect(size.1 == home.file.path)
    #expect(try #require(Double(size.2)) > 0)

    let narrow = try await home.run(
      "store status", ["AGGREGATOR_FORCE_TTY": "60", "NO_COLOR": "1"])
    #expect(narrow.lines.count <= 2 * sourceNames.count, "\(narrow)")
    #expect(narrow.lines.first == "countries\(String(repeating: " ", count: 40))249 records")
    #expect(
      narrow.lines.contains { $0.hasPrefix("  2 deleted · 1 page · last fetched ") }, "\(narrow)")

    let path = try await home.run("store path")
    #expect(path.output == "\(home.file.path)\n")
    let elsewhere = try await home.run("store path", ["AGGREGATOR_HOME": "/nowhere"])
    #expect(elsewhere.output == "/nowhere/store.sqlite\n")
    #expect(try home.sandbox.permissions(of: TestHome.store) == 0o600)
  }

  @Test func `a deletion is no fetch`() async throws {
    #expect(try await home.run("countries delete FR --yes").status == 0)
    #expect(try await home.run("countries restore FR").status == 0)
    let status = try await home.run("store status --fields source,fetchedAt --tsv")
    #expect(status.lines.first == "countries\t", "\(status.output)")
  }

  @Test func `clear removes one source, but deletions only on request`()
    async throws
  {
    _ = try await home.run("heroes list --all")
    _ = try await home.run("countries list")
    _ = try await home.run("heroes delete 1253 --yes")
    let dry = try await home.run("store clear heroes --dry-run")
    #expect(dry.errors == "Would remove 257 cached heroes\n")
    #expect(try await home.run("store clear heroes").status == 64)
    #expect(try home.file.ids(of: "heroes").count == 257)

    let cleared = try await home.run("store clear heroes --yes")
    #expect(cleared.status == 0)
    #expect(cleared.errors == "Removed 257 cached heroes\n")
    #expect(try home.file.ids(of: "heroes") == [])
    #expect(try home.file.ids(of: "countries").count == 249)
    #expect(try home.file.faults() == [])
    #expect(try await !home.run("heroes list --all --tsv").ids.contains(1253))

    let all = try await home.run("store clear heroes --forget-deleted --yes")
    #expect(all.errors == "Removed 257 cached heroes and 1 deletion\n")
    #expect(try await home.run("heroes list --all --tsv").ids == NextTests.cast)
    #expect(try await home.run("store clear nothing --yes").status == 64)
    #expect(try await home.run("store clear").status == 64)
  }

  @Test func `next works after clear, or explains the remedy`() async throws {
    for (source, id) in FourServices.sources {
      let first = try await home.column(id, "\(source) next --limit 5")
      #expect(try await home.run("store clear \(source) --yes").status == 0)
      let next = try await home.run("\(source) next --limit 5 --fields \(id) --tsv")
      #expect(next.status == 0, "\(next)")
      #expect(next.lines.count == 5)
      #expect(Set(next.lines).isDisjoint(with: first))

      #expect(try await home.run("store clear \(source) --yes").status == 0)
      let offline = try await home.run("\(source) next --limit 5 --offline")
      #expect([0, 1, 69].contains(offline.status), "\(source): \(offline)")
      #expect(offline.status != 1 || offline.errors.contains("--reset"), "\(offline)")
      let reset = try await home.run("\(source) next --reset --limit 5 --fields \(id) --tsv")
      #expect(reset.status == 0)
      #expect(reset.lines == first)
    }
  }
}
