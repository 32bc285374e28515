import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import HeroesSource

extension FakeComicVine {
  /// The bare remote.
  func heroes(at now: Date = Fixture.date) throws -> any DataSource<Hero> {
    try HeroesPlugin().remote(in: environment(at: now))
  }

  /// The whole chain, without waits between attempts.
  func chain(
    with changes: [String: String] = [:], cachePolicy: CachePolicy = .normal,
    at now: Date = Fixture.date,
    observer: Observer = .silent
  ) throws -> any DataSource<Hero> {
    try HeroesPlugin().source(
      in: environment(with: changes, at: now, observer: observer)
    ).cachePolicy(cachePolicy)
  }

  func environment(
    with changes: [String: String] = [:], at now: Date = Fixture.date, observer: Observer = .silent
  ) -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(settings.merging(changes) { $1 }), transport: transport,
      now: { now }, random: { 0 }, observer: observer)
  }
}
