/// Why a walk ended.
public enum PaginationEnd: Hashable, Sendable {
  /// The source has no more.
  case exhausted
  /// As many records as were wanted.
  case itemLimit
  /// As many pages as were allowed.
  case pageLimit
  /// The source sent the walk back to a page it had been at: `length` pages ago, 1 for the page just
  /// read.
  case cycle(length: Int)
  /// So many pages in a row had no record that the walk had not met before.
  case nothingNew(pages: Int)

  /// Whether the walk was stopped because the source would have led it nowhere.
  public var isStall: Bool {
    switch self {
    case .cycle, .nothingNew: true
    case .exhausted, .itemLimit, .pageLimit: false
    }
  }

  /// The end in words: `its pages go round in a circle of 2`.
  public var text: String {
    switch self {
    case .exhausted: "there is no more"
    case .itemLimit: "there are as many as were wanted"
    case .pageLimit: "as many pages as allowed were read"
    case .cycle(length: 1): "a page leads back to itself"
    case .cycle(let length): "its pages go round in a circle of \(length)"
    case .nothingNew(let pages): "\(pages) pages in a row brought nothing new"
    }
  }
}

extension SourceError {
  /// A walk was left before it had what was wanted.
  ///
  /// - Parameter end: Why.
  /// - Returns: An error with code `stalled`.
  public static func stalled(_ end: PaginationEnd) -> SourceError {
    SourceError(.stalled, "the source was left: \(end.text)")
  }
}

/// How far a walk may go.
public struct PaginationBound: Hashable, Sendable {
  /// The most records; `nil` for no bound.
  public var items: Int?
  /// The most pages; `nil` for no bound.
  public var pages: Int?

  /// A bound.
  ///
  /// - Parameters:
  ///   - items: The most records, 1 or more; none by default.
  ///   - pages: The most pages, 1 or more; none by default.
  public init(items: Int? = nil, pages: Int? = nil) {
    precondition(items ?? 1 > 0 && pages ?? 1 > 0, "a walk of nothing")
    self.items = items
    self.pages = pages
  }
}

/// What a walk has after each page.
public struct PaginationStep<Item: Record>: Sendable {
  /// The records that the walk had not met before.
  public let items: [Item]

  /// The page as it came.
  public let page: Page<Item>

  /// Why this is the last step; `nil` if it is not.
  public let end: PaginationEnd?
}
