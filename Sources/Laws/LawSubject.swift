public import AggregatorKit
import Synchronization

/// A source to check against laws, and the facts needed to judge it.
///
/// Only the source and its fields are required.
public struct LawSubject<Item: SourceRecord>: Sendable {
  public var name: String

  public var source: any DataSource<Item>

  public var fields: [Field<Item>]

  public var search: SearchKind

  /// With at least one result; local searches are also checked with a query of their own.
  public var query: SearchQuery?

  /// The ID of an existing record, checked besides one from the list.
  public var known: Item.ID?

  /// An ID that does not exist; if `nil`, a made-up one is tried.
  public var unknown: Item.ID?

  public var sizes = [1, 2, 3, 7, 20, 100]

  /// The size of pages of laws that need several, but no particular ones.
  package var smallSize = 7

  /// The limit of any pagination; records beyond it are not checked.
  public var bound = PaginationBound(items: 300, pages: 25)

  /// The limit of the pages in which laws about paging read the whole list, up to 2000 records; `nil` to read it
  /// in pages of the largest of ``sizes``, up to ``bound``.
  public var pageSize: Int? = 5

  /// The IDs of all records in the order of the service, if the test knows them.
  public var allIDs: [Item.ID]?

  /// Records with the fields that those of the service usually have, such as bundled ones.
  public var sample: (any DataSource<Item>)?

  /// True if the source never ends.
  public var isEndless = false

  /// True if the service is known to return a record more than once.
  public var repeatsRecords = false

  /// True if every call may send one HTTP request only; a chain retries and scans.
  public var isRemote = false

  /// True if the service may change between two requests, as a live one does: then a violation has to be found
  /// twice.
  public var mayChange = false

  public var secrets: [Secret] = []

  /// Creates the same source again, as another process would; `nil` if that is impossible.
  public var recreate: (@Sendable () throws(SourceError) -> any DataSource<Item>)?

  /// Observes the source; `nil` if only the current `Observer` does.
  public var requestCounter: RequestCounter?

  /// The whole list, for the laws of one report.
  var memory: ListMemory<Item>?

  public init(
    _ name: String, source: any DataSource<Item>, fields: [Field<Item>],
    search: SearchKind = .none, query: SearchQuery? = nil
  ) {
    self.name = name
    self.source = source
    self.fields = fields
    self.search = search
    self.query = query
  }

  /// One page of the list, and the full records of the first one and of ``known``.
  func sampleRecords() async throws(SourceError) -> [Item] {
    var records = try await source.page(PageRequest(limit: 20)).records
    for id in [known, records.first?.id].compactMap(\.self) {
      if let item = try await self.item(id) { records.append(item) }
    }
    return records
  }

  /// `nil` if lookups are unsupported or the record does not exist, which `listed-id-found` checks.
  package func item(_ id: Item.ID) async throws(SourceError) -> Item? {
    do throws(SourceError) { return try await source.item(id).item } catch {
      guard error.code == .unsupported || error.code == .notFound else { throw error }
      return nil
    }
  }
}

/// The kind of search.
public enum SearchKind: Hashable, Sendable {
  /// Queries are rejected.
  case none
  /// Locally: every word, folded, occurs in the searchable text of a record.
  case local
  /// By the service, with its own rules.
  case service
}

/// Counts, and may limit, the requests of a source, and observes its events, while a law is checked.
public final class RequestCounter: Sendable {
  private struct State {
    var requestCount = 0
    var listener: Observer?
    var requests: [HTTPRequest]?
    var replacement: (@Sendable (HTTPRequest) -> HTTPRequest)?
  }

  private let state = Mutex(State())
  private let limit: Int

  public convenience init() { self.init(atMost: .max) }

  /// Requests beyond the limit fail with code `rejected`, and are not sent.
  package init(atMost limit: Int) { self.limit = limit }

  /// Returns the environment to create the source in; its transport and observer still work.
  public func observed(_ environment: PluginEnvironment) -> PluginEnvironment {
    var environment = environment
    environment.transport = CountingTransport(base: environment.transport, counter: self)
    environment.observer = environment.observer.also(observe)
    return environment
  }

  package var requestCount: Int { state.withLock(\.requestCount) }

  /// True if no further request is sent.
  var isSpent: Bool { requestCount >= limit }

  package func notify<Answer>(_ listener: Observer, during body: () async -> Answer) async -> Answer
  {
    state.withLock { $0.listener = listener }
    defer { state.withLock { $0.listener = nil } }
    return await body()
  }

  /// The answer of a call, and the requests that it sends.
  func requests<Answer>(
    during call: () async -> Answer
  ) async -> (answer: Answer, requests: [HTTPRequest]) {
    state.withLock { $0.requests = [] }
    let answer = await call()
    let requests = state.withLock { state in
      defer { state.requests = nil }
      return state.requests ?? []
    }
    return (answer, requests)
  }

  /// Sends other requests than the source makes.
  func replacing<Answer>(
    _ replacement: @escaping @Sendable (HTTPRequest) -> HTTPRequest, during call: () async -> Answer
  ) async -> Answer {
    state.withLock { $0.replacement = replacement }
    defer { state.withLock { $0.replacement = nil } }
    return await call()
  }

  fileprivate func observe(_ event: Event) { state.withLock(\.listener)?(event) }

  /// The request to send.
  fileprivate func count(_ request: HTTPRequest) throws(SourceError) -> HTTPRequest {
    let admitted = state.withLock { state -> HTTPRequest? in
      guard state.requestCount < limit else { return nil }
      state.requestCount += 1
      state.requests?.append(request)
      return state.replacement?(request) ?? request
    }
    guard let admitted else {
      throw SourceError(.rejected, "the limit of \(limit) requests is reached")
    }
    observe(.sent(method: request.method.rawValue, address: request.endpoint))
    return admitted
  }
}

/// Reports each request once, whatever the redirects.
private struct CountingTransport: Transport {
  let base: any Transport
  let counter: RequestCounter

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await base.send(counter.count(request))
  }
}
