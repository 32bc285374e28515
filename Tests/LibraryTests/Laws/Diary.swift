import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization

/// A service of 20 notes that obeys every law; tests replace a part of it.
///
/// Every call sends one request through a transport without a network.
struct Diary: Sendable {
  static let key = "canary/7f3a 9c51"

  /// Notes 1 to 20, called Alpha, Beta and Gamma in turn.
  static let notes = (1...20).map { Note($0, "\(["Gamma", "Alpha", "Beta"][$0 % 3]) \($0)") }

  let requestCounter = RequestCounter()
  let transport: any Transport
  let source: BundledSource<Note>

  init(_ notes: [Note] = notes) {
    source = BundledSource("diary", items: notes, fields: Note.fields)
    let environment = PluginEnvironment(settings: SourceSettings(), transport: StubTransport())
    transport = requestCounter.observed(environment).transport
  }

  func send() async throws(SourceError) {
    _ = try await transport.send(HTTPRequest(.get, URL(filePath: "/")))
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
    try await send()
    return try await source.page(request)
  }

  func item(_ id: Int) async throws(SourceError) -> LookupResult<Note> {
    try await send()
    return try await source.item(id)
  }

  /// A complete subject, with the given handlers instead of the correct ones.
  func subject(
    page: ScriptedSource<Note>.PageHandler? = nil, item: ScriptedSource<Note>.LookupHandler? = nil,
    skip: ScriptedSource<Note>.CursorHandler? = nil
  ) -> LawSubject<Note> {
    let source = ScriptedSource<Note>(
      page: page ?? self.page, item: item ?? self.item, skip: skip ?? source.cursor)
    var subject = LawSubject(
      "diary", source: source, fields: Note.fields, search: .local, query: try? SearchQuery("gamma")
    )
    subject.isRemote = true
    subject.secrets = [Secret(Self.key)]
    subject.requestCounter = requestCounter
    subject.recreate = { () throws(SourceError) in source }
    return subject
  }
}

extension LawSubject {
  func with(_ change: (inout Self) -> Void) -> Self {
    var subject = self
    change(&subject)
    return subject
  }
}

/// Replies with nothing, unless the task is cancelled.
private struct StubTransport: Transport {
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    guard !Task.isCancelled else { throw .cancelled }
    return HTTPResponse(status: 200, headers: [], body: Data())
  }
}

/// Cursors remembered across calls.
final class CursorSet: Sendable {
  private let cursors = Mutex<Set<PageCursor>>([])

  /// True if the cursor is new.
  func add(_ cursor: PageCursor) -> Bool { cursors.withLock { $0.insert(cursor).inserted } }

  func remove(_ cursor: PageCursor) { cursors.withLock { _ = $0.remove(cursor) } }
}
