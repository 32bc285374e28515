import AggregatorKit
import HeroesSource

// Swift of the articles in Sources/Core/Core.docc, word for word, so that it compiles; `Scripts/docs`
// compares the two.

func hero(_ id: Int, of heroes: any DataSource<Hero>) async throws -> Hero? {
  do {
    return try await heroes.item(id).item
  } catch .notFound {
    return nil
  }
}

func chain(
  _ remote: some DataSource<Hero>, _ bundled: some DataSource<Hero>, _ rate: Rate
) -> some DataSource<Hero> {
  let source =
    remote
    .rateLimited(by: rate)
    .retry()
    .timeout(.seconds(15))
    .fallback(to: bundled)
  return source
}
