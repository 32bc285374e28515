import AggregatorKit

extension Verb<User> {
  /// `users load [COUNT]`: more people, kept in the store.
  static let load = Verb(
    "load", "Fetch more users into the store",
    argument: Parameter(
      "count", "COUNT", in: 1...1_000_000,
      about: "how many new users to fetch at least, in whole pages; 100 by default")
  ) { call throws(SourceError) in
    guard let upstreamLoader = call.upstreamLoader else {
      throw SourceError(
        .storage, "there is no place to keep users", remedy: "set HOME or AGGREGATOR_HOME")
    }
    let count = call.values["count"] ?? 100
    let result = await upstreamLoader.take(count) { _ in }
    if let failure = result.failure, result.added == 0 { throw failure }
    let words =
      result.added == 1 ? "1 more user is stored" : "\(result.added) more users are stored"
    return .done(words, failure: result.failure ?? result.end.map(SourceError.stalled))
  }
}
