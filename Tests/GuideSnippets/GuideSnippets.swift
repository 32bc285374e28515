import AggregatorKit
import HeroesSource

// Swift of the guides, word for word, so that it compiles; `Scripts/docs` compares the two. This target has none of the
// upcoming features of the others, as a package has none by default.

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

/// Where data comes from.
func policies(of heroes: some DataSource<Hero>) async throws {
  let page = try await heroes.page(PageRequest(cachePolicy: .reload))
  let hero = try await heroes.item(1443, cachePolicy: .offline)
  for try await hero in heroes.items(matching: "spider", cachePolicy: .offline) { print(hero.name) }
  _ = (page, hero)
}

/// Combining sources.
struct Measured<Base: DataSource>: Interceptor {
  let base: Base
  let label = "measured()"

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: nonisolated(nonsending) @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let start = ContinuousClock.now
    defer { print(kind, ContinuousClock.now - start) }
    return try await call()
  }
}
