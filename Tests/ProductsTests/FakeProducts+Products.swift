import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import ProductsSource

extension FakeProducts {
  /// The bare remote.
  func products() throws -> any DataSource<Product> {
    try ProductsPlugin().remote(in: environment())
  }

  /// The whole chain, without waits between attempts.
  func chain(
    with changes: [String: String] = [:], cachePolicy: CachePolicy = .normal
  ) throws -> any DataSource<Product> {
    try ProductsPlugin().source(in: environment(with: changes)).cachePolicy(cachePolicy)
  }

  func environment(with changes: [String: String] = [:]) -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(settings.merging(changes) { $1 }), transport: transport,
      now: { Fixture.date }, random: { 0 })
  }
}
