/// The three kinds of call to a source.
///
/// Services count and limit them apart.
public enum CallKind: String, Hashable, Sendable, CaseIterable {
  /// A page of everything.
  case list
  /// A page of what matches a query.
  case search
  /// One record by its id.
  case show

  /// The kind of a page request.
  ///
  /// - Parameter request: `search` if it has a query, else `list`.
  public init(_ request: PageRequest) { self = request.query == nil ? .list : .search }
}
