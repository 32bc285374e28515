import Core

/// What the options say about how much is listed.
struct ListingOptions {
  /// Where to start.
  let cursor: Cursor?

  /// How far to go.
  let bound: WalkBound

  /// How many records to ask for at a time.
  let pageSize: Int

  private static let standardLimit = 20
  private static let standardMaxPages = 25

  /// Reads ``Option/listing``.
  ///
  /// - Parameters:
  ///   - invocation: What was typed.
  ///   - largestPage: The most records that the service gives at a time. A listing asks for as many as
  ///     it wants, so that it costs the fewest requests.
  /// - Throws: ``Failure`` with code `usage`.
  init(_ invocation: Invocation, largestPage: Int) throws(Failure) {
    _ = try invocation.choice(of: [.limit, .all])
    cursor = try invocation.text(.cursor).map { text throws(Failure) in
      guard let cursor = Cursor(text) else { throw Failure(SourceError.damaged(text)) }
      return cursor
    }
    let maxPages = invocation.count(.maxPages)
    if invocation.has(.all) {
      let pages = maxPages ?? Self.standardMaxPages
      bound = WalkBound(pages: pages == 0 ? nil : pages)
      pageSize = largestPage
    } else {
      let limit = invocation.count(.limit) ?? Self.standardLimit
      bound = WalkBound(items: limit, pages: maxPages == 0 ? nil : maxPages)
      pageSize = min(limit, largestPage)
    }
  }
}
