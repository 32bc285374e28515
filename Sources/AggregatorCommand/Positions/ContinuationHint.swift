import AggregatorKit

/// How a listing goes on, in words for people.
enum ContinuationHint {
  /// With the cursor of its answer, where no place is kept.
  case cursor
  /// With this command, or all at once with `--all`.
  case listing(String)
  /// With this command.
  case next(String)
  /// Not yet: this command shows the same once more.
  case peek(String)

  /// What to do for more.
  var action: String {
    switch self {
    case .cursor: "--cursor"
    case .listing(let command), .next(let command), .peek(let command): "'\(command)'"
    }
  }

  /// What stands after the number of records, where more follow.
  ///
  /// - Parameters:
  ///   - next: Where the next page starts.
  ///   - offersAll: Whether all could be asked for instead.
  /// - Returns: `more: aggregator heroes next`.
  func words(_ next: Cursor, offersAll: Bool) -> String {
    let all = offersAll ? " · all: --all" : ""
    return switch self {
    case .cursor: "more: --cursor \(next)\(all)"
    case .listing(let command): "more: \(command)\(all)"
    case .next(let command): "more: \(command)"
    case .peek(let command): "not moved: \(command) shows these"
    }
  }
}
