public import AggregatorCore
public import AggregatorFoundation
import AggregatorText

/// A data source over a usual REST service: lists in pages, single records, and a search.
///
/// ```swift
/// RESTSource(
///   "quakes", list: HTTPRequest(.get, url), paging: RESTPaging(.page(.query("page"), start: 1)),
///   transport: environment.transport, now: environment.now, decoding: QuakeList.self
/// ) { list in
///   RESTResponse(list.rows, total: list.total, record: Quake.init)
/// }
/// .searching(by: .query("q"))
/// .item(below: url, decoding: Quake.Wire.self, record: Quake.init)
/// ```
///
/// Pages of the service are requested with its own page size and cut to the caller's limit; the page that is
/// being cut is kept. Pages are only as large as the service sends them, so a source that shall fill larger
/// ones belongs behind ``DataSource/sliced(upstream:as:keptFor:clock:)``.
public struct RESTSource<Item: Record>: DataSource, CustomStringConvertible {
  public typealias Decoding =
    @Sendable (HTTPResponse) throws(SourceError) -> RESTResponse<Item>

  let name: String
  let list: HTTPRequest
  private let paging: RESTPaging
  private let transport: any Transport
  private let now: @Sendable () -> Date
  private let decoding: Decoding

  private var search: (@Sendable (Query) -> HTTPRequest)?
  private var item: (@Sendable (Item.ID) -> HTTPRequest?)?
  private var itemDecoding: (@Sendable (HTTPResponse, Item.ID) throws(SourceError) -> Item?)?
  private let memory = RESTMemory<Item>()

  /// Creates a source that reads every response with `decoding`.
  ///
  /// - Parameters:
  ///   - name: The name of the source, which errors use for the service.
  ///   - list: The request of the list, with its authentication, without parameters of the paging.
  public init(
    _ name: String, list: HTTPRequest, paging: RESTPaging, transport: any Transport,
    now: @escaping @Sendable () -> Date, decoding: @escaping Decoding
  ) {
    self.name = name
    self.list = list
    self.paging = paging
    self.transport = transport
    self.now = now
    self.decoding = decoding
  }

  /// The same source with a search of the service, whose results are paged as the list is.
  public func searching(_ request: @escaping @Sendable (Query) -> HTTPRequest) -> RESTSource {
    var source = self
    source.search = request
    return source
  }

  /// The same source with single records.
  ///
  /// - Parameters:
  ///   - request: Returns `nil` for an ID that no record can have.
  ///   - decoding: Returns `nil` for a record that does not exist.
  public func item(
    at request: @escaping @Sendable (Item.ID) -> HTTPRequest?,
    decoding: @escaping @Sendable (HTTPResponse, Item.ID) throws(SourceError) -> Item?
  ) -> RESTSource {
    var source = self
    source.item = request
    source.itemDecoding = decoding
    return source
  }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let seal = CursorSeal(name, for: request.query)
    var position = try seal.open(request.cursor, as: RESTPosition.self) ?? RESTPosition()
    guard position.isValid else { throw .damaged(request.cursor) }
    var warnings: [Warning] = []
    if memory.isLost(position.start, of: request.query), position.hasAdvanced {
      position = position.restarted
      warnings.append(.restarted)
    }
    let reply = try await reply(at: position, for: request.query)
    let begin = max(position.skip, position.known(among: reply.response.records.count))
    let slice = reply.response.records.dropFirst(begin).prefix(request.limit)
    var page = Page(
      Array(slice), total: reply.response.total,
      provenance: Provenance(.live, fetchedAt: reply.fetchedAt, endpoint: reply.request.endpoint),
      hidden: begin - position.skip, warnings: warnings)
    if position.skip == 0 {
      page.unreadable = reply.response.unreadable
      page.warnings += reply.response.warnings
    }
    if slice.endIndex < reply.response.records.endIndex {
      memory.keep(reply)
      var next = position
      next.skip = slice.endIndex
      page.next = try seal.close(next)
    } else {
      let (next, warnings) = try following(
        position, reply.response, reply.request, for: request.query)
      page.next = try next.map { next throws(SourceError) in try seal.close(next) }
      page.warnings += warnings
    }
    return page
  }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    guard let item, let itemDecoding else {
      throw SourceError(
        .unsupported, "\(name) cannot look up a single record",
        remedy: "sync \(name) first, and look it up among the cached records")
    }
    guard let http = item(id) else { throw .notFound(id, in: name) }
    let response = try await transport.send(connectedOnce(http))
    if response.status == 404 || response.status == 410 { throw .notFound(id, in: name) }
    let checked = try response.checked(by: name, wantsKey: !http.secrets.isEmpty, now: now())
    guard let record = try itemDecoding(checked, id) else { throw .notFound(id, in: name) }
    guard record.id == id else {
      throw SourceError(.malformed, "\(name) returned a different record than requested")
    }
    return LookupResult(
      record, provenance: Provenance(.live, fetchedAt: now(), endpoint: http.endpoint))
  }

  /// False if tokens are spent by their use: a page that nobody reads would be lost.
  public var readsAhead: Bool { !paging.tokenOnce }

  public func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    let seal = CursorSeal(name, for: request.query)
    guard let size = paging.size?.rows, paging.honorsSize, count >= 0,
      var position = try? seal.open(request.cursor, as: RESTPosition.self) ?? RESTPosition(),
      position.isValid
    else { return nil }
    let (rows, overflow) = position.skip.addingReportingOverflow(count)
    guard !overflow, rows <= 1_000_000_000 else { return nil }
    let pages = rows / size
    switch (paging.step, position.start) {
    case (.page(_, let start), .first): position.start = .page(start + pages)
    case (.page, .page(let number)): position.start = .page(number + pages)
    case (.offset(_, let start), .first): position.start = .offset(start + pages * size)
    case (.offset, .offset(let offset)): position.start = .offset(offset + pages * size)
    default: return nil
    }
    position.skip = rows % size
    position.passed += pages * size
    return position.isValid ? try? seal.close(position) : nil
  }

  public var description: String { "RESTSource(\(list.shownAddress))" }

  // MARK: - Pages

  /// The reply at a position: the one that is being cut, or that of the service.
  private func reply(
    at position: RESTPosition, for query: Query?
  ) async throws(SourceError) -> RESTReply<Item> {
    if position.skip > 0, let kept = memory.kept(position.start, of: query) {
      guard !Task.isCancelled else { throw .cancelled }
      return kept
    }
    let http = try paging.request(for: position.start, after: try firstRequest(for: query))
    do throws(SourceError) {
      let response = try await transport.send(connectedOnce(http))
      if paging.tokenOnce, position.start.isToken, response.refusesToken {
        guard position.hasAdvanced else {
          throw SourceError(
            .malformed, "\(name) refuses the token that it sent (\(response.status))")
        }
        // Transient, because the next attempt starts over.
        throw SourceError(
          .serverError, "\(name) does not accept the token of a page again (\(response.status))",
          remedy: "start over without a cursor")
      }
      let decoded =
        if let end = end(of: position, response.status) { end } else {
          try decoded(response, at: position, wantsKey: !http.secrets.isEmpty)
        }
      return RESTReply(
        start: position.start, query: query, request: http, response: decoded, fetchedAt: now())
    } catch {
      if paging.tokenOnce, position.start.isToken, error.maySpendToken {
        memory.lose(position.start, of: query)
      }
      throw error
    }
  }

  private func decoded(
    _ response: HTTPResponse, at position: RESTPosition, wantsKey: Bool
  ) throws(SourceError) -> RESTResponse<Item> {
    let checked = try response.checked(by: name, wantsKey: wantsKey, now: now())
    do throws(SourceError) {
      var reply = try decoding(checked)
      if let failure = checked.reportedFailure(by: name, hasRows: reply.rowCount > 0) {
        guard reply.rowCount > 0 else { throw failure }
        reply.warnings.append(Warning(.incomplete, failure.message))
      }
      return reply
    } catch {
      // After the last record some services send an error with status 200.
      if position.mayBePastEnd, let total = position.total, total <= position.passed {
        return RESTResponse([], total: total)
      }
      guard error.code == .malformed else { throw error }
      // In its own words, instead of that rows are missing.
      throw checked.reportedFailure(by: name, hasRows: false) ?? error
    }
  }

  /// The end of a list, if the service says it by a status instead of an empty page: by 204, and to a request
  /// of a page by its number also by an error.
  private func end(of position: RESTPosition, _ status: Int) -> RESTResponse<Item>? {
    let isMissing = [404, 410, 416].contains(status)
    guard status == 204 || position.mayBePastEnd && (isMissing || [400, 422].contains(status))
    else { return nil }
    var end = RESTResponse<Item>([], total: position.total)
    if status == 204, position.start.isToken || position.isPromised == true {
      end.warnings.append(.contradiction("a further page, which is empty (204)"))
    } else if status != 204, position.total == nil, position.short == nil {
      // After a full page this may as well be the depth beyond which a service refuses pages.
      end.warnings.append(.refused(after: position.passed, status))
    }
    return end
  }

  /// The request on a connection of its own, if tokens are spent by their use: on one that the service
  /// closed meanwhile, libcurl sends a request again by itself.
  private func connectedOnce(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    if paging.tokenOnce { request.headers.append(.init("Connection", "close")) }
    return request
  }

  private func firstRequest(for query: Query?) throws(SourceError) -> HTTPRequest {
    var request = list
    if let query {
      guard let search else { throw SourceError(.invalidRequest, "\(name) has no search") }
      request = search(query)
    }
    if let size = paging.size { request = request.setting(size.parameter, to: "\(size.rows)") }
    return request
  }

  /// The start of the page after this one; `nil` at the end, with a warning if that comes too early.
  private func following(
    _ position: RESTPosition, _ reply: RESTResponse<Item>, _ request: HTTPRequest, for query: Query?
  ) throws(SourceError) -> (RESTPosition?, [Warning]) {
    let count = reply.rowCount
    let passed = min(position.passed + count, 1_000_000_000)
    // An empty page often has none, or says that there are none.
    let total = [position.total, reply.total].compactMap(\.self).max()
    guard let start = try start(after: position, reply, passed, request) else {
      let shortfall = total.flatMap {
        $0 > passed ? Warning.fewer(passed, than: $0, in: query) : nil
      }
      let warnings = [
        shortfall ?? contradiction(reply, request), paging.isUnproved ? .unproved : nil,
      ]
      return (nil, warnings.compactMap(\.self))
    }
    if let deepest = paging.deepest, passed >= deepest {
      return (nil, [Warning(.depthLimit, "the service sends at most \(deepest) records of a list")])
    }
    let largest = max(position.largest ?? 0, count)
    return (
      RESTPosition(
        start: start, passed: passed, known: position.known.flatMap { $0 > passed ? $0 : nil },
        restart: position.restart, total: total,
        short: count < largest ? count : nil, largest: largest,
        isPromised: reply.hasMore == true ? true : nil), []
    )
  }

  /// A warning if the last page says itself that there is another one.
  private func contradiction(_ reply: RESTResponse<Item>, _ request: HTTPRequest) -> Warning? {
    if reply.hasMore == true { return .contradiction("that there are more records, but not where") }
    if let next = reply.unusableNext {
      return .contradiction("a next page that cannot be requested: \(next.oneLine(atMost: 60))")
    }
    guard case .link = paging.step, reply.next == nil, let last = reply.lastLink,
      let stored = list.storedLink(
        URL(string: last, relativeTo: request.url)?.absoluteString ?? last,
        otherHosts: paging.otherHosts),
      stored != list.storedLink(request.shownAddress, otherHosts: paging.otherHosts)
    else { return nil }
    return .contradiction("a last page that is another one, but no next page")
  }

  private func start(
    after position: RESTPosition, _ reply: RESTResponse<Item>, _ passed: Int, _ request: HTTPRequest
  ) throws(SourceError) -> RESTPosition.Start? {
    let start = position.start
    guard reply.hasMore != false else { return nil }
    // Some services name a next page without end, others send an empty page before the last: the second one
    // is the end.
    guard reply.rowCount > 0 || paging.step.isNamed && position.passed > 0 && position.short != 0
    else { return nil }
    let isShort =
      paging.honorsSize && reply.rowCount < paging.size?.rows ?? 0
      && reply.hasMore != true
      // A total that is larger speaks against the end.
      && (reply.total ?? position.total).map { $0 <= passed } ?? !paging.confirmsEnd
    switch (paging.step, start) {
    case (.single, _): return nil
    case (.page(_, let first), .first):
      return isShort ? nil : .page(first + 1)
    case (.page, .page(let number)):
      return isShort ? nil : .page(number + 1)
    case (.offset(_, let first), .first):
      return isShort ? nil : .offset(first + reply.rowCount)
    case (.offset, .offset(let offset)):
      return isShort ? nil : .offset(offset + reply.rowCount)
    default: break
    }
    switch reply.next {
    case nil: return nil
    case .token(let token): return .token(token)
    case .parameters(let parameters):
      let secrets = Set(request.query.filter(\.isSecret).map(\.name))
      return .parameters(parameters.filter { !secrets.contains($0.key) })
    case .link(let link):
      guard link.nonBlank != nil else { return nil }
      // A link that must not be followed fails when its page is requested, so that this page is not lost.
      // It is relative to the page, which may be on another host, but kept relative to the list.
      let absolute = URL(string: link, relativeTo: request.url)?.absoluteString ?? link
      return .link(list.storedLink(absolute, otherHosts: paging.otherHosts) ?? "")
    }
  }
}

extension Warning {
  fileprivate static var unproved: Warning {
    Warning(.unproved, "it is not proved that further pages are read: records may be missing")
  }

  fileprivate static func refused(after passed: Int, _ status: Int) -> Warning {
    Warning(
      .incomplete,
      "the service refused the page after \(passed) records (\(status)): there may be more")
  }

  /// The service contradicts itself at the end of a list.
  fileprivate static func contradiction(_ words: String) -> Warning {
    Warning(.incomplete, "the service names \(words): there may be more records")
  }

  fileprivate static var restarted: Warning {
    Warning(
      .restarted,
      "a page was lost that the service sends only once, so the list was started over: records that moved "
        + "meanwhile may be missing")
  }
}

extension SourceError {
  /// True if the service may have received the request that failed.
  fileprivate var maySpendToken: Bool {
    switch code {
    case .unreachable, .offline, .rateLimited, .invalidSettings, .invalidRequest, .invalidCursor,
      .missingKey, .invalidKey, .notRecorded:
      false
    default: true
    }
  }
}

extension HTTPResponse {
  /// True for a status by which services refuse a token that they do not know any more.
  fileprivate var refusesToken: Bool { [400, 404, 409, 410, 422].contains(status) }
}
