import AggregatorKit
import HeroesSource

// The Swift of the README, word for word, so that it compiles; `ReadmeTests` compares the two.

func printSpiders(key: String) async throws {
  let environment = PluginEnvironment(
    settings: SourceSettings([HeroesPlugin.key: key]), transport: HTTPTransport.standard,
    store: SQLiteStore(at: URL(filePath: "/tmp/heroes/store.sqlite")))
  let heroes = try HeroesPlugin().source(in: environment)
  for try await hero in heroes.items(matching: "spider", upTo: PaginationBound(items: 50)) {
    print(hero.name, hero.publisher ?? "")
  }
}

func combine(
  _ remote: some DataSource<Hero>, _ bundled: some DataSource<Hero>, _ rate: Rate
) -> some DataSource<Hero> {
  let source = remote.rateLimited(by: rate).retry().timeout(.seconds(15)).fallback(to: bundled)
  return source
}
