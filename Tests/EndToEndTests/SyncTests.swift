import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import ProductsSource
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// `SOURCE sync`: stores all records of a service and prints the result in one line.
@Suite struct SyncTests {
  /// Products with these numbers.
  private static func products(
    _ numbers: some Sequence<Int>, changed: Set<Int> = []
  ) throws -> FakeProducts {
    try FakeProducts(
      numbers.map { FakeProduct($0, .string(changed.contains($0) ? "New \($0)" : "Thing \($0)")) })
  }

  /// True of requests for the products from an offset; several are requested at once.
  private static func isAfter(_ offset: Int) -> @Sendable (LoopbackRequest) -> Bool {
    struct Slice: Decodable { let skip: Int }
    return { request in
      (try? JSONDecoder().decode(Slice.self, from: request.body))
        .map { $0.skip >= offset } ?? false
    }
  }

  /// The variables that lead to a service.
  private static func settings(_ service: FakeProducts) -> [String: String?] {
    service.settings.mapValues(Optional.some)
  }

  @Test func `stores all records of each source, which then answer offline`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    // Only an empty page ends the products.
    let counts = [("countries", 249, pages: 1), ("heroes", 257, 3), ("products", 30, 2)]
    for (source, count, pages) in counts {
      let first = try await home.run("\(source) sync")
      #expect(first.status == 0, "\(first)")
      #expect(first.lines == ["\(source)\t\(count)\t0\t0\t0\t\(pages)\ttrue"])
      #expect(first.errors == "")
      let second = try await home.run("\(source) sync")
      #expect(second.lines == ["\(source)\t0\t0\t\(count)\t0\t\(pages)\ttrue"])
      let listed = try await home.run("\(source) list --all --offline --tsv")
      #expect(listed.lines.count == count)
    }
    #expect(try home.file.faults() == [])
  }

  @Test func `requests as many pages at a time as configured`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes sync", ["COMIC_VINE_PAGE_SIZE": "30"]).status == 0)
    #expect(service.requests.map { $0.query["limit"] } == Array(repeating: "30", count: 9))
    #expect(service.requests.map { $0.query["offset"] } == (0..<9).map { "\($0 * 30)" })
  }

  @Test func `a second sync writes only changes`() async throws {
    let before = try Self.products(0..<299)
    let home = try TestHome(before.settings)
    #expect(try await home.run("products sync").status == 0)
    let records = try home.file.records()
    let again = try await home.run("products sync --ndjson --fields unchanged,changed")
    #expect(again.output == "{\"unchanged\":299,\"changed\":0}\n", "\(again)")
    #expect(try home.file.records() == records)

    before.become(try Self.products(0..<299, changed: [5, 77, 290]))
    let changed = try await home.run("products sync")
    #expect(changed.lines == ["products\t0\t3\t296\t0\t4\ttrue"], "\(changed)")
    let written = zip(records, try home.file.records()).filter { $0 != $1 }
    #expect(written.count == 3)
    #expect(try home.file.faults() == [])
  }

  @Test func `records that a complete sync does not find are removed upstream`() async throws {
    let service = try Self.products(0..<250)
    let home = try TestHome(service.settings)
    #expect(try await home.run("products sync").status == 0)
    service.become(try Self.products((0..<250).filter { $0 != 7 && $0 != 248 }))

    let partial = try await home.run("products sync --max-pages 1")
    #expect(partial.status == 3)
    #expect(partial.errors == "100 products · more: aggregator products sync\n")
    let all = try await home.run("products list --all --offline --tsv")
    #expect(all.lines.count == 250)

    let complete = try await home.run("products sync")
    #expect(complete.lines == ["products\t0\t0\t148\t2\t3\ttrue"], "\(complete)")
    #expect(complete.errors == "Resumed after page 1\n")
    for line in ["list", "search thing"] {
      let listed = try await home.run("products \(line) --all --offline --fields id --tsv")
      #expect(listed.lines.count == 248, "\(listed)")
      #expect(!listed.lines.contains(FakeProduct.id(7)))
    }
    let query = "SELECT count(*) FROM products"
    let counted = try await Binary.run(
      ["sql", query], environment: home.environment, in: home.sandbox)
    #expect(counted.lines == ["248"])
    let shown = try await home.run("products show \(FakeProduct.id(7)) --offline")
    #expect(shown.status == 0)
    #expect(
      shown.errors.contains(
        "warning: products: \(FakeProduct.id(7)) was not found by the sync of "),
      "\(shown)")
    let status = try await home.run("store status --fields source,records,removedUpstream --tsv")
    #expect(status.lines.contains("products\t248\t2"), "\(status)")

    // It comes again.
    service.become(try Self.products(0..<250))
    let back = try await home.run("products sync")
    #expect(back.lines == ["products\t0\t2\t248\t0\t4\ttrue"], "\(back)")
    #expect(try home.file.faults() == [])
  }

  @Test func `empty pages hide no products until a second sync agrees`() async throws {
    let service = try Self.products(0..<500)
    let home = try TestHome(service.settings)
    #expect(try await home.run("products sync").status == 0)
    let requests = service.requests.count
    service.fail(with: .json(#"{"products":[]}"#), times: 1, after: 2)
    let whole = try await home.run("products sync")
    #expect(whole.lines == ["products\t0\t0\t500\t0\t6\ttrue"], "\(whole)")
    #expect(service.requests.count == requests + 7)

    service.fail(with: .json(#"{"products":[]}"#), where: Self.isAfter(200))
    let odd = try await home.run("products sync")
    #expect(odd.status == 3)
    #expect(odd.lines == ["products\t0\t0\t200\t0\t3\tfalse"], "\(odd)")
    #expect(
      odd.errors == "warning: products: records may be missing, and none counts as removed: "
        + "300 of 500 known records are missing; sync again to confirm it\n")
    #expect(try await home.column("id", "products list --all --offline").count == 500)

    service.fail(with: .json(#"{"products":[]}"#), where: Self.isAfter(200))
    let gone = try await home.run("products sync")
    #expect(gone.lines == ["products\t0\t0\t200\t300\t3\ttrue"], "\(gone)")
    #expect(gone.status == 0)
  }

  @Test func `a total of what was sent hides no heroes`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes sync").status == 0)
    service.become(try FakeComicVine(quirks: [.pageTotal]))
    let outcome = try await home.run("heroes sync --full")
    #expect(outcome.status == 3)
    #expect(outcome.lines == ["heroes\t0\t0\t100\t0\t1\tfalse"], "\(outcome)")
    #expect(try await home.column("id", "heroes list --all --offline").count == 257)
  }

  @Test func `synced products can be shown online, whatever their IDs`() async throws {
    let ids = ["abc.def", "a;b", "50%"]
    let products = ids.enumerated().map { number, id in
      var product = FakeProduct(number, "Lamp")
      product.id = .string(id)
      return product
    }
    let service = try FakeProducts(products)
    let home = try TestHome(service.settings)
    #expect(try await home.run("products sync").status == 0)
    for id in ids {
      let shown = try await home.run("products show \(id) --fields id --tsv")
      #expect(shown.status == 0, "\(shown)")
      #expect(shown.lines.first == id)
    }
    #expect(service.requests.count { $0.method == "GET" } == 1)
    #expect(try await home.run("products show c;d").status == 1)
  }

  @Test func `reports what lies beyond the depth of a service`() async throws {
    let service = try Self.products(0..<500)
    let plugin = LimitedProducts()
    let environment = PluginEnvironment(
      settings: SourceSettings(service.settings), transport: HTTPTransport())
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)
    let result = try await plugin.sync(into: store, in: environment)
      .run(upTo: nil, jobs: 1, waits: false) { _ in }
    let report = SyncReport(result, of: plugin, isWaiting: false)
    #expect(report.code == .partial)
    #expect((report.result.added, report.result.pages, report.result.isComplete) == (250, 3, false))
    #expect(
      report.warnings.map(\.warning.message) == [
        "the service lists only the first 250 products: the others cannot be reached"
      ])
    #expect(service.requests.count == 3)
  }

  /// The products of a service that lists only 250 of them.
  private struct LimitedProducts: Plugin {
    let plugin = ProductsPlugin()
    var name: String { plugin.name }
    var summary: String { plugin.summary }
    var example: PluginExample { plugin.example }
    var settings: [Setting] { plugin.settings }
    var fields: [Field<Product>] { plugin.fields }
    var layout: RecordLayout<Product> { plugin.layout }
    var bundled: any DataSource<Product> { plugin.bundled }
    var policy: Policy {
      var policy = plugin.policy
      policy.depthLimit = 250
      return policy
    }

    func remote(
      in environment: PluginEnvironment
    ) throws(SourceError) -> any DataSource<Product> { try plugin.remote(in: environment) }
  }

  @Test func `reports unknown removals if rows cannot be read`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes sync").status == 0)
    service.become(try FakeComicVine(quirks: [.badRows]))
    let outcome = try await home.run("heroes sync --full")
    #expect(outcome.status == 3)
    #expect(outcome.lines == ["heroes\t0\t0\t254\t0\t3\tfalse"], "\(outcome)")
    #expect(outcome.errors.contains("warning: heroes: 3 rows could not be read"))
    #expect(
      outcome.errors.contains(
        "warning: heroes: records may be missing, and none counts as removed: 3 rows could not")
    )
    #expect(try home.file.ids(of: "heroes").count == 257)
  }

  @Test func `an exhausted quota exits 75, and the next sync resumes`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(
      service.settings.merging(["COMIC_VINE_RATE": "5/h", "COMIC_VINE_PAGE_SIZE": "20"]) { $1 })
    let first = try await home.run("heroes sync")
    #expect(first.status == 75)
    #expect(first.lines == ["heroes\t100\t0\t0\t0\t5\tfalse"])
    #expect(
      first.errors.firstMatch(
        of:
          /error: heroes: local rate limit 5\/h reached\nhint: retry in \d+ min.* to resume, or use --wait\n/
      ) != nil, "\(first)")
    let second = try await home.run("heroes sync")
    #expect(second.status == 75)
    #expect(second.output == "")
    #expect(service.requests.count == 5)
    let third = try await home.run("heroes sync", ["COMIC_VINE_RATE": "off"])
    #expect(third.lines == ["heroes\t157\t0\t0\t0\t8\ttrue"], "\(third)")
    // The last page that was stored is read again if a second has passed.
    let offsets = service.requests.compactMap { $0.query["offset"] }
    #expect(offsets.count <= 14 && Set(offsets) == Set((0..<13).map { "\($0 * 20)" }), "\(offsets)")
  }

  @Test func `a failure keeps the pages before it and is reported`() async throws {
    let service = try FakeRandomUser()
    let home = try TestHome(service.settings)
    service.fail(with: RandomUserFault.page.reply, onPages: 4...)
    let failed = try await home.run("users sync --max-pages 9")
    #expect(failed.status == 3)
    #expect(try home.file.ids(of: "users") == FakeRandomUser.people(onPages: 1..<4))
    #expect(failed.errors.hasPrefix("error: users: "), "\(failed)")
    let nothing = try await home.run("users sync --max-pages 9")
    #expect(nothing.status == 69 || nothing.status == 76, "\(nothing)")
    #expect(nothing.output == "")
  }

  @Test func `users require a limit, and continue where load and next ended`() async throws {
    let service = try FakeRandomUser()
    let home = try TestHome(service.settings)
    for line in ["users sync", "users sync --max-pages 0"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 64)
      #expect(outcome.errors.contains("hint: aggregator users sync --max-pages 10"), "\(outcome)")
    }
    #expect(service.requests.isEmpty)
    #expect(try await home.run("users load 5").status == 0)
    let synced = try await home.run("users sync --max-pages 3 --jobs 3")
    #expect(synced.status == 0)
    #expect(synced.errors == "")
    #expect(try await home.run("users load 5").status == 0)
    #expect(try home.file.ids(of: "users") == FakeRandomUser.people(onPages: 1..<6))
  }

  @Test func `with several jobs the result is the same, with one request per page`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    let outcome = try await home.run("heroes sync --jobs 8", ["COMIC_VINE_PAGE_SIZE": "10"])
    #expect(outcome.lines == ["heroes\t257\t0\t0\t0\t26\ttrue"], "\(outcome)")
    #expect(service.requests.count == 26)
    #expect(try home.file.ids(of: "heroes") == NextTests.cast.map(String.init))
  }

  @Test func `two concurrent syncs do not fetch all pages twice`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    service.fail(with: .stalled, times: 1)
    let first = try home.start("heroes sync --timeout 10m")
    _ = await service.requests(atLeast: 1)
    let second = try await home.run("heroes sync")
    #expect(second.status == 75)
    #expect(
      second.errors
        == "error: heroes: another sync is already running\nhint: wait for it to finish, or stop it\n"
    )
    // Another source is not concerned.
    #expect(
      try await home.run("products sync", ["PRODUCTS_URL": "http://127.0.0.1:1"]).status == 69)
    first.child.send(SIGKILL)
    _ = try await first.outcome()
    #expect(try await home.run("heroes sync").status == 0)
  }

  @Test func `two concurrent loads fetch each page once`() async throws {
    let service = try FakeRandomUser()
    let home = try TestHome(service.settings)
    let runs = try (0..<2).map { _ in try home.start("users load 100") }
    for run in runs { #expect(try await run.outcome().status == 0) }
    let pages = service.requests.compactMap { $0.query["page"].flatMap { Int($0) } }
    #expect(pages.sorted() == Array(1...pages.count))
    #expect(try home.file.ids(of: "users").count >= 200)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal prints how to resume`(signal: Int32) async throws {
    let service = try FakeRandomUser()
    let home = try TestHome(service.settings)
    service.fail(with: .stalled, times: 1, onPages: 3...)
    let run = try home.start("users sync --max-pages 9 --wait --jobs 1 --timeout 10m")
    let people = FakeRandomUser.people(onPages: 1..<3)
    while (try? home.file.ids(of: "users")) != people { await Task.yield() }
    run.child.send(signal)
    let outcome = try await run.outcome()
    #expect(outcome.ending == .signal(signal))
    #expect(
      outcome.errors
        == "Interrupted; progress saved. Resume with: "
        + "aggregator users sync --max-pages 9 --jobs 1 --wait\n",
      "\(outcome)")
    #expect(try home.file.ids(of: "users") == people)
    #expect(try home.file.faults() == [])
  }

  @Test func `requires a location for the store`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    let outcome = try await home.run("heroes sync", ["HOME": nil])
    #expect(outcome.status == 74)
    #expect(service.requests.isEmpty)
  }

  @Test func `JSON names the cause of the end and the source`() async throws {
    let service = try FakeRandomUser()
    let home = try TestHome(service.settings)
    service.fail(with: RandomUserFault.page.reply, onPages: 3...)
    let failed = try await home.run("users sync --max-pages 9 --json")
    #expect(failed.status == 3)
    let envelope = try JSONDecoder().decode(Told.self, from: Data(failed.output.utf8))
    #expect(envelope.source == "users" && envelope.verb == "sync")
    #expect(envelope.items.map(\.pages) == [2])
    #expect(envelope.warnings.map(\.source) == ["users"])
  }

  private struct Told: Decodable {
    struct Item: Decodable { let pages: Int }
    let source: String?
    let verb: String
    let items: [Item]
    let warnings: [Envelope.Warning]
  }

  @Test func `a signal ends it even if its output is not read`() async throws {
    let service = try FakeProducts((0..<3000).map { FakeProduct($0, "Thing") })
    let home = try TestHome(service.settings.merging(["PRODUCTS_PAGE_SIZE": "1"]) { $1 })
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "products sync --verbose", environment: home.environment, in: home.sandbox,
      output: .descriptor(pipe.writeEnd), isMerged: true)
    // A line each, of which so many fill any pipe.
    _ = await service.requests(atLeast: 400)
    var waiting: Int32 = 0
    while waiting < 60_000, service.requests.count < 3000 {
      #expect(ioctl(pipe.readEnd, UInt(FIONREAD), &waiting) == 0)
      sched_yield()
    }
    run.child.send(SIGTERM)
    #expect(try await run.outcome().ending == .signal(SIGTERM))
    withExtendedLifetime(pipe) {}
  }

  @Test func `IDs that differ only in their composition are two records`() async throws {
    let products = ["caf\u{E9}", "cafe\u{301}"].map { id in
      var product = FakeProduct(1, "Lamp")
      product.id = .string(id)
      return product
    }
    let service = try FakeProducts(products)
    let home = try TestHome(service.settings)
    #expect(try await home.run("products sync").lines == ["products\t2\t0\t0\t0\t2\ttrue"])
    for line in ["list --all", "list --all --offline", "search lamp --offline"] {
      let listed = try await home.run("products \(line) --fields id --tsv")
      #expect(listed.lines.map(\.unicodeScalars.count) == [4, 5], "\(listed)")
    }
    #expect(try await home.run("products delete caf\u{E9} --yes").status == 0)
    let left = try await home.run("products list --all --offline --fields id --tsv")
    #expect(left.lines.map(\.unicodeScalars.count) == [5], "\(left)")
  }
}
