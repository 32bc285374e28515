/// Where a search goes on: a page of the service, and how many of its rows were given already.
struct SearchPosition: Codable {
  /// The page's number, from 1.
  var page = 1
  /// The service's page size.
  var size: Int
  /// How many rows of the page were given already.
  var skip = 0

  private enum CodingKeys: String, CodingKey { case page = "p", size = "n", skip = "s" }

  private static let pages = 1...1_000_000

  /// Whether this can be a position: a cursor is hostile until it is checked.
  ///
  /// More rows than a page has may be skipped, for a service that sends more than it says.
  var isValid: Bool {
    Self.pages ~= page && 1...ComicVine.largestPage ~= size && 0...1_000_000 ~= skip
  }

  /// The position `count` rows on, if the service's pages are full.
  func skipping(_ count: Int) -> SearchPosition? {
    let (sum, overflow) = skip.addingReportingOverflow(count)
    guard isValid, !overflow, sum / size < Self.pages.upperBound else { return nil }
    let position = SearchPosition(page: page + sum / size, size: size, skip: sum % size)
    return position.isValid ? position : nil
  }
}
