import AggregatorFakeServices
import AggregatorSourceTesting

extension FakeRandomUser {
  /// The IDs of the people on some pages, each once, in order.
  ///
  /// - Parameters:
  ///   - size: The number of rows on a page.
  ///   - seed: The seed of the collection.
  static func people(
    onPages pages: Range<Int>, of size: Int = 10, seed: String = "aggregator"
  ) -> [String] {
    var seen: Set<String> = []
    return pages.flatMap { emails(onPage: $0, of: size, seed: seed) }.map { $0.lowercased() }
      .filter { seen.insert($0).inserted }
  }

  /// The numbers of the requested pages, in order.
  var pagesAskedFor: [Int] { requests.compactMap(\.page) }

  /// Replaces the replies to the requests for some pages.
  ///
  /// Several pages are requested at once, so the number of requests so far does not tell which.
  func fail(
    with reply: LoopbackReply, times: Int = .max,
    onPages pages: some RangeExpression<Int> & Sendable
  ) {
    fail(with: reply, times: times) { $0.page.map(pages.contains) ?? false }
  }
}

extension LoopbackRequest {
  fileprivate var page: Int? { query["page"].flatMap { Int($0) } }
}
