import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `sync` without a source: syncs all that can be, and says why not the others.
@Suite struct SyncAllTests {
  private static let columns = "--fields source,status,reason --tsv"
  private static let unbounded = "unbounded; use \"aggregator users sync --max-pages 10\""

  @Test func `syncs the sources never synced first, then by the age of the last sync`() async throws
  {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    // One has not come to its end, and the other is not complete.
    #expect(try await home.run("products sync --max-pages 1").status == 3)
    services.heroes.become(try FakeComicVine(quirks: [.badRows]))
    #expect(try await home.run("heroes sync").status == 3)
    services.heroes.become(try FakeComicVine())
    let outcome = try await home.run("sync \(Self.columns)")
    // Others have no service here.
    let names = FourServices.sources.map(\.name)
    let lines = outcome.lines.filter { line in names.contains { line.hasPrefix("\($0)\t") } }
    #expect(
      lines == [
        "countries\tcomplete\t", "users\tskipped\t\(Self.unbounded)", "products\tcomplete\t",
        "heroes\tcomplete\t",
      ], "\(outcome)")
    #expect(outcome.errors.contains("users: skipped: \(Self.unbounded)\n"), "\(outcome)")
    guard sourceNames.count == names.count else { return }
    #expect(outcome.status == 0)
    #expect(outcome.errors.hasSuffix("4 sources: 3 complete, 1 skipped\n"), "\(outcome)")
  }

  @Test func `prints a line for each source, and a summary`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    services.products.stop()
    let outcome = try await home.run(
      "sync products heroes countries --format table", ["COMIC_VINE_API_KEY": nil])
    #expect(outcome.status == 3)
    #expect(
      outcome.lines == [
        "countries  249 added, 0 changed, 0 unchanged",
        "heroes     skipped: COMIC_VINE_API_KEY is not set", "products   failed",
      ], "\(outcome)")
    #expect(outcome.errors.hasPrefix("error: products: "), "\(outcome)")
    #expect(
      outcome.errors.hasSuffix("3 sources: 1 complete, 1 failed, 1 skipped\n"), "\(outcome)")
  }

  @Test func `JSON has the result of each source and a summary`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    services.products.stop()
    let outcome = try await home.run(
      "sync countries heroes products --json", ["COMIC_VINE_API_KEY": nil])
    #expect(outcome.status == 3)
    let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
    #expect(document.source == nil && document.verb == "sync")
    #expect(document.items.map(\.source) == ["countries", "heroes", "products"])
    #expect(document.items.map(\.status) == ["complete", "skipped", "failed"])
    #expect(document.items.map(\.added) == [249, nil, 0])
    #expect(document.items.map(\.complete) == [true, nil, false])
    #expect(document.items[0].reason == nil)
    #expect(document.items[1].reason == "COMIC_VINE_API_KEY is not set")
    #expect(document.warnings.map(\.source) == ["products"])
    #expect(
      document.summary == [
        "complete": 1, "incomplete": 0, "failed": 1, "skipped": 1, "notReached": 0, "exitCode": 3,
      ])
  }

  private struct Document: Decodable {
    struct Item: Decodable {
      let source: String
      let added: Int?
      let complete: Bool?
      let status: String
      let reason: String?
    }
    let source: String?
    let verb: String
    let items: [Item]
    let summary: [String: Int]
    let warnings: [Envelope.Warning]
  }

  @Test func `if all that ran have failed, exits with the code of the first`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    services.products.stop()
    let wrongKey: [String: String?] = ["COMIC_VINE_API_KEY": "wrong"]
    for (line, status) in [("sync products", 69), ("sync heroes products", 77)] {
      let outcome = try await home.run("\(line) --json", wrongKey)
      #expect(outcome.status == Int32(status), "\(outcome)")
      #expect(outcome.output == "")
      #expect(outcome.errors.contains("error: products: "))
    }
    // Only a document would be incomplete.
    let table = try await home.run("sync products --fields source,status --format table")
    #expect(table.status == 69)
    #expect(table.lines.last == "products  failed", "\(table)")
    // Who names a source is told that it was not synced.
    let skipped = try await home.run("sync heroes \(Self.columns)", ["COMIC_VINE_API_KEY": nil])
    #expect(skipped.status == 77)
    #expect(skipped.lines == ["heroes\tskipped\tCOMIC_VINE_API_KEY is not set"])
  }

  @Test func `refuses names that it cannot sync`() async throws {
    let lines = [
      ("sync heros", "error: unknown source \"heros\"\n\nDid you mean \"heroes\"?\n"),
      ("sync heroes users", "error: users is unbounded: specify --max-pages\n"),
      ("sync --older-than 1.5h", "error: invalid value \"1.5h\" for --older-than: must be a span"),
      ("sync --offline", "error: \"sync\" does not accept --offline"),
    ]
    for (line, error) in lines {
      let outcome = try await Binary.run(line)
      #expect(outcome.status == 64)
      #expect(outcome.errors.hasPrefix(error), "\(outcome)")
    }
  }

  @Test func `an exhausted quota and a paused service are skipped`() async throws {
    let services = try FourServices()
    let home = try TestHome(
      services.settings.merging(["COMIC_VINE_RATE": "2/h"]) { $1 })
    let first = try await home.run("sync heroes countries \(Self.columns)")
    #expect(first.status == 3)
    #expect(
      first.lines == [
        "countries\tcomplete\t", "heroes\tincomplete\tlocal rate limit 2/h reached",
      ], "\(first)")
    services.products.stop()
    for _ in 0..<5 { #expect(try await home.run("sync products").status == 69) }
    let second = try await home.run("sync heroes countries products \(Self.columns)")
    #expect(second.status == 3, "\(second)")
    #expect(try await home.run("sync heroes products").status == 75)
    #expect(try await home.run("sync").status == 0)
    let reasons = second.lines.compactMap { line -> String? in
      line.wholeMatch(of: /(\w+\tskipped\t.+); retry in \d+ .+/).map { String($0.1) }
    }
    #expect(
      reasons == ["products\tskipped\tfailing repeatedly", "heroes\tskipped\trate limit reached"],
      "\(second)")
    #expect(services.heroes.requests.count == 2)
  }

  @Test func `with --older-than, skips complete syncs that are younger`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("sync products countries").status == 0)
    #expect(try await home.run("heroes sync --max-pages 1").status == 3)
    let store = SQLiteStore(at: home.file.path)
    let mark = try await store.checkpoint(Coverage.checkpoint, of: "products")
    let old = Int(Date().timeIntervalSince1970) - 7201
    _ = try await store.save(
      StoreBatch(
        [], update: CheckpointUpdate(Coverage.checkpoint, from: mark, to: "\(old)")),
      of: "products", at: Date())
    let line = "products countries heroes --fields source,status --tsv"
    let unchanged = try await home.run("sync \(line) --older-than 3h")
    #expect(
      Set(unchanged.lines) == ["products\tskipped", "countries\tskipped", "heroes\tcomplete"])
    #expect(unchanged.errors.contains("products: skipped: synced 2 h ago\n"), "\(unchanged)")
    let outcome = try await home.run("sync \(line) --older-than 2h")
    #expect(outcome.status == 0)
    #expect(
      Set(outcome.lines) == ["products\tcomplete", "countries\tskipped", "heroes\tskipped"],
      "\(outcome)")
  }

  @Test func `when the time is over, stops and names what is left; the next sync resumes`()
    async throws
  {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("heroes sync --max-pages 1").status == 3)
    #expect(try await home.run("products sync").status == 0)
    services.heroes.fail(with: .stalled)
    let line = "sync heroes products --fields source,status,added,reason --tsv"
    let outcome = try await home.run("\(line) --for 3s --timeout 10m")
    #expect(outcome.status == 3)
    #expect(
      outcome.lines == [
        "heroes\tincomplete\t0\tthe time is up", "products\tnotReached\t\tthe time is up",
      ], "\(outcome)")
    #expect(outcome.errors.contains("Stopped after 3s; the next sync resumes\n"), "\(outcome)")
    #expect(!outcome.errors.contains("error:"), "\(outcome)")
    services.heroes.recover()
    let next = try await home.run("\(line) --for 10m")
    #expect(next.status == 0)
    #expect(next.lines == ["heroes\tcomplete\t157\t", "products\tcomplete\t0\t"], "\(next)")
    #expect(next.errors.contains("heroes: resumed after page 1\n"), "\(next)")
  }

  @Test func `skips a source that is being synced, and a signal says how to go on`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    services.heroes.fail(with: .stalled, times: 1)
    let first = try home.start("sync heroes --older-than 1h --wait --timeout 10m")
    _ = await services.heroes.requests(atLeast: 1)
    let second = try await home.run("sync heroes countries \(Self.columns)")
    #expect(second.status == 0)
    #expect(
      second.lines == [
        "countries\tcomplete\t", "heroes\tskipped\tanother sync is already running",
      ], "\(second)")
    first.child.send(SIGTERM)
    let outcome = try await first.outcome()
    #expect(outcome.ending == .signal(SIGTERM))
    #expect(
      outcome.errors == "Interrupted; progress saved. Resume with: "
        + "aggregator sync heroes --older-than 1h --wait\n", "\(outcome)")
  }
}
