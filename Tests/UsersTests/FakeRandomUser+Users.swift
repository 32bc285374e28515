import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import UsersSource

extension FakeRandomUser {
  /// The bare remote.
  func users(pagesOf size: Int = 10) throws -> any DataSource<User> {
    try UsersPlugin().remote(in: environment(with: ["RANDOM_USER_PAGE_SIZE": "\(size)"]))
  }

  /// The whole chain, without waits between attempts.
  func chain(
    with changes: [String: String] = [:], cachePolicy: CachePolicy = .normal,
    clock: any Clock<Duration> = ContinuousClock()
  ) throws -> any DataSource<User> {
    try UsersPlugin().source(in: environment(with: changes, clock: clock)).cachePolicy(cachePolicy)
  }

  func environment(
    with changes: [String: String] = [:], clock: any Clock<Duration> = ContinuousClock()
  ) -> PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(settings.merging(changes) { $1 }), transport: transport,
      clock: clock,
      now: { Fixture.date }, random: { 0 })
  }

  /// The people on the first pages of the default collection, each once.
  static func everybody(onPages pages: ClosedRange<Int>, of size: Int = 10) -> [EmailAddress] {
    var seen: Set<EmailAddress> = []
    return pages.flatMap { emails(onPage: $0, of: size, seed: "aggregator") }
      .compactMap { EmailAddress($0) }.filter { seen.insert($0).inserted }
  }
}
