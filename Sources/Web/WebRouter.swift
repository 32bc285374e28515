import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorServer
import AggregatorTerminal

/// Answers requests for pages, and for the files that they use.
struct WebRouter: Sendable {
  let program: String
  let api: API
  var hasToken = false

  func response(
    to request: ServerRequest, for path: RoutePath<PagePath>, readOnly: Bool
  ) async throws -> ServerResponse {
    let pages = renderer(readOnly: readOnly)
    let part = request.header(HTMLFragment.header).flatMap(HTMLFragment.init)
    switch path.pattern {
    case .start:
      let orders = HomeOrder.allCases.map(\.rawValue).joined(separator: ", ")
      let order = try request.parameter("sort", hint: "the orders are \(orders)") {
        HomeOrder(rawValue: $0)
      }
      return html(
        pages.home(
          await states(of: pages), by: order ?? .name, syncs: await api.lastSyncs(),
          hasSynced: request.parameter("sync") != nil))
    case .sync:
      try request.requireParameters(among: [])
      let states = await states(of: pages)
      let synced = states.filter { $0.source.obstacle(toSyncOf: $0.state) == nil }
      for (source, _) in synced { await api.syncs.start(source, pages: nil) }
      return .redirect(to: synced.count < states.count ? "/?sync=all" : "/")
    case .changes:
      let source = try api.source(named: path.source)
      return try await changes(of: source, request, pages)
    case .add: return try await add(request, pages)
    case .remove: return try await remove(api.source(named: path.source), request, pages)
    case .edit:
      let name = try api.source(named: path.source).name
      guard let adding = api.adding, pages.mayChange(name) else { throw Problem.unknownPath }
      if request.method == "POST" { return try await add(request, pages) }
      try request.requireParameters(among: [])
      return html(pages.edit(try adding.edit(name), record: await sample(of: name)))
    case .key:
      guard let adding = api.adding else { throw Problem.unknownPath }
      let fields = try request.formFields(among: ["setting", "key"])
      let keys = [fields["setting"] ?? "": fields["key"] ?? ""]
      let doubt = try await adding.verifyKeys(keys)
      return saved(try await api.saveKeys(keys), unverifiedBecause: doubt, pages)
    case .search: return html(pages.search(try await search(request), part: part))
    case .sql:
      if let address = Self.addressWithoutOldValues(of: request) { return .redirect(to: address) }
      if let text = request.parameter("sql"), let name = request.parameter("list") {
        let source = try api.source(named: name)
        let sql = try api.availableSQL()
        return .redirect(to: WebAddress.sql(await sql.simplified(text, of: source)))
      }
      let content = try await sql(request)
      return html(pages.sql(content), status: content.answer?.failure?.status ?? 200)
    case .asset:
      guard let asset = Asset.all.first(where: { $0.name == path.source }) else {
        throw Problem.unknownPath
      }
      let body: [UInt8]
      do throws(FormatError) { body = try asset.body } catch {
        throw Problem(500, "io", error.reason, hint: error.remedy)
      }
      return ServerResponse(
        200, asset.type, body,
        headers: [.init("Cache-Control", "private, max-age=31536000, immutable")])
    case .record where path.id == "changes" && part == nil:
      let source = try api.source(named: path.source)
      // A record that is called so comes first.
      let record = try? await source.record(path.id, ServedQuery.plain.with(\.cache, .offline))
      guard record?.records.isEmpty == false else {
        let query = try ChangesQuery(request, of: source, limit: 1)
        return .redirect(
          to: WebAddress.changes(
            source.name, since: request.parameter("since"), of: query.kind, in: query.field),
          status: 308)
      }
      return try await list(path, request, pages, part)
    case .list, .record: return try await list(path, request, pages, part)
    case .delete:
      let (source, query) = (try api.source(named: path.source), try Self.query(of: request))
      guard try await source.delete(path.id) else { throw Problem.unknownPath }
      return .redirect(to: WebAddress.list(source.name, query, deleted: path.id))
    case .restore:
      let (source, query) = (try api.source(named: path.source), try Self.query(of: request))
      _ = try await source.restore(path.id)
      return .redirect(to: WebAddress.record(source.name, path.id, query))
    }
  }

  private func states(
    of pages: HTMLRenderer
  ) async -> [(source: any ServedSource, state: Result<SourceState, Problem>)] {
    let states = await pages.sources.concurrentMap { source in
      await Self.result { try await source.state() }
    }
    return zip(pages.sources, states).map { ($0, $1) }
  }

  private func changes(
    of source: any ServedSource, _ request: ServerRequest, _ pages: HTMLRenderer
  ) async throws -> ServerResponse {
    try request.requireParameters(among: ["since", "kind", "field", "cursor"])
    let query = try ChangesQuery(request, of: source, limit: 500)
    let page = await Self.result { try await source.changes(query) }
    var content = ChangesContent(source: source, query: query, page: page)
    content.syncs = await api.lastSyncs(of: source)
    content.sample = await source.sample()
    content.baseline = query.cursor == nil ? content.firstFetch : nil
    let asked = content.asked
    if content.baseline != nil {
      content.page = await Self.result { try await source.changes(asked) }
    }
    if !content.isWhole, query.cursor == nil {
      content.sum = try? await source.changeSummary(since: asked.since)
    }
    content.schemaChanges = (try? await source.schemaChanges()) ?? []
    if content.isEmpty { content.lastDay = try? await source.changeSummary(since: "1d") }
    return html(pages.changes(content), status: content.page.failure?.status ?? 200)
  }

  /// A list, and the record beside it.
  private func list(
    _ path: RoutePath<PagePath>, _ request: ServerRequest, _ pages: HTMLRenderer,
    _ part: HTMLFragment?
  ) async throws -> ServerResponse {
    if let change = try await change(of: path, request) { return change }
    if part == nil, request.parameter("view") == nil, let view = Self.keptView(of: request) {
      return .redirect(to: request.address(replacing: "view", by: view.rawValue))
    }
    let id = path.pattern == .record ? path.id : nil
    let (source, query) = (try api.source(named: path.source), try Self.query(of: request))
    var content = try await content(of: source, query, id, part, request)
    // The status of what was asked for.
    let answer = part == .list ? content.list : content.detail?.answer ?? content.list
    if let wrong = await wrongFilters(of: content) {
      let detail = content.detail
      content = try await self.content(
        of: source, query.with(\.conditions, wrong.rest), nil, part, request)
      (content.detail, content.wrong) = (detail, wrong)
    }
    return html(
      pages.page(content, part: part), status: answer?.failure?.status ?? 200)
  }

  /// The filters for which a list failed; `nil` if it has not, or for another reason.
  private func wrongFilters(of content: SourceContent) async -> WrongFilters? {
    guard case .failure(let problem)? = content.list, problem.status == 400 else { return nil }
    func flaw(of filter: String) async -> Problem? {
      let query = ServedQuery.plain.with(\.conditions, [filter]).with(\.cache, .offline)
      let answer = await Self.result { try await content.source.page(query) }
      return answer.failure.flatMap { $0.status == 400 ? $0 : nil }
    }
    var wrong: WrongFilters?
    var rest: [String] = []
    for condition in content.query.conditions {
      guard await flaw(of: condition) != nil else {
        rest.append(condition)
        continue
      }
      // The parts that must all hold are tried one by one, so that the others stay. Each is tried as it was typed: in quotes,
      // half of a condition would be a text.
      var working: [String] = []
      for part in TypedFilter.conjuncts(of: condition) {
        if let problem = await flaw(of: part) {
          wrong = WrongFilters(
            filters: (wrong?.filters ?? []) + [part], problem: wrong?.problem ?? problem)
        } else {
          working.append("(\((try? TypedFilter(part).quoted) ?? part))")
        }
      }
      if !working.isEmpty { rest.append(working.joined(separator: " and ")) }
    }
    wrong?.rest = rest
    return wrong
  }

  /// The page for an error that no other page shows, which leads to the list of its source; strangers are clients whose access
  /// was not checked.
  func response(
    to problem: Problem, of source: String? = nil, readOnly: Bool = true,
    isForStrangers: Bool = false
  ) -> ServerResponse {
    let pages = renderer(readOnly: readOnly)
    guard isForStrangers || [401, 403, 421].contains(problem.status) else {
      return html(pages.failure(problem, of: source), status: problem.status)
    }
    // A client without access must not learn what is served, and gets no other file.
    let nonce = String.randomHexadecimal()
    var response = html(pages.failure(problem, nonce: nonce), status: problem.status)
    response.set("Content-Security-Policy", HTMLRenderer.contentSecurityPolicy(nonce: nonce))
    return response
  }

  private func renderer(readOnly: Bool) -> HTMLRenderer {
    HTMLRenderer(
      program: program, sources: api.sources.sorted { $0.title < $1.title },
      isReadOnly: readOnly, now: api.now(),
      hasSQL: api.sql?.isAvailable == true, hasMatches: api.sql?.hasMatches == true,
      hasToken: hasToken,
      mayAdd: api.adding != nil && !readOnly,
      mayChange: { [adding = api.adding] name in
        !readOnly && adding?.sources.mayChange(name) == true
      })
  }

  // MARK: - Content

  private static func query(of request: ServerRequest) throws(Problem) -> ServedQuery {
    let parameters: Set = [
      "query", "limit", "cursor", "offset", "cache", "where", "sort", "fields", "filters",
      "deleted", "edit", "view", "keep", "field", "operator", "value", "choice", "to", "column",
      "position",
    ]
    var query = try ServedQuery(request, knowing: parameters, isForPeople: true)
    query.chosenView = try request.parameter("view", hint: "choose gallery, small or table") {
      text in
      ServedQuery.View(rawValue: text)
    }
    query.showsFilters = request.parameter("filters") != nil
    query.showsAllFilters = request.parameter("filters") == "all"
    return query
  }

  /// The redirect to the address that a form without script, or a choice of the view, stands for; `nil` for any other.
  private func change(
    of path: RoutePath<PagePath>, _ request: ServerRequest
  ) async throws -> ServerResponse? {
    let source = try api.source(named: path.source)
    var query = try Self.query(of: request)
    func response(_ query: ServedQuery) -> ServerResponse {
      .redirect(
        to: path.pattern == .record
          ? WebAddress.record(source.name, path.id, query) : WebAddress.list(source.name, query))
    }
    let position = try request.parameter("position", hint: "from 1 on") { text in
      Int(text).flatMap { 1...1_000_000_000 ~= $0 ? $0 : nil }
    }
    if let position {
      query.cursor = nil
      query.offset = position - 1
    }
    // Only a choice is kept: a link that someone else has sent is none.
    let isChoice = request.parameter("keep") != nil
    let columns = request.query.filter { $0.name == "column" }.map(\.value)
    if isChoice, columns.isEmpty, let view = query.chosenView {
      return response(query).remembering(view.rawValue, as: Self.viewCookie, of: source)
    }
    if let form = FilterForm(request) {
      let kind = await source.sample().kinds[form.field] ?? .any
      query.conditions += [try form.condition(of: kind)].compactMap(\.self)
      query.cursor = nil
      query.offset = nil
      return response(query)
    }
    guard !columns.isEmpty else { return position == nil ? nil : response(query) }
    // The form sends an empty one with those that are chosen.
    let chosen = columns.filter { !$0.isEmpty }
    let isUsual = chosen.isEmpty || chosen == source.fields.filter(\.isShown).map(\.id)
    query.fields = isUsual ? nil : chosen
    guard isChoice else { return response(query) }
    let text = chosen.joined(separator: ",").percentEncoded
    return response(query).remembering(
      isUsual || text.utf8.count > Self.maxCookieLength ? nil : text, as: Self.columnsCookie,
      of: source)
  }

  /// The name of the cookie with the view that was chosen for a source, by whose path the browser sends it.
  private static let viewCookie = "aggregator_view"

  /// The name of the cookie with the columns that were chosen for the table of a source.
  private static let columnsCookie = "aggregator_columns"
  /// The most bytes of the value of a cookie: browsers keep 4096 with its name and attributes.
  private static let maxCookieLength = 3000

  /// The columns that were chosen for the table of a source, of those that it has; `nil` for the usual ones.
  private static func columns(
    of source: any ServedSource, _ request: ServerRequest
  ) -> [String]? {
    let chosen = request.cookies(named: columnsCookie).first?.percentDecoded ?? ""
    let names = chosen.split(separator: ",").map(String.init)
    let known = names.filter { name in source.fields.contains { $0.id == name } }
    return known.isEmpty ? nil : known
  }

  /// The view that was chosen for a source, which the addresses of its pages name, so that they lead to the same elsewhere.
  private static func keptView(of request: ServerRequest) -> ServedQuery.View? {
    request.cookies(named: viewCookie).first.flatMap(ServedQuery.View.init)
  }

  private func content(
    of source: any ServedSource, _ asked: ServedQuery, _ id: String?, _ part: HTMLFragment?,
    _ request: ServerRequest
  ) async throws -> SourceContent {
    let sample = await source.sample()
    let view =
      asked.chosenView ?? (source.hasImages && sample.hasPictures != false ? .gallery : .table)
    let columns = view == .table ? Self.columns(of: source, request) : nil
    let query = asked.with(\.view, view).with(\.columns, columns)
    // The list and the record are fetched at the same time.
    async let list = part == .detail ? nil : Self.result { try await source.page(query) }
    var content = SourceContent(source: source, query: query)
    content.deleted = request.parameter("deleted")
    content.edited = request.parameter("edit").flatMap { Int($0) }
    if let id { content.detail = await detail(of: id, in: source, query) }
    content.sample = sample
    if part != .detail, !query.conditions.isEmpty {
      content.observedKinds = await source.observedKinds()
    }
    // A filter that does not work is reported by the list.
    if part != .detail, query.showsFilters {
      content.facets = (try? await source.facets(query)) ?? []
      content.local = try? await source.localSummary(query)
    }
    if part != .detail, query.query == nil, query.cursor == nil {
      // A store that cannot be read is reported by the list.
      content.schemaChanges = (try? await source.schemaChanges()) ?? []
      content.hidden = try? await source.deleted()
    }
    if part != .detail {
      content.shortfall = try? await source.shortfall()
      if content.shortfall?.includes(.syncFailed) == true {
        content.lastSync = await api.lastSyncs(of: source).first
      }
    }
    content.list = await list
    // Before any was cached, nothing was known of their pictures.
    if asked.chosenView == nil, view == .gallery, sample.hasPictures == nil,
      case .success(let page)? = content.list, !page.records.isEmpty,
      !page.records.map(\.hasImage).areMostlyTrue
    {
      content.query.view = .table
    }
    // The list has stored a newer state of the record than was read beside it.
    if part == nil, let id, case .success(let page)? = content.list,
      page.summary.provenance?.origin == .live, page.records.contains(where: { $0.id == id }),
      case .success(let found)? = content.detail?.answer,
      found.summary.provenance?.origin == .cached
    {
      content.detail = await detail(of: id, in: source, query)
    }
    if part == nil, let id, let offset = await offset(of: id, in: content) {
      content.query.offset = offset
      content.list = await Self.result { [query = content.query] in try await source.page(query) }
    }
    if case .success(let page)? = content.list, !content.query.readsIndex {
      content.cachedCount = try? await source.cachedCount(of: query, page)
    } else if query.cursor != nil, query.cache != .offline, content.list?.failure != nil,
      (try? await source.page(query.with(\.cache, .offline))) != nil
    {
      content.cachedCount = await source.recordCount()
    }
    // Whoever sees a list may filter it next.
    if part != .detail { source.prepareIndex() }
    return content
  }

  /// A record beside the list.
  private func detail(
    of id: String, in source: any ServedSource, _ query: ServedQuery
  ) async -> DetailContent {
    // A store that cannot be read is reported by the record.
    var detail = DetailContent(
      id: id, answer: await Self.result { try await source.record(id, query) },
      history: try? await source.history(of: id))
    if let record = try? detail.answer.get().records.first {
      detail.links = await RecordLinks(of: record, in: source, among: api.sources)
    }
    return detail
  }

  /// Where a list begins in which a record that a link leads to has others before and after it; `nil` if the list has the
  /// record, or begins where the link says.
  private func offset(of id: String, in content: SourceContent) async -> Int? {
    let query = content.query
    guard query.cursor == nil, query.offset == nil, case .success(let page)? = content.list,
      !page.records.contains(where: { $0.id == id }),
      let offset = try? await content.source.offset(of: id, in: query)
    else { return nil }
    let limit = query.limit ?? min(ListingBounds.standardLimit, content.source.largestPage)
    return max(0, offset - limit / 2)
  }

  /// The address of a query without the values of parameters that it no longer has; `nil` if there are none of these.
  private static func addressWithoutOldValues(of request: ServerRequest) -> String? {
    guard request.method == "GET", let text = request.parameter("sql") else { return nil }
    let known = SQLContent(text: text, tables: []).parameters.map { ":\($0)" }
    let old = request.query.map(\.name).filter { $0.hasPrefix(":") && !known.contains($0) }
    return old.isEmpty ? nil : request.address(replacing: "sql", by: text, without: Set(old))
  }

  private func sql(_ request: ServerRequest) async throws -> SQLContent {
    let sql = try api.availableSQL()
    // Addresses have bounds; a longer query is the body of a form.
    let isForm = request.method == "POST"
    let names = ((isForm ? request.form : nil) ?? request.query).map(\.name)
    // The values of the parameters of a query have their names, such as `:age`.
    let known = Set(["sql"] + names.filter { $0.hasPrefix(":") })
    try request.requireParameters(among: isForm ? [] : known)
    let fields =
      isForm
      ? try request.formFields(among: known)
      : Dictionary(request.query.map { ($0.name, $0.value) }) { $1 }
    // A form may send an empty one.
    let sent = fields["sql"].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    var content = SQLContent(text: sent, tables: await sql.tables(), answer: nil)
    content.saved = api.savedStatements?() ?? []
    guard let text = content.text else { return content }
    for name in content.parameters { content.values[name] = fields[":\(name)"] }
    content.answer = await sql.answer(to: text, content.values.mapValues { SQLValue(typed: $0) })
    return content
  }

  /// The form, what was found at its URL, or the new source, after its proposal was saved.
  private func add(
    _ request: ServerRequest, _ pages: HTMLRenderer
  ) async throws -> ServerResponse {
    guard let adding = api.adding, pages.mayAdd else { throw Problem.unknownPath }
    try request.requireParameters(among: request.method == "POST" ? [] : ["replace"])
    guard request.method == "POST" else {
      var content = AddContent()
      if let name = request.parameter("replace") {
        guard pages.mayChange(name) else { throw Problem.unknownPath }
        let manifest = try adding.edit(name).proposal.document["manifest"]
        (content.name, content.isReplacing) = (name, true)
        content.url = manifest?["url"]?.string ?? ""
        content.hints["rows"] = manifest?["rows"]?.string
      }
      return html(pages.add(content))
    }
    let sent = (request.form ?? []).map(\.name).filter {
      $0.hasPrefix("field:") || $0.hasPrefix("key:")
    }
    let fields = try request.formFields(
      among: Set(
        [
          "url", "name", "replace", "proposal", "title", "link", "image", "key", "keyPlace",
          "keyID",
        ]
          + sent
          + SourceAdding.hints))
    if let id = fields["proposal"] {
      func values(_ prefix: String) -> [String: String] {
        let names = sent.filter { $0.hasPrefix(prefix) }
        return Dictionary(
          uniqueKeysWithValues: names.map { (String($0.dropFirst(prefix.count)), fields[$0] ?? "") }
        )
      }
      var edits = ProposedSource.Edits()
      (edits.title, edits.link, edits.image) = (fields["title"], fields["link"], fields["image"])
      edits.id = fields["id"]?.nonBlank
      edits.name = fields["name"]
      let names = values("field:")
      if !names.isEmpty { edits.names = names }
      let keys = values("key:").filter { $0.value.nonBlank != nil }
      // Nothing is saved if one is rejected, and no key if the source cannot be saved.
      do {
        let doubt = keys.isEmpty ? nil : try await adding.verifyKeys(keys)
        let name = try await api.save(id, edits).name
        if !keys.isEmpty { _ = try await api.saveKeys(keys) }
        return saved(name, unverifiedBecause: doubt, pages)
      } catch {
        guard let answer = adding.answer(by: id), answer.proposal.edited != nil else { throw error }
        let problem = Problem(error)
        let record = await sample(of: answer.proposal.name)
        return html(pages.edit(answer, edits, problem, record: record), status: problem.status)
      }
    }
    var content = AddContent()
    content.url = Self.url(typed: fields["url"] ?? "")
    content.name = fields["replace"] ?? fields["name"] ?? ""
    content.isReplacing = fields["replace"] != nil
    guard !content.isReplacing || pages.mayChange(content.name) else { throw Problem.unknownPath }
    content.hints = fields.filter { SourceAdding.hints.contains($0.key) && !$0.value.isEmpty }
    let (url, name, hints) = (content.url, content.name, content.hints)
    let isReplacing = content.isReplacing
    let key = adding.key(
      fields["key"], in: fields["keyPlace"], orOf: fields["keyID"], for: url)
    content.keyPlace = fields["keyPlace"] ?? key?.place
    content.keyID = key?.id
    content.answer = await Self.result {
      try await adding.answer(
        for: name.isEmpty ? adding.name(for: url) : name, at: url, given: hints,
        signedBy: key, isReplacing: isReplacing)
    }
    if !isReplacing, let manifest = try? content.answer?.get().proposal.document["manifest"] {
      content.known = adding.name(ofSourceLike: manifest, among: pages.sources.map(\.name))
    }
    var response = html(pages.add(content), status: content.answer?.failure?.status ?? 200)
    // It may contain a key that was typed.
    response.set("Cache-Control", "no-store")
    return response
  }

  /// A cached record of a source; `nil` if there is none.
  private func sample(of name: String) async -> JSON? {
    let query = ServedQuery.plain.with(\.cache, .offline).with(\.limit, 1)
    return try? await api.source(named: name).page(query).records.first?.object
  }

  /// A URL that may have been typed without its scheme, as in the address field of a browser.
  private static func url(typed text: String) -> String {
    let text = text.trimmed
    let isLocal = text.prefixMatch(of: /(localhost|127\.[0-9.]+)(:[0-9]+)?([\/?#]|$)/) != nil
    guard
      isLocal
        || text.prefixMatch(of: /[A-Za-z0-9\-]+(\.[A-Za-z0-9\-]+)+(:[0-9]+)?([\/?#]|$)/) != nil
    else { return text }
    return (isLocal ? "http://" : "https://") + text
  }

  /// The list of a source that was saved, or a page that says why its new keys may be wrong.
  private func saved(
    _ name: String, unverifiedBecause doubt: String?, _ pages: HTMLRenderer
  ) -> ServerResponse {
    guard let doubt else { return .redirect(to: WebAddress.list(name, ServedQuery.plain)) }
    return html(pages.unverified(name, because: doubt))
  }

  /// The question whether a source is to be removed, and after that was confirmed, that it is.
  private func remove(
    _ source: any ServedSource, _ request: ServerRequest, _ pages: HTMLRenderer
  ) async throws -> ServerResponse {
    guard let adding = api.adding, pages.mayChange(source.name) else { throw Problem.unknownPath }
    try request.requireParameters(among: [])
    var leftovers = try await adding.sources.leftovers(of: source.name)
    guard request.method == "POST" else { return html(pages.removal(of: source, leftovers)) }
    let fields = try request.formFields(among: ["confirm", "data", "keys"])
    let withData = fields["data"] != nil && leftovers.data != nil
    let keys = fields["keys"] == nil ? [] : leftovers.keys
    let undo = try await api.remove(source, withData: withData, keys: keys)
    if withData { leftovers.data = nil }
    leftovers.keys.removeAll(where: keys.contains)
    var rest = pages
    rest.sources.removeAll { $0.name == source.name }
    return html(rest.removed(source, leaving: leftovers, undo: undo))
  }

  private func search(_ request: ServerRequest) async throws -> SearchContent {
    let query = try ServedQuery(
      request, knowing: ["query", "cache", "where", "sort"], isForPeople: true)
    let answers = query.query == nil ? [] : try await api.results(of: query)
    let samples = await answers.concurrentMap { await $0.source.sample() }
    return SearchContent(
      query: query, answers: answers,
      samples: Dictionary(zip(answers.map(\.source.name), samples)) { $1 })
  }

  private static func result<Answer: Sendable>(
    _ body: @Sendable () async throws -> Answer
  ) async -> Result<Answer, Problem> {
    do { return .success(try await body()) } catch { return .failure(Problem(error)) }
  }

  // MARK: - Responses

  private func html(_ text: String, status: Int = 200) -> ServerResponse {
    ServerResponse(
      status, HTMLRenderer.contentType, Array(text.utf8),
      headers: [.init("Cache-Control", "private, no-cache"), .init("Vary", HTMLFragment.header)])
  }
}

extension Problem {
  var title: String {
    switch status {
    case 400: "This address does not work"
    case 401: "Access token required"
    case 403, 421: "Refused"
    case 404: "Not found"
    case 413, 431: "Too large"
    case 422: "Not saved"
    case 429, 503: "Not available now"
    case 502: "The service failed"
    case 504: "The service took too long"
    default: "Something went wrong"
    }
  }
}

extension ServerResponse {
  /// This response with a cookie that a browser sends with the pages of a source for a year; `nil` deletes it.
  fileprivate func remembering(
    _ value: String?, as name: String, of source: any ServedSource
  ) -> ServerResponse {
    var response = self
    response.set(
      "Set-Cookie",
      "\(name)=\(value ?? ""); Path=\(RoutePath(PagePath.list, source.name).text); "
        + "Max-Age=\(value == nil ? 0 : 31_536_000); HttpOnly; SameSite=Strict")
    return response
  }

  fileprivate static func redirect(to address: String, status: Int = 303) -> ServerResponse {
    ServerResponse(
      status, "text/plain; charset=utf-8", [],
      headers: [.init("Location", address), .init("Cache-Control", "no-store")])
  }
}
