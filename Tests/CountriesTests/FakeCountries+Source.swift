import AggregatorFakeServices
import AggregatorKit
import CountriesSource
import Foundation

extension FakeCountries {
  /// The bare remote.
  func countries() throws -> any DataSource<Country> {
    try CountriesPlugin().remote(in: environment())
  }

  /// The whole chain, without waits between attempts.
  func chain(
    at url: URL? = nil, cachePolicy: CachePolicy = .normal, observer: Observer = .silent
  ) throws -> any DataSource<Country> {
    try CountriesPlugin().source(in: environment(at: url, observer: observer)).cachePolicy(
      cachePolicy)
  }

  func environment(at url: URL? = nil, observer: Observer = .silent) -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(url.map { ["COUNTRIES_URL": $0.absoluteString] } ?? settings),
      transport: transport, now: { Date(timeIntervalSince1970: 0) }, random: { 0 },
      observer: observer)
  }
}
