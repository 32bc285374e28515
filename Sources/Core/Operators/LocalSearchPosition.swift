/// How far a local search has looked.
///
/// Its types refuse what no search ever sealed.
struct LocalSearchPosition: Codable {
  /// The upstream page that is looked through.
  private(set) var cursor: Cursor?

  /// How many of its records have been looked at.
  var skip: UInt32 = 0

  /// How many records were looked at before this page.
  private var passed: UInt32 = 0

  /// How many upstream pages were looked through.
  private var pages: UInt32 = 0

  /// A digest of the cursor that led to page 1, 2, 4, 8 … before this one.
  private var mark: UInt32?

  private enum CodingKeys: String, CodingKey {
    case cursor = "c", skip = "s", passed = "n", pages = "p", mark = "m"
  }

  /// The start.
  init() {}

  /// Whether nothing was looked at yet.
  var isStart: Bool { cursor == nil && skip == 0 }

  /// How many records were looked at altogether.
  var looked: Int { Int(passed) + Int(skip) }

  /// The start of the next page, after one of `count` records.
  ///
  /// Each call of a search is a walk of its own, so none of them sees a circle of more pages than it
  /// reads. Brent's algorithm finds it, with one remembered cursor.
  ///
  /// - Parameters:
  ///   - cursor: The next page.
  ///   - count: How many records this page has.
  /// - Returns: `nil` if the pages go round in a circle.
  func following(_ cursor: Cursor, after count: Int) -> LocalSearchPosition? {
    let digest = UInt32(truncatingIfNeeded: cursor.description.fnv1a)
    guard digest != mark else { return nil }
    var next = LocalSearchPosition()
    next.cursor = cursor
    next.passed = UInt32(clamping: Int(passed) + count)
    next.pages = pages == .max ? pages : pages + 1
    next.mark = next.pages.nonzeroBitCount == 1 ? digest : mark
    return next
  }
}
