import AggregatorTerminal
import AggregatorText
import Synchronization

/// The texts and IDs of the records of a source, for the queries of a picker.
final class FuzzyRecords: Sendable {
  struct Content: Sendable {
    private(set) var texts = FuzzyList()
    private(set) var ids: [String] = []
    /// The origin of the records.
    var badge: OriginBadge?

    mutating func append(_ id: String, _ text: String) {
      texts.append(text)
      ids.append(id)
    }
  }

  private struct State {
    var content = Content()
    /// The number of contents up to now.
    var version = 0
    var isComplete = false
  }

  private struct Answer {
    let query: String
    let version: Int
    let matches: [Int]
  }

  private let state = Mutex(State())
  /// The last one, of which other parts may be asked for.
  private let answer = Mutex<Answer?>(nil)

  /// True once all records have been read.
  var isComplete: Bool { state.withLock(\.isComplete) }

  var badge: OriginBadge? { state.withLock(\.content.badge) }

  func replace(_ content: Content, isComplete: Bool) {
    state.withLock { state in
      state.content = content
      state.version += 1
      state.isComplete = isComplete
    }
  }

  /// The IDs of a part of the records that match, the best first, and the number of all that do.
  ///
  /// - Throws: `CancellationError` once the running task is cancelled.
  func matches(_ query: String, _ range: Range<Int>) throws -> (ids: [String], total: Int) {
    let state = state.withLock(\.self)
    var matches = answer.withLock { answer in
      answer?.query == query && answer?.version == state.version ? answer?.matches : nil
    }
    if matches == nil {
      matches = state.content.texts.matches(of: FuzzyPattern(query)) { Task.isCancelled }
      answer.withLock {
        $0 = matches.map { Answer(query: query, version: state.version, matches: $0) }
      }
    }
    guard let matches else { throw CancellationError() }
    return (
      matches[range.clamped(to: 0..<matches.count)].map { state.content.ids[$0] }, matches.count
    )
  }
}
