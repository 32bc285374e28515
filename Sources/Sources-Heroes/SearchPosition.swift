/// Where a search goes on: a page of the service, and how many of its rows were given already.
struct SearchPosition: Codable {
  /// The page's number, from 1.
  var page = 1
  /// The service's page size.
  var size: Int
  /// How many rows of the page were given already.
  var skip = 0

  private enum CodingKeys: String, CodingKey { case page = "p", size = "n", skip = "s" }

  /// Whether this can be a position: a cursor is hostile until it is checked.
  var isValid: Bool {
    1...1_000_000 ~= page && 1...ComicVine.largestPage ~= size && 0...size ~= skip
  }

  /// The position `count` rows on, if the service's pages are full.
  func skipping(_ count: Int) -> SearchPosition? {
    let (sum, overflow) = skip.addingReportingOverflow(count)
    guard isValid, !overflow else { return nil }
    let (page, rest) = (page + sum / size, sum % size)
    let position = SearchPosition(page: page, size: size, skip: rest)
    return position.isValid ? position : nil
  }
}
