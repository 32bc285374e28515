import AggregatorKit
import AggregatorSourceTesting
import Synchronization
import Testing

/// A notebook marked as live, which a test can take down.
final class Service: DataSource, CustomStringConvertible {
  private let notes: ScriptedSource<Note>
  private let fault = Fault()

  init(_ count: Int) {
    let notebook = notebook(count)
    notes = ScriptedSource(
      page: { [fault] request throws(SourceError) in
        try fault.strike()
        var page = try await notebook.page(request)
        page.provenance = Service.live
        return page
      },
      item: { [fault] id throws(SourceError) in
        try fault.strike()
        return LookupResult(try await notebook.item(id).item, provenance: Service.live)
      })
  }

  private static var live: Provenance {
    Provenance(.live, fetchedAt: .day(), endpoint: "https://notes.test/api")
  }

  /// The page requests so far.
  var requests: [PageRequest] { notes.requests }
  /// The number of calls so far.
  var callCount: Int { notes.callCount }

  /// Makes every further call fail; `nil` for none.
  func fail(with code: SourceError.Code?) { fault.set(code) }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
    try await notes.page(request)
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Note> {
    try await notes.item(id)
  }

  var description: String { "service" }
}

/// A failure that a test switches on and off.
final class Fault: Sendable {
  private let code = Mutex<SourceError.Code?>(nil)

  /// Makes every further call fail; `nil` for none.
  func set(_ code: SourceError.Code?) { self.code.withLock { $0 = code } }

  /// Fails if a failure is set.
  func strike() throws(SourceError) {
    if let code = code.withLock(\.self) { throw .because(code) }
  }
}

/// A transport that must not be used.
struct TrappingTransport: Transport {
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    Issue.record("\(request) was sent")
    throw .because(.unreachable)
  }
}
