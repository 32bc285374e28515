import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization

/// A service of 20 notes that keeps every law, and is broken as a test says.
///
/// Each of its calls sends one request, through a transport that answers without a network.
struct Diary: Sendable {
  static let key = "canary/7f3a 9c51"

  /// Notes 1 to 20, called Alpha, Beta and Gamma in turn.
  static let notes = (1...20).map { Note($0, "\(["Gamma", "Alpha", "Beta"][$0 % 3]) \($0)") }

  let probe = LawProbe()
  let transport: any Transport
  let recordStore: BundledSource<Note>

  init(_ notes: [Note] = notes) {
    recordStore = BundledSource("diary", items: notes, fields: Note.fields)
    let environment = PluginEnvironment(settings: Settings(), transport: Line())
    transport = probe.listening(to: environment).transport
  }

  /// Sends a request.
  func send() async throws(SourceError) {
    _ = try await transport.send(HTTPRequest(.get, URL(filePath: "/")))
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
    try await send()
    return try await recordStore.page(request)
  }

  func item(_ id: Int) async throws(SourceError) -> LookupResult<Note> {
    try await send()
    return try await recordStore.item(id)
  }

  /// What there is to put to the laws.
  ///
  /// - Parameters:
  ///   - page: How a page is answered; as it should be by default.
  ///   - item: How a record is answered.
  ///   - skip: Where pages lie ahead.
  /// - Returns: A subject of which everything is known.
  func subject(
    page: ScriptedSource<Note>.Paging? = nil, item: ScriptedSource<Note>.Finding? = nil,
    skip: ScriptedSource<Note>.Skipping? = nil
  ) -> LawSubject<Note> {
    let source = ScriptedSource<Note>(
      page: page ?? self.page, item: item ?? self.item, skip: skip ?? recordStore.cursor)
    var subject = LawSubject(
      "diary", source: source, fields: Note.fields, search: .local, query: try? Query("gamma"))
    subject.isBare = true
    subject.secrets = [Secret(Self.key)]
    subject.probe = probe
    subject.anew = { () throws(SourceError) in source }
    return subject
  }
}

extension LawSubject {
  /// This subject, changed.
  func with(_ change: (inout Self) -> Void) -> Self {
    var subject = self
    change(&subject)
    return subject
  }
}

/// Answers everything with nothing, unless the task is cancelled.
private struct Line: Transport {
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    guard !Task.isCancelled else { throw .cancelled }
    return HTTPResponse(status: 200, headers: [], body: Data())
  }
}

/// Some cursors, to be remembered from call to call.
final class CursorPile: Sendable {
  private let cursors = Mutex<Set<Cursor>>([])

  /// Whether the cursor was not on it yet.
  func add(_ cursor: Cursor) -> Bool { cursors.withLock { $0.insert(cursor).inserted } }

  func remove(_ cursor: Cursor) { cursors.withLock { _ = $0.remove(cursor) } }
}
