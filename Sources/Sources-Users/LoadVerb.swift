import AggregatorKit

extension Verb<User> {
  /// The most pages in flight; the rate limit says how soon.
  private static var pagesAtOnce: Int { 4 }

  /// Caches more people: `users load [COUNT]`.
  static let load = Verb(
    "load", "Download more users",
    argument: Parameter(
      "count", "COUNT", in: 1...1_000_000,
      about: "the minimum number of new users (default 100), rounded up to whole pages"),
    requiresService: true, role: .loadsMore,
    notes: [
      "Continues after the last download, as sync does. To limit by pages instead, use sync "
        + "--max-pages N."
    ]
  ) { call throws(SourceError) in
    guard let upstreamLoader = call.upstreamLoader else {
      throw SourceError(
        .storage, "no directory for the store", remedy: Remedy("set HOME", .moveStore))
    }
    let count = call.values["count"] ?? 100
    let result = await upstreamLoader.take(count, jobs: pagesAtOnce) { _ in }
    if let failure = result.failure, result.added == 0 { throw failure }
    let summary =
      result.added == 1 ? "1 more user cached" : "\(result.added) more users cached"
    return .done(summary, failure: result.failure ?? result.end.map(SourceError.noProgress))
  }
}
