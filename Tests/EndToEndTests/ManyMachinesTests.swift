import AggregatorFakeServices
import AggregatorKit
import AggregatorPostgresServer
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Several homes with one store in PostgreSQL stand for several machines.
@Suite(.requiresPostgres) struct ManyMachinesTests {
  @Test func `machines divide a sync, and share records and deletions`() async throws {
    try await withDatabase { database in
      let services = try FourServices()
      let settings = services.settings.merging([
        "AGGREGATOR_STORE": database.uri, "COMIC_VINE_RATE": "off", "COMIC_VINE_PAGE_SIZE": "10",
      ]) { $1 }
      let homes = try (0..<3).map { _ in try TestHome(settings) }
      let syncs = try await withThrowingTaskGroup(of: Outcome.self) { group in
        for home in homes {
          // One that comes late asks for changes, which one machine at a time does.
          group.addTask { try await home.run("heroes sync --jobs 2 --wait") }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      // Source, added, changed, unchanged, removed, pages, complete.
      let cells = syncs.flatMap(\.lines).map { $0.split(separator: "\t") }
      #expect(syncs.allSatisfy { $0.status == 0 }, "\(syncs)")
      let added = cells.compactMap { Int($0[1]) }
      #expect(added.reduce(0, +) == 257, "\(cells)")
      #expect(cells.allSatisfy { $0.last == "true" })
      let listed = try await homes[0].run("heroes list --all --offline --tsv")
      #expect(listed.lines.count == 257)

      #expect(try await homes[1].run("heroes delete 1443 --yes").status == 0)
      #expect(try await homes[2].run("heroes show 1443 --offline").status == 1)
      #expect(try await homes[0].run("store path").output == "\(database.uri)\n")
    }
  }

  @Test func `one machine at a time syncs what cannot be divided`() async throws {
    try await withDatabase { database in
      let services = try FourServices()
      let settings = services.settings.merging([
        "AGGREGATOR_STORE": database.uri, "PRODUCTS_PAGE_SIZE": "10",
      ]) { $1 }
      let home = try TestHome(settings)
      #expect(try await home.run("users sync --max-pages 1").status == 0)
      #expect(try await home.run("products sync --max-pages 1").status == 3)
      // As if another machine were at it.
      _ = try await database.run(
        """
        UPDATE aggregator_store.checkpoints SET name = 'lease ' || name,
          value = '{"e":9999999999999,"i":"x","w":"elsewhere:7"}'
        WHERE name <> 'scope'
        """)
      let refused = try await home.run("users sync --max-pages 1")
      #expect(refused.status == 75, "\(refused)")
      #expect(refused.errors.contains("error: users: being synced by elsewhere:7"), "\(refused)")
      let skipped = try await home.run("sync products --fields status,reason --tsv")
      #expect(skipped.status == 0)
      #expect(skipped.lines == ["skipped\telsewhere:7 is syncing it"], "\(skipped)")
    }
  }
}
