import AggregatorFakeServices
import AggregatorSourceTesting

extension FakeRandomUser {
  /// The people of some pages, each once, in the order in which they come.
  ///
  /// - Parameters:
  ///   - pages: Which pages.
  ///   - size: How many rows a page has.
  ///   - seed: Of which collection.
  /// - Returns: Their ids.
  static func people(
    onPages pages: Range<Int>, of size: Int = 10, seed: String = "aggregator"
  ) -> [String] {
    var seen: Set<String> = []
    return pages.flatMap { emails(onPage: $0, of: size, seed: seed) }.map { $0.lowercased() }
      .filter { seen.insert($0).inserted }
  }

  /// The numbers of the pages that were asked for, in order.
  var pagesAskedFor: [Int] { requests.compactMap { $0.query["page"].flatMap { Int($0) } } }
}
