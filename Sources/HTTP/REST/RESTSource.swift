public import AggregatorCore
public import AggregatorFormats
public import AggregatorFoundation
import AggregatorText
import Synchronization

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
/// ones belongs behind ``DataSource/sliced(upstream:as:keptFor:clock:version:)``.
public struct RESTSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  /// Reads the response to the request of a page.
  public typealias Decoding =
    @Sendable (HTTPResponse, RESTPosition) throws(SourceError) -> RESTResponse<Item>

  /// A value that selects the records beside the query, such as a seed: a cursor of another collection is invalid.
  public var collection: String?

  /// The part of the list that it reads: a cursor of another one is invalid.
  package var partition: Partition?

  /// Checks each response before its status is: it throws failures that only this service reports so.
  public var check: (@Sendable (HTTPResponse) throws(SourceError) -> Void)?

  /// The page size to request instead of a larger one of the paging; `nil` for that of the paging.
  package var largestPage: Int?

  /// The format that responses are expected to have; `nil` to recognise it.
  public var format: BodyFormat?

  /// The names that lead to the rows in a response that is XML; `nil` if they are not known.
  package var rows: [String]?

  let name: String
  let service: String
  let list: HTTPRequest
  private let paging: RESTPaging
  private let transport: any Transport
  private let now: @Sendable () -> Date
  let decoding: Decoding

  private var rules: [ErrorRule] = []
  private var search:
    (request: @Sendable (SearchQuery) -> HTTPRequest, paging: RESTPaging?, decoding: Decoding?)?
  private var item: (@Sendable (Item.ID) throws(SourceError) -> HTTPRequest?)?
  private var itemDecoding: (@Sendable (HTTPResponse, Item.ID) throws(SourceError) -> Item?)?
  private let memory = RESTMemory<Item>()

  /// Creates a source that reads every response with `decoding`.
  ///
  /// - Parameters:
  ///   - name: The name of the source.
  ///   - service: The service as errors call it; by default as the source.
  ///   - list: The request of the list, with its authentication, without parameters of the paging.
  public init(
    _ name: String, of service: String? = nil, list: HTTPRequest, paging: RESTPaging,
    transport: any Transport, now: @escaping @Sendable () -> Date, decoding: @escaping Decoding
  ) {
    self.name = name
    self.service = service ?? name
    self.list = list
    self.paging = paging
    self.transport = transport
    self.now = now
    self.decoding = decoding
  }

  /// The same source with a search of the service, whose results are paged and read as the list is by default.
  public func searching(
    paging: RESTPaging? = nil, decoding: Decoding? = nil,
    _ request: @escaping @Sendable (SearchQuery) -> HTTPRequest
  ) -> RESTSource {
    var source = self
    source.search = (request, paging, decoding)
    return source
  }

  /// The same source with single records.
  ///
  /// - Parameters:
  ///   - request: Returns `nil` for an ID that no record can have; throws for one that cannot be looked up.
  ///   - decoding: Returns `nil` for a record that does not exist.
  public func item(
    at request: @escaping @Sendable (Item.ID) throws(SourceError) -> HTTPRequest?,
    decoding: @escaping @Sendable (HTTPResponse, Item.ID) throws(SourceError) -> Item?
  ) -> RESTSource {
    var source = self
    source.item = request
    source.itemDecoding = decoding
    return source
  }

  /// The same source, whose responses mean what the first rule says that applies.
  ///
  /// Rules come before what every response is checked for: its status and what it reports itself, see
  /// ``HTTPResponse/checked(by:wantsKey:now:)`` and ``HTTPResponse/reportedFailure(by:hasRows:now:)``. A single record
  /// that is answered by 404 or 410 does not exist, unless a rule names that status.
  public func handlingErrors(by rules: [ErrorRule]) -> RESTSource {
    var source = self
    source.rules = rules
    return source
  }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let (seal, paging) = (seal(for: request.query), paging(for: request.query))
    var position = try paging.position(in: request.cursor, with: seal, limit: request.limit)
    var warnings: [Warning] = []
    if memory.isLost(position.start, of: request.query), position.hasAdvanced {
      position = position.restarted
      warnings.append(
        Warning(
          .restarted,
          "a page was lost that the service sends only once, so the list was started over: records that moved "
            + "meanwhile may be missing"))
    }
    let reply = try await reply(at: position, to: request)
    if let count = reply.unchangedCount { return .unchanged(count, reply) }
    position.size = reply.position.size
    let begin = max(position.skip, position.known(among: reply.response.records.count))
    let slice = reply.response.records.dropFirst(begin).prefix(request.limit)
    var page = Page(
      Array(slice), total: reply.credibleTotal,
      provenance: Provenance(.live, fetchedAt: reply.fetchedAt, endpoint: reply.request.endpoint),
      hidden: begin - position.skip, warnings: warnings)
    if reply.response.changeMarks.count == reply.response.records.count {
      page.changeMarks = Array(reply.response.changeMarks[slice.startIndex..<slice.endIndex])
    }
    // A total that the rows contradict is for checks only.
    if page.total == nil { page.reportedTotal = reply.response.total }
    if position.skip == 0 {
      page.unreadable = reply.response.unreadable
      page.schema = reply.response.schema
      page.hidden += reply.response.hidden
      page.warnings += reply.response.warnings
    }
    if slice.endIndex < reply.response.records.endIndex {
      memory.keep(reply)
      var next = position
      next.skip = slice.endIndex
      page.next = try paging.cursor(of: next, with: seal)
    } else {
      // Its cursor has a total that an earlier page named, but no longer its response: that is of this pass alone.
      if begin == 0, position.total ?? 0 <= reply.response.total ?? .max {
        page.digest = reply.digest
      }
      let (next, warnings) = following(position, reply)
      page.next = try next.map { next throws(SourceError) in
        try paging.cursor(of: next, with: seal)
      }
      page.warnings += warnings
    }
    return page
  }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    guard let item, let itemDecoding else {
      throw SourceError(
        .unsupported, "\(service) cannot look up a single record",
        remedy: Remedy("\(name) sync", .command))
    }
    guard let http = try item(id) else { throw .notFound(id, in: name) }
    let response = try await send(http)
    let isMissing = response.status == 404 || response.status == 410
    if let ruled = RuledResponse(response, by: rules), !isMissing || ruled.rule.status != nil,
      let failure = failure(ruled, to: http)
    {
      throw failure
    }
    if isMissing { throw .notFound(id, in: name) }
    let checked = try response.checked(by: service, wantsKey: !http.secrets.isEmpty, now: now())
    let decoded: Item?
    do throws(SourceError) { decoded = try itemDecoding(checked, id) } catch {
      guard error.code == .malformed else { throw error }
      throw checked.reportedFailure(by: service, hasRows: false, now: now()) ?? error
    }
    guard let record = decoded else { throw .notFound(id, in: name) }
    guard record.id == id else {
      throw SourceError(
        .malformed,
        "\(service) returned \"\("\(record.id)".oneLine(atMost: 80))\" instead of \"\(id)\"")
    }
    return LookupResult(
      record, provenance: Provenance(.live, fetchedAt: now(), endpoint: http.endpoint))
  }

  /// False if tokens are spent by their use: a page that nobody reads would be lost.
  public var pageSize: Int? {
    let paging = paging(for: nil)
    return paging.followsLimit ? nil : paging.size?.rows
  }

  public var readsAhead: Bool { !paging.tokenOnce && search?.paging?.tokenOnce != true }

  public func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    let (seal, paging) = (seal(for: request.query), paging(for: request.query))
    guard request.query == nil || search != nil, paging.predictsCursors || paging.honorsSize,
      let position = try? paging.position(in: request.cursor, with: seal, limit: request.limit)
    else { return nil }
    return paging.skipping(count, from: position).flatMap {
      try? paging.cursor(of: $0, with: seal)
    }
  }

  public func isInMemory(_ request: PageRequest) -> Bool {
    guard request.cursor != nil,
      let position = try? paging(for: request.query).position(
        in: request.cursor, with: seal(for: request.query), limit: request.limit)
    else { return false }
    return position.skip > 0 && memory.kept(position, of: request.query) != nil
  }

  public var description: String { "RESTSource(\(list.shownAddress))" }

  // MARK: - Pages

  private func seal(for query: SearchQuery?) -> CursorSeal {
    let parts = [name, partition?.key, collection].compactMap(\.self)
    return CursorSeal(parts.joined(separator: "."), for: query)
  }

  private func paging(for query: SearchQuery?) -> RESTPaging {
    var paging = query == nil ? paging : search?.paging ?? paging
    if let largestPage, let size = paging.size {
      paging.size = (size.parameter, min(size.rows, largestPage))
    }
    return paging
  }

  /// The reply at a position: the one that is being cut, or that of the service.
  private func reply(
    at position: RESTPosition, to page: PageRequest
  ) async throws(SourceError) -> RESTReply<Item> {
    let query = page.query
    if position.skip > 0, let kept = memory.kept(position, of: query) {
      guard !Task.isCancelled else { throw .cancelled }
      return kept
    }
    guard page.cachePolicy.mayAskService else { throw .offlineMode }
    let isTokenSpent = position.start.isToken && paging(for: query).tokenOnce
    let http = try request(at: position, for: query)
    let last = try await page.comparison?.lastRead(http.digest)
    let condition = try await condition(on: last, http, page)
    do throws(SourceError) {
      var response = try await send(condition?.validators.conditional(http) ?? http, for: query)
      if let condition, response.status == 304 {
        if condition.validators.areConfirmed(by: response) {
          return unchanged(condition.count, http, at: position, for: query)
        }
        memory.distrustConditions()
        response = try await send(http, for: query)
      }
      let ruled = RuledResponse(response, by: rules)
      if let ruled, let failure = failure(ruled, to: http) { throw failure }
      if isTokenSpent, ruled == nil { try requireToken(at: position, in: response) }
      var digest = page.comparison.map { response.digest(to: http, from: $0.seed) }
      if let last, last.digest.response == digest?.response {
        var count = condition?.count
        if count == nil { count = try await last.recordCount() }
        if let count {
          var reply = unchanged(count, http, at: position, for: query)
          let validators = validators(of: response, to: http, page)
          if last.digest.validators != nil, last.digest.validators != validators {
            digest?.validators = validators
            reply.digest = digest
          }
          return reply
        }
      }
      let decoded =
        if let ruled {
          try lastPage(ruled, to: http, at: position, for: query)
        } else if let end = end(of: position, response.status) {
          end
        } else {
          try self.decoded(response, to: http, at: position, for: query)
        }
      var own = position
      own.size = decoded.size ?? position.size
      // The cause of a warning may be gone the next time, such as a response that was cut off.
      if decoded.warnings.isEmpty {
        digest?.validators = validators(of: response, to: http, page)
      }
      return RESTReply(
        position: own, query: query, request: http, response: decoded, fetchedAt: now(),
        digest: ruled == nil ? digest : nil)
    } catch {
      if isTokenSpent, error.maySpendToken {
        memory.lose(position.start, of: query)
      }
      throw error
    }
  }

  /// Throws if the service refuses the token of a page.
  private func requireToken(
    at position: RESTPosition, in response: HTTPResponse
  ) throws(SourceError) {
    // By these, services refuse a token that they do not know any more.
    guard [400, 404, 409, 410, 422].contains(response.status) else { return }
    guard position.hasAdvanced else {
      throw SourceError(
        .malformed, "\(service) refuses the token that it sent (\(response.status))")
    }
    // Transient, because the next attempt starts over.
    throw SourceError(
      .serverError, "\(service) does not accept the token of a page again (\(response.status))",
      remedy: "start over without a cursor")
  }

  /// The condition on which the service need not send a page, and the number of the records that the page has then;
  /// `nil` if it has to.
  private func condition(
    on last: LastRead?, _ request: HTTPRequest, _ page: PageRequest
  ) async throws(SourceError) -> (validators: PageValidators, count: Int)? {
    guard let last, let seed = page.comparison?.seed, memory.trustsConditions,
      let validators = PageValidators(last.digest.validators, of: request, from: seed),
      let count = try await last.recordCount()
    else { return nil }
    return (validators, count)
  }

  /// See ``PageDigest/validators``.
  private func validators(
    of response: HTTPResponse, to request: HTTPRequest, _ page: PageRequest
  ) -> String? {
    // The responses of a file are parts of it.
    guard let seed = page.comparison?.seed, !paging(for: page.query).isFile else { return nil }
    return PageValidators(response, to: request, from: seed)?.text
  }

  private func unchanged(
    _ count: Int, _ request: HTTPRequest, at position: RESTPosition, for query: SearchQuery?
  ) -> RESTReply<Item> {
    RESTReply(
      position: position, query: query, request: request, response: RESTResponse([]),
      fetchedAt: now(), unchangedCount: count)
  }

  private func decoded(
    _ response: HTTPResponse, to request: HTTPRequest, at position: RESTPosition,
    for query: SearchQuery?
  ) throws(SourceError) -> RESTResponse<Item> {
    let checked = try response.checked(by: service, wantsKey: !request.secrets.isEmpty, now: now())
    let decoding = query == nil ? decoding : search?.decoding ?? decoding
    do throws(SourceError) {
      var reply = try decoding(checked, position)
      if paging(for: query).isFile { FilePages.complete(&reply, by: checked) }
      reply.warnings += checked.conversion?.warnings ?? []
      if let fault = checked.conversion?.fault, reply.unreadable.count > 0 {
        reply.unreadable.firstReason = fault
      }
      if let failure = checked.reportedFailure(
        by: service, hasRows: reply.rowCount > 0, now: now())
      {
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
      throw checked.reportedFailure(by: service, hasRows: false, now: now()) ?? error
    }
  }

  /// The last page of a list that a rule ends: with the rows that the response has, if it is successful, and without any
  /// if the rule leaves out the partition.
  private func lastPage(
    _ ruled: RuledResponse, to request: HTTPRequest, at position: RESTPosition,
    for query: SearchQuery?
  ) throws(SourceError) -> RESTResponse<Item> {
    var page = RESTResponse<Item>([])
    if ruled.rule.action == .skip {
      let report = ruled.report(by: service, wantsKey: !request.secrets.isEmpty, now: now())
      let key = partition.map { "\($0.value.oneLine(atMost: 80)): " } ?? ""
      page.warnings.append(Warning(.skippedPartition, key + report.message))
    } else {
      do throws(SourceError) {
        page = try decoded(ruled.response, to: request, at: position, for: query)
      } catch {
        // Most have no rows, which are not lost then.
        guard !ruled.mayHaveRows else { throw error }
      }
    }
    page.isEndedByRule = true
    return page
  }

  private func failure(_ ruled: RuledResponse, to request: HTTPRequest) -> SourceError? {
    ruled.failure(by: service, wantsKey: !request.secrets.isEmpty, now: now())
  }

  /// The end of a list, if the service says it by a status instead of an empty page: by 204, and to a request
  /// of a page by its number also by an error.
  private func end(of position: RESTPosition, _ status: Int) -> RESTResponse<Item>? {
    guard status == 204 || position.mayBePastEnd && [400, 404, 410, 416, 422].contains(status)
    else { return nil }
    var end = RESTResponse<Item>([], total: position.total)
    if status == 204, position.start.isToken || position.isPromised == true {
      end.warnings.append(.contradiction("a further page, which is empty (204)"))
    } else if status != 204, position.short == nil {
      // After a full page this may as well be the depth beyond which a service refuses pages.
      let passed = position.passed
      if let total = position.total {
        guard total > passed else { return end }
        end.warnings.append(
          Warning(
            .depthLimit,
            "the service refused the page after \(passed) of \(total) records (\(status)): if it never "
              + "sends more, set \"deepest\" to \(passed)"))
      } else {
        end.warnings.append(
          Warning(
            .incomplete,
            "the service refused the page after \(passed) records (\(status)): there may be more"))
      }
    }
    return end
  }

  private func send(
    _ request: HTTPRequest, for query: SearchQuery? = nil
  ) async throws(SourceError) -> HTTPResponse {
    var request = request
    // On a connection that the service closed meanwhile, libcurl sends a request again by itself.
    if paging(for: query).tokenOnce { request.headers.append(.init("Connection", "close")) }
    var response: HTTPResponse
    do throws(SourceError) { response = try await transport.send(request) } catch {
      throw error.remediedForSize(of: request)
    }
    // It has no body.
    guard response.status != 304 else { return response }
    response = try response.converted(from: request, as: format, rows: rows, by: service)
    try check?(response)
    return response
  }

  private func request(
    at position: RESTPosition, for query: SearchQuery?
  ) throws(SourceError) -> HTTPRequest {
    var request = list
    if let query {
      guard let search else { throw SourceError(.invalidRequest, "\(service) has no search") }
      request = search.request(query)
    }
    let paging = paging(for: query)
    if let size = paging.size {
      request = request.setting(size.parameter, to: "\(position.size ?? size.rows)")
    }
    return try paging.request(for: position.start, after: request)
  }

  /// The position after a reply; `nil` at the end, with a warning if that comes too early.
  private func following(
    _ position: RESTPosition, _ reply: RESTReply<Item>
  ) -> (RESTPosition?, [Warning]) {
    let (response, paging) = (reply.response, paging(for: reply.query))
    let count = response.rowCount
    let passed = min(position.passed + count, RESTPaging.validRows.upperBound)
    // An empty page often has none, or says that there are none. Pages of an unknown size do not tell how many rows are before them.
    let isCounted = paging.begin == nil || paging.size != nil
    let total = isCounted ? [position.total, response.total].compactMap(\.self).max() : nil
    guard !response.isEndedByRule else {
      // A partition that is left out has no total that would matter.
      if response.warnings.contains(where: { $0.code == .skippedPartition }) { return (nil, []) }
      return (nil, total.flatMap { $0 > passed ? [.endedByRule(passed, of: $0)] : nil } ?? [])
    }
    guard let start = start(after: position, reply, passed) else {
      // A depth explains why some are missing.
      let isAtDepth = response.warnings.contains { $0.code == .depthLimit }
      let shortfall = total.flatMap {
        $0 > passed && !isAtDepth
          ? Warning.fewer(passed, than: $0, last: reply.credibleTotal, in: reply.query) : nil
      }
      let warnings = [
        shortfall ?? contradiction(reply),
        // After an empty first page there is none.
        paging.isUnproved && passed > 0 ? Warning.unproved : nil,
      ]
      return (nil, warnings.compactMap(\.self))
    }
    if let deepest = paging.deepest, passed >= deepest {
      let limit = "the service sends at most \(deepest) records of a list, as \"deepest\" says"
      return (nil, [Warning(.depthLimit, limit)])
    }
    let largest = max(position.largest ?? 0, count)
    return (
      RESTPosition(
        start: start, size: position.size,
        passed: paging.passed(at: start, size: position.size, counting: passed),
        known: position.known.flatMap { $0 > passed ? $0 : nil },
        restart: position.restart, total: total,
        short: count < largest ? count : nil, largest: largest,
        isPromised: response.hasMore == true ? true : nil), []
    )
  }

  private func contradiction(_ reply: RESTReply<Item>) -> Warning? {
    let (response, paging) = (reply.response, paging(for: reply.query))
    if response.hasMore == true {
      return .contradiction("that there are more records, but not where")
    }
    if let next = response.unusableNext {
      return .contradiction("a next page that cannot be requested: \(next.oneLine(atMost: 60))")
    }
    guard case .link = paging.step, response.next == nil, let last = response.lastLink,
      let stored = list.storedLink(
        URL(string: last, relativeTo: reply.request.url)?.absoluteString ?? last,
        otherHosts: paging.otherHosts),
      let own = list.storedLink(reply.request.shownAddress, otherHosts: paging.otherHosts),
      !stored.isSamePage(as: own)
    else { return nil }
    return .contradiction("a last page that is another one, but no next page")
  }

  private func start(
    after position: RESTPosition, _ reply: RESTReply<Item>, _ passed: Int
  ) -> RESTPosition.Start? {
    let (response, paging) = (reply.response, paging(for: reply.query))
    guard response.hasMore != false else { return nil }
    // Some services name a next page without end, others send an empty page before the last: the second one
    // is the end.
    guard response.rowCount > 0 || paging.step.isNamed && position.passed > 0 && position.short != 0
    else { return nil }
    let isShort =
      paging.honorsSize && response.rowCount < position.size ?? 0
      && response.hasMore != true
      // A total that is larger speaks against the end.
      && (response.total ?? position.total).map { $0 <= passed } ?? !paging.confirmsEnd
    return paging.start(
      after: position, counting: response.rowCount, isShort: isShort, named: named(in: reply))
  }

  /// The start of the next page, as a reply names it.
  private func named(in reply: RESTReply<Item>) -> RESTPosition.Start? {
    let request = reply.request
    switch reply.response.next {
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
      let hosts = paging(for: reply.query).otherHosts
      return .link(list.storedLink(absolute, otherHosts: hosts) ?? "")
    }
  }
}

/// The reply to the request of a page.
private struct RESTReply<Item: SourceRecord> {
  let position: RESTPosition
  let query: SearchQuery?
  let request: HTTPRequest
  let response: RESTResponse<Item>
  let fetchedAt: Date
  /// See ``Page/digest``.
  var digest: PageDigest?
  /// See ``Page/unchangedCount``.
  var unchangedCount: Int?

  /// The number of all records as the service says it; `nil` if the rows contradict it.
  var credibleTotal: Int? {
    response.total.flatMap { total in
      let read = position.passed + response.records.count
      return total == read || total > read && response.rowCount > 0 ? total : nil
    }
  }
}

/// The page that is being cut, the pages that cannot be requested again, and whether the service mistakes conditions.
private final class RESTMemory<Item: SourceRecord>: Sendable {
  private struct Start: Hashable {
    let start: RESTPosition.Start
    let query: String?
  }

  /// The oldest are forgotten: then the service refuses their tokens.
  private static var maxLost: Int { 100 }

  private let state = Mutex<(reply: RESTReply<Item>?, lost: [Start], trustsConditions: Bool)>(
    (nil, [], true))

  var trustsConditions: Bool { state.withLock(\.trustsConditions) }

  /// Sends no more conditions: a 304 has contradicted itself, and each such costs a second request.
  func distrustConditions() { state.withLock { $0.trustsConditions = false } }

  func keep(_ reply: RESTReply<Item>) { state.withLock { $0.reply = reply } }

  /// The reply of the page that a position is in.
  func kept(_ position: RESTPosition, of query: SearchQuery?) -> RESTReply<Item>? {
    state.withLock(\.reply).flatMap { reply in
      let isSame =
        reply.query == query && reply.position.start == position.start
        && reply.position.size == position.size
      return isSame ? reply : nil
    }
  }

  func lose(_ start: RESTPosition.Start, of query: SearchQuery?) {
    state.withLock { state in
      state.lost.append(Start(start: start, query: query?.text))
      if state.lost.count > Self.maxLost { state.lost.removeFirst() }
    }
  }

  func isLost(_ start: RESTPosition.Start, of query: SearchQuery?) -> Bool {
    state.withLock { $0.lost.contains(Start(start: start, query: query?.text)) }
  }
}

extension Page {
  /// A page whose response is the one that was read last.
  fileprivate static func unchanged(_ count: Int, _ reply: RESTReply<Item>) -> Page {
    var page = Page(
      [],
      provenance: Provenance(.live, fetchedAt: reply.fetchedAt, endpoint: reply.request.endpoint))
    (page.digest, page.unchangedCount) = (reply.digest, count)
    return page
  }
}

extension Warning {
  fileprivate static func endedByRule(_ passed: Int, of total: Int) -> Warning {
    Warning(
      .endedByRule,
      "the service reports \(total) records, but a rule for errors ends its list after \(passed)")
  }

  /// The service contradicts itself at the end of a list.
  fileprivate static func contradiction(_ words: String) -> Warning {
    Warning(.incomplete, "the service names \(words): there may be more records")
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

extension String {
  /// True if two addresses of a list lead to one page, whatever the order of their parameters.
  ///
  /// One may lack parameters of the other: services name their last page without some that they were asked with.
  fileprivate func isSamePage(as other: String) -> Bool {
    func parts(_ address: String) -> (path: Substring, parameters: Set<Substring>) {
      let halves = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      return (halves[0], Set((halves.count > 1 ? halves[1] : "").split(separator: "&")))
    }
    let (own, others) = (parts(self), parts(other))
    guard own.path == others.path else { return false }
    let common = own.parameters.intersection(others.parameters)
    return own.parameters == others.parameters
      || !common.isEmpty && (common == own.parameters || common == others.parameters)
  }
}
