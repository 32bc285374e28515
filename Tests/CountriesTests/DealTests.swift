import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DealTests {
  private func deal(
    seed: Int? = nil, random: UInt64 = 0, from source: (any DataSource<Country>)? = nil
  ) async throws -> Page<Country> {
    let plugin = CountriesPlugin()
    let verb = try #require(plugin.verbs.first { $0.name == "deal" })
    var environment = try FakeCountries().environment()
    environment.random = { random }
    let values = seed.map { ["seed": $0] } ?? [:]
    let result = try await verb.run(
      VerbCall(values: values, source: source ?? plugin.bundled, environment: environment))
    guard case .records(let page, let title) = result else { throw SourceError.cancelled }
    #expect(title == "Random country")
    #expect(page.records.count == 1)
    return page
  }

  private func country(seed: Int? = nil, random: UInt64 = 0) async throws -> String? {
    try await deal(seed: seed, random: random).records.first?.code.description
  }

  @Test func `picks the same country for the same seed`() async throws {
    // Written down, so that it stays the same in the next version too.
    #expect(try await country(seed: 1) == "MU")
    #expect(try await country(seed: 2) == "MN")
    #expect(try await country(seed: .max) == "CF")
    #expect(try await country(seed: 1, random: 99) == (try await country(seed: 1)))
  }

  @Test func `picks different countries for different seeds`() async throws {
    var picked: Set<String?> = []
    for seed in 0..<50 { picked.insert(try await country(seed: seed)) }
    #expect(picked.count > 30)
  }

  @Test func `takes the environment's random number without a seed`() async throws {
    #expect(try await country(random: 0) == "AF")
    #expect(try await country(random: .max) == "AX")
    #expect(try await country(random: .max / 2) != (try await country(random: 0)))
  }

  @Test func `picks from the live list, and marks it as live`() async throws {
    let service = try FakeCountries()
    let page = try await deal(seed: 1, from: try service.chain())
    #expect(page.provenance.origin == .live)
    #expect(page.total == 249)
    #expect(page.next == nil)
    #expect(service.requests.count == 1)
  }

  @Test func `cannot pick from an empty list`() async throws {
    let service = try FakeCountries()
    service.fail(with: .status(200, "[]"))
    let error = await #expect(throws: SourceError.self) {
      try await deal(from: try service.countries())
    }
    #expect(error?.code == .malformed)
  }

  @Test func `accepts a number that no parser would return`() async throws {
    #expect(try await country(seed: -1) != nil)
  }
}
