package import AggregatorKit
import AggregatorQueries
package import AggregatorTerminal

/// Something that changes what is shown.
package enum BrowseEvent: Sendable {
  case input(Input)
  case resized(width: Int, height: Int)
  case status(String, SourceStatus)
  case window(ListRequest, start: Int, Result<BrowsedWindow, BrowseFailure>)
  /// The number of rows of a list.
  case counted(ListRequest, Int)
  /// The end of a refresh; `nil` if the service was not asked.
  case refreshed(String, Result<Refreshed?, BrowseFailure>)
  /// The records of a source can be matched with a picker's query, or more of them than before.
  case indexed(String, isComplete: Bool)
  /// A response of the service of a source has arrived.
  case received(String)
  /// A pause before requests of a source; `nil` at the end of one.
  case paused(String, Pause?)
  /// A record with its details.
  case record(source: String, BrowsedRow)
  /// `nil` if there is no picture.
  case picture(PictureRequest, Picture?)
  case deleted(Deletion)
  case restored(Deletion)
  /// A record could not be deleted or restored.
  case notChanged(Notice)
  case syncing(String, progress: String)
  case synced(String, Notice, SyncEnd = SyncEnd())
  case answered(String, Result<BrowsedWindow, BrowseFailure>)
  /// The texts that the beginning of a line can become.
  case completed(TypedStart, [String])
  /// The number of records that a condition selects while it is typed, or the reason for which it is refused.
  case previewed(ListRequest, Notice)
  /// The values of a field in the records of a list, with their numbers.
  case values(ListRequest, Result<BrowsedWindow, BrowseFailure>)
  /// A file is written, with a number of rows, without those that could not be read.
  case written(WrittenList, Int, missing: Int = 0)
  /// A file is not written; `isThere` is true if it exists.
  case notWritten(WrittenList, Notice, isThere: Bool)
  /// A copied text has arrived where others paste it from.
  case copied(String)
  case notice(Notice)
}

/// Records that are written to a file.
package struct WrittenList: Equatable, Sendable {
  package var request: ListRequest
  package var fields: [BrowsedColumn]
  /// These rows alone; empty for all of the list.
  package var rows: [BrowsedRow]
  package var path: String
  /// True if a file that exists may be replaced.
  package var replaces: Bool
  package var origin = Origin.list

  package enum Origin: Equatable, Sendable {
    /// The whole list, also counted by the values of a field.
    case list
    case marked
    case query([SourceWarning])
  }
}

/// Work that an event leads to, done beside the input.
package enum BrowseEffect: Equatable, Sendable {
  case status(String)
  case window(ListRequest, start: Int, count: Int)
  case count(ListRequest)
  /// Asks the service: for the list, or for the records that match a query.
  case refresh(String, query: String, isForced: Bool)
  /// Ends the last ``refresh(_:query:isForced:)`` of a source; nothing comes of it.
  case stopRefresh(String)
  case record(source: String, id: String)
  /// Reads the records that a picker's query is matched with: those that meet a condition, all for an empty one.
  case index(String, condition: String = "")
  case picture(PictureRequest)
  case delete(Deletion)
  case restore(Deletion)
  case sync(String, pages: Int?)
  case stopSync(String)
  case open(String)
  case copy(String)
  case query(String)
  /// Keeps a line for later sessions.
  case remember(BrowseState.Prompt, String)
  /// Keeps the columns of a source for later sessions: those that were chosen, none for its own.
  case keepColumns(String, [String])
  /// Looks for the texts that the beginning of a line can become.
  case complete(TypedStart)
  case preview(ListRequest)
  /// Counts the values of a field.
  case values(ListRequest, BrowsedColumn)
  case write(WrittenList)
  /// Ends this work; nothing comes of it.
  case stop(BrowseState.Work)
  case redraw
  /// Leaves with these IDs.
  case pick([String])
  case quit
}

/// The beginning of a line that is being typed, up to the cursor.
package struct TypedStart: Equatable, Sendable {
  package var kind: BrowseState.Prompt
  package var source: String
  package var text: String
}

/// The end of a sync, as far as it tells more than the store.
package struct SyncEnd: Equatable, Sendable {
  /// The number of records of the service, if it has reported it and they are not all there.
  package var total: Int?
  /// The reason for which records are missing, or may be.
  package var reason: String?
  /// True if it has read the list to its end, whatever is missing.
  package var isAtEnd: Bool
  /// True if the service is not asked for a time, which is counted down.
  package var isPaused = false

  package init(total: Int? = nil, reason: String? = nil, isAtEnd: Bool = false) {
    self.total = total
    self.reason = reason
    self.isAtEnd = isAtEnd
  }
}

/// An answer of a source's chain.
package struct Refreshed: Sendable {
  package var badge: OriginBadge
  /// The number of records in it.
  package var count: Int
  package var query: String
  /// True if the service has more records that match.
  package var hasMore: Bool
  /// The numbers of records that were not cached before, and that have other values now; `nil` if not compared.
  package var added: Int?
  package var changed: Int?
  /// The reason for which the store has not taken it; `nil` if it has.
  package var failure: String?

  /// True if it has all records of the service.
  var isWhole: Bool { query.nonBlank == nil && !hasMore }

  package init(_ badge: OriginBadge, count: Int, of query: String = "", hasMore: Bool = false) {
    self.badge = badge
    self.count = count
    self.query = query
    self.hasMore = hasMore
  }

  /// The end of a refresh that was asked for, in words.
  func notice(of name: String) -> Notice {
    guard badge.kind == .live else {
      return Notice(
        .warning, "\(name): not refreshed: \(badge.cause ?? badge.label.lowercasedFirst)")
    }
    let counts = [(added, "new"), (changed, "changed")].compactMap { count, word in
      count.map { "\($0) \(word)" }
    }
    let first = hasMore && count > 0 ? "the first " : ""
    // A service without a search has sent others, too.
    let records = count.of(query.nonBlank == nil ? "record" : "matching record")
    let words = ["\(first)\(records)"] + counts + ["live"]
    let text = "\(name): " + words.joined(separator: ", ")
    // Of a list, the gap of the cache says it.
    guard query.nonBlank != nil, let cause = badge.cause else { return Notice(.note, text) }
    return Notice(.warning, "\(text): \(cause)")
  }

  /// True if the answer has all records of a list.
  func covers(_ list: ListState) -> Bool {
    guard failure == nil, list.count <= count else { return false }
    let request = list.request
    return isWhole || !request.isFuzzy && request.query == query && request.condition.isEmpty
  }
}

/// A time before which a service is sent no request.
package struct Pause: Equatable, Sendable {
  package var end: Date
  /// The words before the remaining time.
  package var text: String
  /// True if a request waits for the end.
  package var isWait: Bool

  package init(until end: Date, _ text: String, isWait: Bool) {
    self.end = end
    self.text = text
    self.isWait = isWait
  }
}

/// A failure in words.
package struct BrowseFailure: Error, Equatable, Sendable {
  package var message: String

  package init(_ message: String) { self.message = message }
}

/// A picture of a record, in cells.
package struct PictureRequest: Hashable, Sendable {
  package var source: String
  package var id: String
  package var columns: Int
  package var rows: Int
}

/// Records that are deleted and restored together.
package struct Deletion: Equatable, Sendable {
  package var source: String
  package var ids: [String]
  /// The name of the first one.
  package var name: String

  package init(source: String, ids: [String], name: String) {
    self.source = source
    self.ids = ids
    self.name = name
  }

  var text: String { ids.count == 1 ? "\"\(name)\"" : "\(ids.count) records" }
}
