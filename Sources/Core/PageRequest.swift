/// What a caller wants of a ``DataSource``.
public struct PageRequest: Hashable, Sendable {
  /// What to look for; `nil` asks for everything.
  public var query: Query?

  /// Where to go on, from an earlier ``Page/next``; `nil` starts at the beginning.
  public var cursor: Cursor?

  /// How many records at most, 1 or more.
  public var limit: Int

  /// A request.
  ///
  /// - Parameters:
  ///   - query: What to look for; `nil` asks for everything.
  ///   - cursor: Where to go on; `nil` starts at the beginning.
  ///   - limit: How many records at most, 1 or more; 20 by default.
  public init(matching query: Query? = nil, after cursor: Cursor? = nil, limit: Int = 20) {
    precondition(limit > 0, "a page of \(limit) records was asked for")
    self.query = query
    self.cursor = cursor
    self.limit = limit
  }

  /// The same question, going on after `cursor`.
  ///
  /// - Parameter cursor: Where to go on; `nil` starts at the beginning.
  /// - Returns: This request with its cursor replaced.
  public func after(_ cursor: Cursor?) -> PageRequest {
    PageRequest(matching: query, after: cursor, limit: limit)
  }
}
