import AggregatorKit
import Foundation
import Synchronization

/// A service in memory that lists notes by offset, all or those that changed since a time.
final class TimestampedService: Sendable {
  struct Row: Sendable {
    var note: Note
    /// In seconds since the service's first day.
    var changed: Double
  }

  struct Request: Equatable, Sendable {
    var since: String?
    var offset: Int
  }

  /// An oddity of the service.
  enum Quirk: CaseIterable, Sendable {
    case ignoresParameter
    /// Leaves out what has the very time that is asked for.
    case excludesEqual
    /// Lists by number, whatever the order that it is declared to have.
    case ignoresOrder
    /// Reports no totals.
    case withoutTotal
    case withoutMarks
  }

  private struct State {
    var rows: [Int: Row] = [:]
    var requests: [Request] = []
    var beforeRequest: (@Sendable (TimestampedService) -> Void)?
    var damaged: Double?
  }

  /// The order of all lists; by number if it is `nil`.
  let order: ChangeTracking.Order?
  let quirks: Set<Quirk>
  private let state = Mutex(State())

  init(_ order: ChangeTracking.Order? = nil, _ quirks: Set<Quirk> = []) {
    self.order = order
    self.quirks = quirks
  }

  var requests: [Request] { state.withLock { $0.requests } }
  var notes: [Note] { state.withLock { $0.rows.values.map(\.note).sorted { $0.id < $1.id } } }

  func forgetRequests() { state.withLock { $0.requests = [] } }

  /// Calls `body` before each answer.
  func beforeRequest(_ body: @escaping @Sendable (TimestampedService) -> Void) {
    state.withLock { $0.beforeRequest = body }
  }

  /// Adds or changes a note at a time of the service.
  func set(_ id: Int, _ title: String? = nil, at seconds: Double) {
    state.withLock { $0.rows[id] = Row(note: Note(id, title), changed: seconds) }
  }

  func remove(_ id: Int) { state.withLock { $0.rows[id] = nil } }

  /// Sends what has changed at a time so that it cannot be read.
  func damage(_ seconds: Double?) { state.withLock { $0.damaged = seconds } }

  static func mark(_ seconds: Double) -> String {
    Date(timeIntervalSince1970: 1_699_000_000 + seconds.rounded(.down)).iso8601
  }

  fileprivate func page(
    since: String?, _ request: PageRequest
  ) throws(SourceError) -> Page<Note> {
    let offset = request.cursor.flatMap { Int($0.description.dropFirst(2)) } ?? 0
    let hook = state.withLock { state in
      state.requests.append(Request(since: since, offset: offset))
      return state.beforeRequest
    }
    hook?(self)
    let rows = state.withLock { state in
      state.rows.values.filter { row in
        guard let since, !quirks.contains(.ignoresParameter) else { return true }
        let mark = Self.mark(row.changed)
        return quirks.contains(.excludesEqual) ? mark > since : mark >= since
      }
    }
    let sorted = rows.sorted { first, second in
      let ids = first.note.id < second.note.id
      guard let order, !quirks.contains(.ignoresOrder), first.changed != second.changed else {
        return ids
      }
      return (first.changed < second.changed) == (order == .ascending)
    }
    let sent = sorted.dropFirst(offset).prefix(request.limit)
    let damaged = state.withLock { $0.damaged }
    let slice = sent.filter { $0.changed != damaged }
    var page = Page(
      slice.map(\.note),
      next: sent.endIndex < sorted.endIndex ? PageCursor("at\(sent.endIndex)") : nil,
      total: quirks.contains(.withoutTotal) ? nil : sorted.count, provenance: Provenance(.live),
      unreadable: UnreadableRows(
        count: sent.count - slice.count, firstReason: sent.count > slice.count ? "damaged" : nil))
    if !quirks.contains(.withoutMarks) { page.changeMarks = slice.map { Self.mark($0.changed) } }
    return page
  }

  func list(since: String?) -> any DataSource<Note> { List(service: self, since: since) }

  private struct List: DataSource {
    let service: TimestampedService
    let since: String?

    func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
      try service.page(since: since, request)
    }

    func item(
      _ id: Int, cachePolicy: CachePolicy
    ) async throws(SourceError) -> LookupResult<Note> {
      throw .notFound(id, in: "notes")
    }
  }
}

/// Notes of a service that tells what has changed.
struct TimestampedPlugin: Plugin {
  let service: TimestampedService
  var changes: ChangeTracking?
  let policy: Policy

  let name = "notes"
  let summary = "notes of a test"
  let example = PluginExample(query: "note", id: "1")
  let settings: [Setting] = []
  let fields = Note.fields

  init(_ service: TimestampedService, size: Int = 10, lookback: Double = 3600, full days: Int = 7) {
    self.service = service
    changes = ChangeTracking(
      "updated_since", order: service.order, lookback: .seconds(lookback),
      fullEvery: .seconds(days * 86_400))
    var policy = Policy(
      retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero), breaker: nil,
      readOrder: .liveFirst(freshFor: .seconds(60)))
    policy.syncPageSize = .fixed(size)
    self.policy = policy
  }

  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Note> {
    service.list(since: nil)
  }

  func remote(
    in environment: PluginEnvironment, changedSince mark: String?
  ) throws(SourceError) -> any DataSource<Note> {
    service.list(since: mark)
  }
}
