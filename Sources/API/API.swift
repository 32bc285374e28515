import AggregatorHTTP
package import AggregatorKit
import AggregatorQueries
import AggregatorSelection
package import AggregatorServer
import AggregatorTerminal
import Synchronization

/// The HTTP API, `/api/v1/…`: the same answers as `--json`.
package struct API: Sendable {
  package var sql: ServedSQL?
  package var adding: SourceAdding?
  /// Returns the sources that other programs, or this server, have changed since its last call; it looks once a second, or
  /// at once.
  package var changes: (@Sendable (_ atOnce: Bool) -> [SourceChange])?
  /// Returns the queries in SQL that the command line has saved.
  package var savedStatements: (@Sendable () -> [(name: String, text: String)])?
  package let syncs: SyncJobs
  package let now: @Sendable () -> Date
  var late = LateSearches()
  private let list: SourceList

  package var sources: [any ServedSource] { list.sources.withLock(\.self) }

  package init(
    sources: [any ServedSource], sql: ServedSQL? = nil, adding: SourceAdding? = nil,
    syncs: SyncJobs,
    now: @escaping @Sendable () -> Date
  ) {
    list = SourceList(sources)
    self.sql = sql
    self.adding = adding
    self.syncs = syncs
    self.now = now
  }

  package func response(
    to request: ServerRequest, for path: RoutePath<APIPath>
  ) async throws -> ServerResponse {
    guard path.pattern.isJSONOnly, request.method == "GET" else {
      return try await answer(to: request, for: path)
    }
    try Format.requireJSON(for: request)
    var response = try await answer(to: request, for: path)
    response.set("Vary", "Accept")
    return response
  }

  private func answer(
    to request: ServerRequest, for path: RoutePath<APIPath>
  ) async throws -> ServerResponse {
    switch path.pattern {
    case .root:
      try request.requireParameters(among: [])
      var response = await list()
      // https://www.rfc-editor.org/rfc/rfc8631
      response.set("Link", "<\(CommonPath.document.rawValue)>; rel=\"service-desc\"")
      return response
    case .sources:
      try request.requireParameters(among: [])
      return request.method == "POST" ? try await add(request) : await list()
    case .sql: return try await sql(request)
    case .syncs:
      try request.requireParameters(among: [])
      return await listSyncs()
    case .sync: return try await sync(try source(named: path.source), request)
    case .search: return try await search(request)
    case .list where request.method == "DELETE":
      let source = try self.source(named: path.source)
      // As `/api/v1/things/$ID` is with an empty ID, which would remove all that the source has.
      guard !request.rawPath.hasSuffix("/") else {
        throw Problem(
          404, "notFound", "the path ends in a slash, without the ID of a record",
          hint: "DELETE \(path.text) removes the source itself")
      }
      try request.requireParameters(among: ["data"])
      let withData = try request.parameter("data", hint: "true or false") { Bool($0) } ?? false
      try await remove(source, withData: withData)
      return .noContent()
    case .list: return try await page(of: try source(named: path.source), request)
    case .record where request.method == "DELETE":
      let source = try self.source(named: path.source)
      try request.requireParameters(among: [])
      return try changed(
        try await source.delete(try id(of: path)), path.id, of: source, else: "not found")
    case .record:
      return try await record(try id(of: path), of: try source(named: path.source), request)
    case .image:
      return try await image(try id(of: path), of: try source(named: path.source), request)
    case .restore:
      let source = try self.source(named: path.source)
      try request.requireParameters(among: [])
      return try changed(
        try await source.restore(try id(of: path)), path.id, of: source, else: "is not deleted")
    case .changes: return try await changes(of: try source(named: path.source), request)
    case .facets:
      let source = try self.source(named: path.source)
      let query = try ServedQuery(request, knowing: ["query", "where"])
      let facets = try await source.facets(query)
      var summary = try await source.localSummary(query)
      (summary.count, summary.total) = (facets.count, facets.count)
      return response(
        facets.map { ServedRecord(id: $0.field, object: $0.object) }, verb: "facets",
        of: source.name, summary)
    case .summary: return try await summary(of: try source(named: path.source), request)
    case .schemaChanges:
      let source = try self.source(named: path.source)
      try request.requireParameters(among: [])
      let changes = try await source.schemaChanges()
      return response(
        changes.map { ServedRecord(id: $0.id, object: $0.object) }, verb: "diff", of: source.name,
        ListingSummary(count: changes.count, total: changes.count))
    }
  }

  package func source(named name: String) throws(Problem) -> any ServedSource {
    guard let source = sources.first(where: { $0.name == name }) else {
      let names = sources.map(\.name)
      throw Problem(
        404, "unknownSource", "unknown source \"\(name.oneLine(atMost: 80))\"",
        hint: "the sources are \(names.joined(separator: ", "))"
      ).suggesting(nearest(to: name, in: names))
    }
    return source
  }

  private func id(of path: RoutePath<APIPath>) throws(Problem) -> String {
    guard path.id.unicodeScalars.count <= ServedQuery.maxIDLength else {
      throw Problem(
        400, "invalidRequest", "the ID is too long",
        hint: "at most \(ServedQuery.maxIDLength) characters")
    }
    return path.id
  }

  // MARK: - Records

  private func page(
    of source: any ServedSource, _ request: ServerRequest
  ) async throws -> ServerResponse {
    var query = try ServedQuery(
      request,
      knowing: [
        "query", "limit", "cursor", "offset", "all", "cache", "fields", "where", "sort", "format",
      ])
    query.file = request.acceptedFile
    query.format = query.file == nil ? try .served(to: request, or: ListFile.allCases) : .ndjson
    var page = try await source.page(query)
    // The number that the page of the list has.
    if page.body == nil, page.summary.total == nil, !query.readsIndex {
      page.summary.total = try? await source.cachedCount(of: query, page)
    }
    // What the service reports is no number of records that it has been seen not to send.
    if !query.isWhole, query.query == nil, !query.readsIndex,
      let reason = try? await source.shortfall()?.reasons.first(where: { $0.code == .sentFewer })
    {
      page.summary.total = nil
      if !page.summary.warnings.contains(where: { $0.warning.code == reason.code }) {
        page.summary.warnings.append(SourceWarning(source.name, reason))
      }
    }
    var response = response(page, of: source, query)
    response.setLinks(
      from: page.summary, of: request,
      at: page.offsets(by: query.limit ?? min(ListingBounds.standardLimit, source.largestPage)))
    return response
  }

  /// The most changes of an answer that has all of them.
  private static let maxChanges = 100_000

  /// The changes of records since a point, as `diff` prints them.
  private func changes(
    of source: any ServedSource, _ request: ServerRequest
  ) async throws -> ServerResponse {
    try request.requireParameters(among: [
      "since", "kind", "field", "limit", "cursor", "all", "format",
    ])
    let format = try Format.served(to: request)
    let isAll = try request.parameter("all", hint: "true or false") { Bool($0) } ?? false
    let limits = 1...ChangesQuery.largestLimit
    let limit = try request.parameter("limit", hint: "from 1 to \(ChangesQuery.largestLimit)") {
      Int($0).flatMap { limits ~= $0 ? $0 : nil }
    }
    var query = try ChangesQuery(request, of: source, limit: limit ?? ChangesQuery.defaultLimit)
    let isFirst = query.cursor == nil
    guard var page = try await source.changes(query) else {
      throw Problem(
        404, "notFound", "the changes of \(source.name) are not known since then",
        hint: query.since == "sync"
          ? ChangeSummary.noSync : "they are known from the first sync on")
    }
    query.limit = ChangesQuery.largestLimit
    while isAll, page.entries.count < Self.maxChanges, let cursor = page.next {
      query.cursor = cursor
      guard let more = try await source.changes(query) else { break }
      page.entries += more.entries
      page.summary.unreadable = page.summary.unreadable + more.summary.unreadable
      page.next = more.next
    }
    let count = page.entries.count
    let isWhole = isFirst && page.next == nil && page.summary.gap == nil
    let first = page.summary.firstSync.map { SourceWarning(source.name, Warning(.firstSync, $0)) }
    let summary = ListingSummary(
      count: count, total: isWhole ? count : nil, next: page.next,
      warnings: page.summary.warnings(of: source.name) + [first].compactMap(\.self))
    var response = response(page.entries, of: source, summary, as: format)
    response.set("Vary", "Accept")
    response.setLinks(from: summary, of: request)
    return response
  }

  private func response(
    _ changes: [ChangeEntry], of source: any ServedSource, _ summary: ListingSummary,
    as format: Format
  ) -> ServerResponse {
    let fields = ChangeEntry.fields
    guard format != .json else {
      let records = changes.map { ServedRecord(id: $0.id, object: fields.object(of: $0)) }
      return self.response(records, verb: "diff", of: source.name, summary)
    }
    let listing = Listing<ChangeEntry>(
      "diff", of: source.name, fields: fields, layout: RecordLayout(card: fields.map(\.name)))
    var writer = format.servedWriter(for: listing)
    let text = writer.begin() + writer.append(changes) + writer.finish(summary)
    var reply = ServerResponse(200, format.contentType, Array(text.utf8))
    reply.headers += summary.headers
    reply.setFields(of: summary, at: now())
    return reply
  }

  /// A summary of the values of a field in the cached records.
  private func summary(
    of source: any ServedSource, _ request: ServerRequest
  ) async throws -> ServerResponse {
    var query = try ServedQuery(
      request, knowing: ["query", "where", "format", "field", "kind"])
    query.format = try .served(to: request)
    guard let field = request.parameter("field") else {
      throw Problem(
        400, "invalidRequest", "missing parameter \"field\"",
        hint: "the fields are \(source.fields.map(\.id).joined(separator: ", "))")
    }
    let kinds = FieldSummary.Kind.allCases.map(\.rawValue).joined(separator: ", ")
    let kind = try request.parameter("kind", hint: "the kinds are \(kinds)") { name in
      FieldSummary.Kind(rawValue: name)
    }
    let summary = FieldSummary(kind ?? .groups, of: [field])
    return response(try await source.summary(summary, query), of: source, query)
  }

  /// A list in the format of a query.
  private func response(
    _ page: ServedListing, of source: any ServedSource, _ query: ServedQuery
  ) -> ServerResponse {
    var response: ServerResponse
    if let body = page.body {
      response = ServerResponse(
        200, query.file?.mediaType ?? query.format.contentType, body)
      response.headers += page.summary.headers
      response.setFields(of: page.summary, at: now())
    } else {
      response = self.response(
        page.records, verb: query.query == nil ? "list" : "search", of: source.name,
        matching: query.query, page.summary)
    }
    response.set("Vary", "Accept")
    return response
  }

  private func record(
    _ id: String, of source: any ServedSource, _ request: ServerRequest
  ) async throws -> ServerResponse {
    let page = try await source.record(id, try ServedQuery(request, knowing: ["cache", "fields"]))
    return response(page.records, verb: "show", of: source.name, page.summary)
  }

  /// The most results of each source in a search of all of them.
  static let largestSearch = 100

  private func list() async -> ServerResponse {
    let records = await sources.concurrentMap { source in
      ServedRecord(
        id: source.name,
        object: [
          "name": .string(source.name), "summary": .string(source.summary),
          "fields": .array(
            await source.fieldsWithKinds().map {
              ["name": .string($0.id), "kind": .string($0.kind), "about": .string($0.about)]
            }),
          "images": .bool(source.hasImages), "endless": .bool(source.isEndless),
          "cached": await source.recordCount().json,
        ])
    }
    return response(
      records, verb: "sources", of: nil, ListingSummary(count: records.count, total: records.count))
  }

  /// Adds the source at a URL, or only tells what was found.
  private func add(_ request: ServerRequest) async throws -> ServerResponse {
    guard let adding else { throw Problem.unknownPath }
    let members = try request.bodyMembers(
      among: Set(["name", "url", "save", "key", "keyPlace"] + SourceAdding.hints))
    guard case .string(let url)? = members["url"] else {
      throw Problem(
        400, "invalidRequest", "the body needs \"url\"", hint: "the URL of a list, as a text")
    }
    let isSaved = members["save"] == true
    guard isSaved || members["save"] ?? false == false else {
      throw Problem(400, "invalidRequest", "invalid value for save", hint: "true or false")
    }
    func text(_ key: String) throws(Problem) -> String? {
      guard let value = members[key] else { return nil }
      guard case .string(let text) = value else {
        throw Problem(400, "invalidRequest", "invalid value for \(key)", hint: "a text")
      }
      return text
    }
    let name = try text("name") ?? adding.name(for: url)
    var hints: [String: String] = [:]
    for key in SourceAdding.hints { hints[key] = try text(key) }
    let key = adding.key(try text("key"), in: try text("keyPlace"), orOf: nil, for: url)
    let answer = try await adding.answer(for: name, at: url, given: hints, signedBy: key)
    if isSaved {
      guard answer.proposal.isProved || answer.proposal.obstacle != nil else {
        throw Problem(
          422, "partial", "the paging is not proved", hint: "add it on the page, or by sources add")
      }
      _ = try await save(answer.id)
    }
    var response = ServerResponse.json(
      JSON.object(
        [.init("name", .string(name)), .init("saved", .bool(isSaved))]
          + answer.proposal.document.members
          + [.init("choices", answer.proposal.choicesObject)]
      ).text)
    if isSaved {
      response.status = 201
      response.set("Location", RoutePath(APIPath.list, name).text)
    }
    return response
  }

  /// Serves the sources as their folder and the settings have them now.
  package func refresh(atOnce: Bool = false) {
    guard let changes else { return }
    // One after the other, so that none is replaced by what it was before.
    list.sources.withLock { sources in
      for change in changes(atOnce) {
        late.forget(change.name)
        let index = sources.firstIndex { $0.name == change.name }
        switch (index, change.source) {
        case (let index?, let source?):
          sources[index] = source
          syncs.end(change.name, replacedBy: source)
        case (nil, let source?):
          sources.append(source)
          syncs.allow(change.name)
        case (_, nil):
          if let index { sources.remove(at: index) }
          sql?.remove(change.name)
          syncs.end(change.name)
        }
      }
    }
  }

  /// Saves what was found, or the changed source, and serves it.
  ///
  /// - Throws: ``Problem`` with status 409 while the source that is changed syncs, or is changed by another call.
  package func save(
    _ id: String, _ edits: ProposedSource.Edits = .init()
  ) async throws -> any ServedSource {
    guard let adding else { throw Problem.unknownPath }
    let edited = adding.answer(by: id)?.proposal.edited.flatMap { try? source(named: $0) }
    if let edited { try await refuseSyncs(of: edited) }
    defer { if let edited { allowSyncs(of: edited) } }
    let name = try await adding.save(id, edits)
    refresh(atOnce: true)
    return try source(named: name)
  }

  private func refuseSyncs(of source: any ServedSource) async throws(Problem) {
    guard await syncs.refuse(source) else {
      throw Problem(
        409, "busy", "\(source.name): a sync or another change is running",
        hint: "stop the sync, or try again")
    }
  }

  /// Allows syncs after a change, unless the source is gone by it.
  private func allowSyncs(of source: any ServedSource) {
    if sources.contains(where: { $0.name == source.name }) { syncs.allow(source.name) }
  }

  /// Removes an added source from this machine and this server.
  ///
  /// - Parameters:
  ///   - withData: True to remove its cached data, too.
  ///   - keys: The keys to remove from the settings file.
  /// - Returns: The ID by which ``save(_:_:)`` adds it again, without what was removed with it; `nil` if that is not
  ///   possible.
  /// - Throws: ``Problem`` with status 409 while the source syncs, or is changed by another call.
  @discardableResult
  package func remove(
    _ source: any ServedSource, withData: Bool = false, keys: [String] = []
  ) async throws -> String? {
    guard let adding, adding.sources.mayChange(source.name) else { throw Problem.unknownPath }
    try await refuseSyncs(of: source)
    // Another one may have its name by then.
    defer { allowSyncs(of: source) }
    let undo = try await adding.remove(source.name, withData: withData, keys: keys)
    refresh(atOnce: true)
    return undo
  }

  /// Saves verified keys of a source, by their settings, and serves the source with them; returns its name.
  package func saveKeys(_ values: [String: String]) async throws -> String {
    guard let adding else { throw Problem.unknownPath }
    let name = try await adding.saveKeys(values)
    refresh(atOnce: true)
    return name
  }

  private func search(_ request: ServerRequest) async throws -> ServerResponse {
    let query = try ServedQuery(
      request, knowing: ["query", "limit", "cache", "where", "sort"])
    guard query.query != nil else {
      throw Problem(
        400, "invalidRequest", "missing parameter \"query\"",
        hint: "q is another name of query")
    }
    let limit = query.limit ?? 1
    guard 1...Self.largestSearch ~= limit else {
      throw Problem(
        400, "invalidRequest", "invalid value \"\(limit)\" for limit",
        hint: "from 1 to \(Self.largestSearch)")
    }
    let found = try await results(of: query)
    let failures = found.compactMap(\.page.failure)
    if let failure = failures.first, failures.count == found.count { throw failure }
    let answers = found.map { found in
      SourceAnswer(
        found.source.name, (try? found.page.get().summary) ?? ListingSummary(count: 0),
        found.page.failure.map { Warning(Warning.Code($0.code), $0.message) })
    }
    let records = found.flatMap { found in
      ((try? found.page.get().records) ?? []).map { record in
        ServedRecord(id: record.id, object: record.object.named(found.source.name))
      }
    }
    return response(
      records, verb: "search", of: nil, matching: query.query, ListingSummary(joining: answers))
  }

  package func availableSQL() throws(Problem) -> ServedSQL {
    guard let sql, sql.isAvailable else {
      throw Problem(501, "unsupported", "there is no store that answers queries in SQL")
    }
    return sql
  }

  /// The query of a request: in its address, or of any length in its body.
  private func sqlText(of request: ServerRequest) throws(Problem) -> String {
    guard request.method == "POST" else {
      try request.requireParameters(among: ["sql", "format", "limit"])
      let text = try request.parameter(
        "sql", hint: "at most \(ServedSQL.maxLength) characters; send longer ones by POST"
      ) { $0.unicodeScalars.count <= ServedSQL.maxLength ? $0 : nil }
      guard let text else {
        throw Problem(
          400, "invalidRequest", "missing parameter \"sql\"",
          hint: "set it to a SELECT, such as sql=SELECT%201")
      }
      return text
    }
    try request.requireParameters(among: ["format", "limit"])
    let members = try request.bodyMembers(among: ["sql"])
    guard case .string(let text)? = members["sql"],
      1...ServedSQL.maxBodyLength ~= text.unicodeScalars.count
    else {
      throw Problem(
        400, "invalidRequest", "the body needs \"sql\"",
        hint: "a text of at most \(ServedSQL.maxBodyLength) characters")
    }
    return text
  }

  private func sql(_ request: ServerRequest) async throws -> ServerResponse {
    let text = try sqlText(of: request)
    let format = try Format.served(to: request)
    let limit = try request.parameter("limit", hint: "from 1 to \(ServedSQL.largestLimit)") {
      Int($0).flatMap { 1...ServedSQL.largestLimit ~= $0 ? $0 : nil }
    }
    let answer = try await availableSQL().document(of: text, as: format, atMost: limit ?? .max)
    var response = ServerResponse(
      200, format.contentType, answer.body ?? [],
      headers: [.init("Cache-Control", "private, no-cache"), .init("Vary", "Accept")])
    if format != .json { response.headers += answer.summary.headers }
    return response
  }

  /// The results of all sources, which are searched at once, in their order, and like `search` does.
  ///
  /// A source without the fields of the conditions and the order is left out. For a page, local data stand in for a service
  /// that has not answered yet.
  package func results(of query: ServedQuery) async throws -> [SourceListing] {
    if query.readsIndex {
      try query.requireCachedRecords()
      try query.selection.requireFields(in: sources.map { $0.fields.map(\.id) })
    }
    let mayBeLate = query.isForPeople && query.cache == .normal && !query.readsIndex
    return await sources.concurrentMap { [late] source in
      let answer: @Sendable () async -> SourceListing = { await source.results(of: query) }
      guard mayBeLate else { return await answer() }
      if let listing = await late.answer(from: source, to: query, answer) { return listing }
      return await source.results(of: query.with(\.cache, .offline)).beforeItsService
    }
  }

  func response(
    _ records: [ServedRecord], verb: String, of source: String?, matching query: String? = nil,
    _ summary: ListingSummary
  ) -> ServerResponse {
    var listing = Listing<ServedRecord>(
      verb, of: source, query: query, fields: [], layout: RecordLayout(card: []))
    listing.object = \.object
    var writer = EnvelopeWriter(listing)
    let text = writer.begin() + writer.append(records) + writer.finish(summary)
    var response = ServerResponse(200, Format.json.contentType, Array(text.utf8))
    response.setFields(of: summary, at: now())
    return response
  }

  // MARK: - Images

  private func image(
    _ id: String, of source: any ServedSource, _ request: ServerRequest
  ) async throws -> ServerResponse {
    let query = try ServedQuery(request, knowing: ["cache", "number", "size"])
    let sizes = ImageSize.allCases.map(\.rawValue).joined(separator: ", ")
    let size = try request.parameter("size", hint: "the sizes are \(sizes)") {
      ImageSize(rawValue: $0)
    }
    let number = try request.parameter("number", hint: "from 1 to 1000") { text in
      Int(text).flatMap { 1...1000 ~= $0 ? $0 : nil }
    }
    let image = try await source.image(id, number: number, size ?? .medium, query.cache)
    let (type, bytes) = (image.item.type.mediaType, "application/octet-stream")
    let isOpaque = request.weight(ofType: type) < request.weight(ofType: bytes)
    var response = ServerResponse(200, isOpaque ? bytes : type, Array(image.item.bytes))
    if image.item.type == .svg {
      // An `img` runs and loads nothing of it; this holds for who opens its address.
      response.set(
        "Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'")
    }
    response.set("Cache-Control", "private, max-age=86400")
    response.set("Vary", "Accept")
    response.set(CombinedProvenance(image.provenance), at: now())
    return response
  }

  // MARK: - Changes

  private func changed(
    _ isDone: Bool, _ id: String, of source: any ServedSource, else words: String
  ) throws(Problem) -> ServerResponse {
    guard isDone else {
      throw Problem(
        404, "notFound", "\(source.noun.one) \(id.oneLine(atMost: 80)) \(words)")
    }
    return .noContent()
  }
}

/// A source that has changed.
package struct SourceChange: Sendable {
  let name: String
  /// `nil` if it was removed.
  let source: (any ServedSource)?

  package init(_ name: String, _ source: (any ServedSource)?) {
    (self.name, self.source) = (name, source)
  }
}

/// The sources of a server, which change while it runs.
private final class SourceList: Sendable {
  let sources: Mutex<[any ServedSource]>

  init(_ sources: [any ServedSource]) { self.sources = Mutex(sources) }
}

extension ServedSource {
  /// The results of this source in a search of several.
  fileprivate func results(of query: ServedQuery) async -> SourceListing {
    var query = query
    query.limit = min(query.limit ?? SearchOfSources.defaultLimit, largestPage)
    query.time = SearchOfSources.defaultTime
    do {
      var page = try await page(query)
      // The number of few cached records that match is known soon.
      if query.isForPeople, page.summary.total == nil, page.summary.next != nil {
        page.summary.total = try? await cachedCount(of: query, page)
        if page.summary.total == nil { page.cachedMatches = await knownCount(of: query) }
      }
      return SourceListing(source: self, page: .success(page))
    } catch let error as CommandError where query.readsIndex && error.code == .usage {
      let reason = SourceWarning(name, .leftOut(because: error.message))
      return SourceListing(source: self, page: .success(ServedListing(warnings: [reason])))
    } catch {
      return SourceListing(source: self, page: .failure(Problem(error)))
    }
  }
}

extension ServedListing {
  /// The offsets of the page before this one and of the last one, by their relations; none of a list whose positions are
  /// unknown.
  fileprivate func offsets(by size: Int) -> [(relation: String, offset: Int)] {
    guard let offset, let total = summary.total, total > 0 else { return [] }
    let before = ("prev", max(0, min(offset, total) - size))
    return (offset > 0 ? [before] : []) + [("last", (total - 1) / size * size)]
  }
}

extension SourceListing {
  /// These local results, or none after a failure, with the reason that the service has not answered yet.
  fileprivate var beforeItsService: SourceListing {
    let reason = SourceError(.timedOut, "the service has not answered yet")
    var page = (try? page.get()) ?? ServedListing()
    page.summary.provenance?.reason = reason
    page.summary.warnings.insert(
      SourceWarning(source.name, Warning(Warning.Code(reason.code), reason.message)), at: 0)
    return SourceListing(source: source, page: .success(page), isLate: true)
  }
}

extension Problem {
  package static let unknownPath = Problem(
    404, "notFound", "no such path", hint: "/openapi.json describes all paths")
}

extension Facet {
  fileprivate var object: JSON {
    [
      "field": .string(field), "label": .string(label), "range": .bool(isRange),
      "values": .array(
        frequent.map {
          ["value": .string($0.text), "count": .integer($0.count), "where": .string($0.condition)]
        }),
      "others": .integer(others), "missing": .integer(missing),
    ]
  }
}

extension ServerResponse {
  package static func json(_ text: String) -> ServerResponse {
    ServerResponse(
      200, "application/json", Array(text.utf8),
      headers: [.init("Cache-Control", "private, no-cache")])
  }

  /// The next page, the first one, and those at offsets, by their relations (RFC 8288).
  fileprivate mutating func setLinks(
    from summary: ListingSummary, of request: ServerRequest,
    at offsets: [(relation: String, offset: Int)] = []
  ) {
    let next = summary.next.map {
      ("next", request.address(replacing: "cursor", by: $0.description, without: ["offset"]))
    }
    let first = ("first", request.address(replacing: "cursor", by: nil, without: ["offset"]))
    let others = offsets.map { relation, offset in
      (relation, request.address(replacing: "offset", by: String(offset), without: ["cursor"]))
    }
    let links = [next].compactMap(\.self) + [first] + others
    set("Link", links.map { "<\($1)>; rel=\"\($0)\"" }.joined(separator: ", "))
  }

  fileprivate mutating func setFields(of summary: ListingSummary, at now: Date) {
    set("Cache-Control", "private, no-cache")
    if let provenance = summary.provenance { set(provenance, at: now) }
  }

  fileprivate mutating func set(_ provenance: CombinedProvenance, at now: Date) {
    set("X-Aggregator-Origin", provenance.origin.rawValue)
    if provenance.origin != .live, let date = provenance.fetchedAt {
      set("Age", String(max(0, Int(now.timeIntervalSince(date)))))
    }
  }
}
