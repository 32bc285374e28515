import AggregatorFormats
package import AggregatorKit
package import DeclaredSource
import Synchronization

/// Finds out what a manifest does not say, and proves the paging by reading a second page.
package struct Prober: Sendable {
  let name: String
  let environment: PluginEnvironment

  /// Decides what the responses leave open.
  let choose: Proposal.Choice

  /// The documentation of the service; `nil` if there is none.
  @Indirect var description: ListDescription?

  /// The list of the same service that was requested before; `nil` for the first.
  @Indirect var previous: Proposal?

  /// False for one list of several, whose rows have the same numbers.
  var mayNumberRows = true

  private static let maxOptions = 9
  static let maxProbes = 6

  /// Completes a manifest that has at least a URL.
  ///
  /// - Throws: ``SourceError`` of the first request, `malformed` if the response has no list of objects, and
  ///   `rateLimited` of any request.
  ///   `isProbing` tries more requests, see ``probe(_:_:)``.
  func complete(
    _ hints: Manifest, isSingle: Bool = false, isProbing: Bool = false
  ) async throws(SourceError) -> Proposal {
    var proposal = Proposal(manifest: hints)
    var first = try await fetch(hints, at: .first, &proposal).get()
    try chooseRows(&proposal, first)
    guard proposal.manifest.rows != nil else { return proposal }
    chooseFormat(&proposal, first)
    first.rows = proposal.manifest.records(in: first.exchange.document) ?? []
    if proposal.manifest.format?.isTable == true, first.rows.lackHeader {
      let names = first.rows[0].members.map(\.name).joined(separator: ", ")
      proposal.warnings.append(
        "the first row names the columns, but looks like a record: \(names.oneLine(atMost: 80)); "
          + "write a row of names before it, and add the file again")
    }
    if first.rows.isEmpty, let cut = cut(first, hints) { throw cut }
    if let text = JSONText(first.response.body),
      let rounded = Warning.rounded(in: first.rows, of: text)
    {
      proposal.warnings.append(rounded.message)
    }
    if let failure = failure(reportedBy: first, of: hints) {
      guard !first.rows.isEmpty else { throw failure }
      proposal.warnings.append("rows may be missing: \(failure.message)")
    }
    proposal.rowCount = first.records.count
    proposal.rows = Array(first.records.prefix(5))
    var second: Sample?
    if isSingle || first.isFile {
      proposal.manifest.paging.proof = .single
      proposal.note(
        "paging", "single",
        first.isFile
          ? "a large file, of which the first \(first.rows.count) rows were read"
          : hints.file == nil ? "as told" : "a file has all records"
      )
    } else if proposal.hasNoRows {
      // Every page of an empty list is empty, whatever its parameters.
      proposal.manifest.paging.proof = .unproved
      proposal.note("paging", "–", "the list is empty, and shows no paging")
    } else {
      second = try await choosePaging(&proposal, first)
      if hints.paging.step == nil, hints.file == nil, proposal.manifest.paging.proof == .proved,
        let whole = try await fromBeginning(hints, &proposal, first, isProbing: isProbing)
      {
        return whole
      }
    }
    proveSize(hints.paging.size, &proposal, first)
    proveMore(hints.paging.more, &proposal, first, second)
    noteUnreadable(&proposal, first, second)
    let records =
      first.records + (second.map { $0.records.dropFirst(first.overlap(with: $0)) } ?? [])
    try chooseID(&proposal, records)
    chooseTotal(&proposal, first, second)
    warnOfMissing(&proposal, first)
    chooseFields(&proposal, records)
    try await proveItem(&proposal, first)
    try await proveChanges(&proposal, first)
    try await proveSearch(&proposal, first)
    // A list whose rows are numbered can have nothing of what would be tried.
    if isProbing, proposal.isProved, !proposal.hasNoRows, !proposal.manifest.numbersRows {
      do throws(SourceError) { try await probe(&proposal, first) } catch {
        guard error.code != .cancelled else { throw error }
        proposal.warnings.append("nothing else was tried: \(error.message)")
      }
    }
    return proposal
  }

  /// The failure that a response reports although its status means success.
  private func failure(reportedBy sample: Sample, of manifest: Manifest) -> SourceError? {
    sample.response.reportedFailure(
      by: manifest.authority ?? name, hasRows: !sample.rows.isEmpty, now: environment.now())
  }

  /// Proposes a list without any request.
  func describe(_ hints: Manifest) -> Proposal {
    var proposal = Proposal(manifest: hints)
    if hints.rows == nil { proposal.manifest.rows = description?.rows(of: hints)?.path }
    if hints.id.isEmpty { proposal.manifest.id = description?.id(of: hints) ?? [] }
    let ids = proposal.manifest.id.map(\.description).joined(separator: ", ")
    proposal.note("id", ids.isEmpty ? "–" : ids, "not requested")
    let candidate = hints.paging.step == nil ? description?.candidates(of: hints).first : nil
    if let candidate { proposal.manifest.paging.step = candidate.step }
    proposal.manifest.paging.proof = .unproved
    proposal.note("paging", candidate?.evidence ?? "–", "not requested")
    if let item = hints.item { proposal.note("item", item, "not requested") }
    chooseFields(&proposal, [])
    return proposal
  }

  // MARK: - Requests

  /// The first page as the service sends it, and its rows.
  package static func firstPage(
    of manifest: Manifest, named name: String, in environment: PluginEnvironment
  ) async throws(SourceError) -> (document: JSON, rows: [JSON]) {
    var proposal = Proposal(manifest: manifest)
    let prober = Prober(name: name, environment: environment) { _, _ in nil }
    let sample = try await prober.fetch(manifest, at: .first, &proposal).get()
    return (sample.exchange.document, sample.rows)
  }

  /// A response and its rows.
  struct Sample {
    var exchange: Exchange
    var response: HTTPResponse
    var rows: [JSON] = []
    /// True for the first rows of a file that is too large for a response.
    var isFile = false

    /// The rows that can be records: objects, or all of a list without any.
    var records: [JSON] { rows.contains(where: \.isObject) ? rows.filter(\.isObject) : rows }

    /// The records as text, to compare pages.
    var texts: [String] { records.map(\.text) }

    /// The number of records at the end of this page with which the next one begins, where it repeats no others and most are
    /// new, as in a list that changes meanwhile.
    func overlap(with next: Sample) -> Int {
      let (one, two) = (texts, next.texts)
      let count = Set(one).intersection(two).count
      return count * 2 < two.count && one.suffix(count) == two.prefix(count) ? count : 0
    }
  }

  /// Requests a page, with another parameter of the query if given.
  func fetch(
    _ manifest: Manifest, at start: RESTPosition.Start, _ proposal: inout Proposal,
    setting parameter: (name: String, value: String)? = nil
  ) async throws(SourceError) -> Result<Sample, SourceError> {
    let known = DeclaredPlugin(name, manifest).settings
    let list = try manifest.request(manifest.url, in: environment.settings, knowing: known)
    let paging = manifest.restPaging
    var request: HTTPRequest
    do {
      var sized = list
      if let size = paging.size { sized = sized.setting(size.parameter, to: "\(size.rows)") }
      request = try paging.request(for: start, after: sized)
    } catch { return .failure(error) }
    if let parameter {
      request = request.setting(manifest.parameter(parameter.name), to: parameter.value)
    }
    let result = try await send(request, of: manifest, &proposal)
    // A list that is empty because of an error shows nothing of its paging.
    guard parameter == nil, manifest.rows != nil, case .success(let sample) = result,
      sample.rows.isEmpty, let failure = failure(reportedBy: sample, of: manifest)
    else { return result }
    if failure.code == .rateLimited { throw failure }
    return .failure(failure)
  }

  /// Sends a request at the rate of the manifest, and a few times again if the service asks for a pause that a page may
  /// take, or fails without one in a way that may pass; only a longer one, which all sources of the service keep then, one
  /// that they have been told of, another rate limit and a cancellation end the inference.
  func send(
    _ request: HTTPRequest, of manifest: Manifest, _ proposal: inout Proposal
  ) async throws(SourceError) -> Result<Sample, SourceError> {
    let policy = RetryPolicy.standard
    let plugin = DeclaredPlugin(name, manifest)
    if manifest.file == nil, proposal.requests == 0,
      let refusal = await plugin.refusal(in: environment)
    {
      throw refusal
    }
    var (attempts, bound) = (1, policy.firstWait)
    while true {
      var status: Int?
      let result = try await sendOnce(request, of: manifest, &proposal, &status)
      guard var error = result.failure, [.rateLimited, .serverError].contains(error.code) else {
        return result
      }
      // Of a probe, a 500 may be the answer to what the service does not know (RFC 9110, section 15.6).
      let mayPass = error.code == .serverError && [502, 503, 504].contains(status)
      let pause = error.retryAfter ?? (mayPass ? bound * .random(in: 0..<1) : nil)
      guard attempts < policy.attempts, let pause, pause <= manifest.timeout,
        Deadline.leavesRoom(for: pause)
      else {
        // More requests would make a rate limit worse.
        if error.code == .rateLimited {
          if let pause = error.retryAfter {
            await plugin.pauseService(for: pause, after: request.methodAndPath, in: environment)
          }
          throw error
        }
        if mayPass { error.remedy = error.remedy ?? "try again later" }
        return .failure(error)
      }
      environment.observer(.waiting(pause, reason: error.message))
      do { try await environment.clock.sleep(for: pause) } catch { throw .cancelled }
      environment.observer(.retrying(error))
      // The pause is over, and what is tried is counted, not how often.
      proposal.quotaReset = nil
      proposal.requests -= 1
      (attempts, bound) = (attempts + 1, bound * 2)
    }
  }

  private func sendOnce(
    _ request: HTTPRequest, of manifest: Manifest, _ proposal: inout Proposal,
    _ status: inout Int?
  ) async throws(SourceError) -> Result<Sample, SourceError> {
    let known = DeclaredPlugin(name, manifest).settings
    var request = request
    if let wait = try wait(before: proposal, of: manifest) {
      guard Deadline.leavesRoom(for: wait) else {
        proposal.isOutOfTime = true
        return .failure(.noTimeLeft)
      }
      environment.observer(.waiting(wait, reason: "rate limit"))
      do { try await environment.clock.sleep(for: wait) } catch { throw .cancelled }
    }
    // Of a list that is one response it is that of a file.
    if let bytes = environment.maxSize, manifest.paging.step != nil {
      request.limits.bodyBytes = bytes
    }
    do { try request.limits.bound(to: manifest.timeout) } catch {
      proposal.isOutOfTime = true
      return .failure(error)
    }
    proposal.requests += 1
    var received: HTTPResponse?
    let addresses = Mutex<[String]>([])
    do throws(SourceError) {
      let service = manifest.authority ?? name
      let observer = environment.observer.also { event in
        guard case .received(_, _, _, let address) = event else { return }
        addresses.withLock { $0.append(address) }
      }
      let sent: Result<Answer, SourceError> = await Observer.$current.withValue(observer) {
        [request] in
        await Result { () async throws(SourceError) in
          try await self.answer(to: request, of: manifest)
        }
      }
      let answer = try sent.get()
      received = answer.response
      let now = environment.now()
      proposal.quotaReset = answer.response.quotaPause(from: now).map {
        now.addingTimeInterval($0 / .seconds(1))
      }
      status = answer.response.status
      guard proposal.requests > 1 || ![404, 410].contains(answer.response.status) else {
        throw SourceError(
          .rejected,
          "there is nothing at \(request.endpoint): its service answered \(answer.response.status)",
          remedy: Self.wrongURL)
      }
      let response = try answer.response.checked(by: service, wantsKey: !known.isEmpty, now: now)
      let document = try response.document(by: service)
      let exchange = Exchange(
        url: URL(string: request.shownAddress) ?? request.url,
        body: request.body.flatMap { JSON(inOrder: $0) },
        headers: response.headers, document: document)
      let rows = manifest.records(in: document) ?? []
      return .success(
        Sample(exchange: exchange, response: response, rows: rows, isFile: answer.isFile))
    } catch {
      let error = error.remediedForSize(of: request)
      if error.code == .rateLimited {
        proposal.quotaReset =
          error.retryAfter.map { environment.now().addingTimeInterval($0 / .seconds(1)) }
          ?? proposal.quotaReset
        return .failure(error)
      }
      if Deadline.hasPassed { proposal.isOutOfTime = true }
      var failure = error
      let (first, last) = addresses.withLock { ($0.first, $0.last) }
      failure.cause =
        error.cause ?? received.flatMap { UnusableResponse($0, isRedirected: first != last) }
      if case .page(isRedirected: true)? = failure.cause as? UnusableResponse, let last {
        failure.message = "\(manifest.authority ?? name) redirects to an HTML page, \(last)"
      }
      if let body = received?.body, case .otherFormat? = failure.cause as? UnusableResponse,
        JSONText.errorOffset(in: body) == body.count
      {
        (failure.cause, failure.remedy) = (nil, Self.remedyForCut(of: manifest))
      } else if manifest.file != nil {
        if failure.cause != nil {
          failure.remedy = "a file has JSON, CSV, TSV, NDJSON or XML"
        }
        failure.cause = nil
      } else if proposal.requests == 1, error.code == .malformed, failure.cause == nil {
        failure.remedy = error.remedy ?? Self.wrongURL
      }
      return .failure(failure)
    }
  }

  private static func remedyForCut(of manifest: Manifest) -> Remedy {
    manifest.file == nil ? "try again when all of it is sent" : "get the whole file"
  }

  package static let wrongURL = Remedy(
    "open the URL in a browser, which must show the records; the documentation of the service names "
      + "those of its lists")

  private struct Answer: Sendable {
    let response: HTTPResponse
    /// True for the first rows of a file that is too large for a response.
    let isFile: Bool
  }

  /// The response to a request as JSON; of a file that is too large for a response the first rows, with a second request.
  private func answer(
    to request: HTTPRequest, of manifest: Manifest
  ) async throws(SourceError) -> Answer {
    let plugin = DeclaredPlugin(name, manifest)
    do throws(SourceError) {
      let response = try await environment.transport.send(request)
      return Answer(
        response: try response.converted(
          from: request, as: manifest.format, rows: manifest.rowNames,
          by: manifest.authority ?? name), isFile: false)
    } catch {
      guard error.code == .tooLarge, manifest.paging.step == nil else { throw error }
      var first = request.setting(FilePages.parameter, to: FilePages.start)
      first.limits.bodyBytes =
        environment.maxSize
        ?? (manifest.file == nil ? request.limits.bodyBytes : FileTransport.maxBytes)
      let files = environment.readingFiles(of: plugin, as: manifest.format)
      let rows = await Result { [first] () async throws(SourceError) in
        try await files.transport.send(first)
      }
      if case .failure(let failure) = rows, failure.code == .tooLarge { throw failure }
      guard let response = try? rows.get() else { throw error }
      if response.conversion != nil { return Answer(response: response, isFile: true) }
      return Answer(
        response: try response.converted(
          from: first, as: manifest.format, rows: manifest.rowNames,
          by: manifest.authority ?? name), isFile: false)
    }
  }

  /// The time to wait before a request: the rate of the manifest holds for probes, too, and so does the quota that the
  /// service has named.
  ///
  /// - Throws: ``SourceError`` with code `rateLimited` if the service's quota returns later than a page may take.
  private func wait(
    before proposal: Proposal, of manifest: Manifest
  ) throws(SourceError) -> Duration? {
    guard proposal.requests > 0 || previous != nil else { return nil }
    let reset = proposal.requests > 0 ? proposal.quotaReset : previous?.quotaReset
    let pause = reset.map {
      Duration.seconds(max($0.timeIntervalSince(environment.now()), 0))
    }
    if let pause, pause > manifest.timeout {
      throw SourceError(
        .rateLimited, "\(manifest.authority ?? name) accepts no further requests for now",
        remedy: "retry in \(pause.text)", retryAfter: pause)
    }
    let spacing = manifest.rate?.bounds.first.map { $0.period / $0.count }
    return [pause, spacing].compactMap(\.self).max()
  }

  // MARK: - Rows, ID, total, fields

  private func chooseRows(_ proposal: inout Proposal, _ first: Sample) throws(SourceError) {
    let document = first.exchange.document
    if proposal.manifest.rows == nil, let rows = description?.rows(of: proposal.manifest)?.path,
      let count = rows.rows(in: document)?.count
    {
      proposal.manifest.rows = rows
      proposal.note("rows", rows.description, "as described; \(count.of("row"))")
      return
    }
    if let given = proposal.manifest.rows {
      let rows = given.rows(in: document)
      // Texts may identify themselves, but a row with a number of its own has members.
      guard let rows,
        rows.isEmpty || !proposal.manifest.numbersRows || rows.contains(where: \.isObject)
      else {
        let path = given.description.oneLine(atMost: 80)
        var error = noList(in: first.exchange, isFile: proposal.manifest.file != nil)
        error.message =
          rows?.first.map {
            "the list at \"\(path)\" has no objects: its first element is \($0.text.oneLine(atMost: 40))"
          } ?? "there is no list at \"\(path)\""
        if let remedy = first.exchange.listRemedy { (error.remedy, error.cause) = (remedy, nil) }
        throw failure(reportedBy: first, of: proposal.manifest) ?? cut(first, proposal.manifest)
          ?? error
      }
      guard rows.isEmpty || !proposal.manifest.id.isEmpty || !rows.allSatisfy(\.isListOfValues)
      else { throw Self.noNames(at: given.path, isFile: proposal.manifest.file != nil) }
      proposal.note("rows", given.description, "as told; \(rows.count.of("row"))")
      return
    }
    let candidates = first.exchange.rowsCandidates()
    // The columns of a table are not its rows.
    if let columns = candidates.first, let lists = first.exchange.listOfLists,
      Self.columnNames.contains(normalized(columns.path.path.lastName)),
      lists.value(in: document)?.array?.first?.array?.count == columns.rows.count
    {
      throw Self.noNames(at: lists, isFile: proposal.manifest.file != nil)
    }
    guard var best = candidates.first else {
      throw failure(reportedBy: first, of: proposal.manifest) ?? cut(first, proposal.manifest)
        ?? noList(in: first.exchange, isFile: proposal.manifest.file != nil)
    }
    let rivals = candidates.filter { best.score - $0.score < 1 }.prefix(Self.maxOptions)
    let chosen =
      rivals.count < 2
      ? nil
      : choose(
        "Which list has the records?",
        rivals.map {
          "\($0.path): \($0.rows.count.of("object")), \($0.sharedNames.of("key")) in common"
        })
    if let chosen { best = rivals[chosen] }
    proposal.manifest.rows = best.path
    if candidates.count > 1 {
      proposal.choices["rows"] = candidates.prefix(Self.maxOptions).map(\.path.description)
    }
    proposal.note(
      "rows", best.path.description,
      best.rows.isEmpty
        ? "the list is empty"
        : "\(best.rows.count.of("object")), \(best.sharedNames.of("key")) in common")
    if chosen == nil, let rival = rivals.dropFirst().first {
      let warning = "the rows may also be at \"\(rival.path)\""
      proposal.rival = .init(path: "\(rival.path)", warning: warning)
      proposal.warnings.append(warning)
    }
  }

  private static let columnNames: Set<String> = ["columns", "cols", "fields", "schema"]

  /// The failure of rows that are lists, whose values have no names.
  private static func noNames(at path: JSONPath, isFile: Bool) -> SourceError {
    let path = path.description.oneLine(atMost: 80)
    return SourceError(
      .malformed, "the rows at \(path) are lists of values without names",
      remedy: "use objects, which Datasette sends for ?_shape=objects, or CSV",
      cause: NoList(isFile: isFile, entries: nil, lists: path))
  }

  /// The failure of a response without a list of objects, which says what there is in its place.
  private func noList(in exchange: Exchange, isFile: Bool) -> SourceError {
    let what = isFile ? "the file" : "the response"
    var message = "\(what) has no list of objects"
    var remedy: Remedy = isFile ? "name the list" : "name the list, or use the URL of a list"
    var path: String?
    if let lists = exchange.listOfLists { return Self.noNames(at: lists, isFile: isFile) }
    if let mixed = exchange.mixedList {
      message += ": \(mixed)"
    } else if exchange.isRecord {
      message = "\(what) is a single record"
    } else if let entries = exchange.objectOfEntries {
      message += ", but an object whose members are \(entries.kind): \(entries.names)"
      let rows = entries.path.description
      remedy = Remedy("if each is a record, name the list \(rows.oneLine(atMost: 80))")
      path = rows
    }
    return SourceError(
      .malformed, message, remedy: remedy, cause: NoList(isFile: isFile, entries: path, lists: nil))
  }

  /// The failure of a response that ends before its first row; `nil` for any other.
  private func cut(_ first: Sample, _ manifest: Manifest) -> SourceError? {
    first.response.conversion?.cut.map { cut in
      let what = manifest.file == nil ? "the response" : "the file"
      return SourceError(
        .malformed, "\(what) is incomplete: \(cut)", remedy: Self.remedyForCut(of: manifest))
    }
  }

  /// Fixes the format, and the kinds of values that are sent as text.
  private func chooseFormat(_ proposal: inout Proposal, _ first: Sample) {
    proposal.warnings += (first.response.conversion?.warnings ?? []).map(\.message)
    proposal.isPartial = first.response.conversion?.cut != nil
    guard let format = first.response.conversion?.format else { return }
    proposal.manifest.format = format
    if let fault = first.response.conversion?.fault {
      let count = first.exchange.document.array?.count { $0 == .null } ?? 0
      proposal.warnings.append(
        "\(count.of("row")) \(count == 1 ? "is damaged" : "are damaged; the first"): \(fault)")
      proposal.isPartial = true
    }
    guard format != .ndjson, proposal.manifest.kinds.isEmpty else {
      return proposal.note("format", format.rawValue, "as the service sends it")
    }
    proposal.manifest.kinds = ValueKinds(
      of: proposal.manifest.records(in: first.exchange.document) ?? [])
    let paths = proposal.manifest.kinds.paths
    let kinds = ValueKinds.Kind.allCases.compactMap { kind in
      let names = paths.filter { $0.kind == kind }.map { "\($0.path)" }
      return names.isEmpty
        ? nil : "\(kind.words): \(names.joined(separator: ", ").oneLine(atMost: 80))"
    }
    proposal.note(
      "format", format.rawValue,
      kinds.isEmpty ? "all values are text" : kinds.joined(separator: "; "))
  }

  /// Says how many rows of the pages that were read are no objects, apart from those that are damaged in their format.
  private func noteUnreadable(_ proposal: inout Proposal, _ first: Sample, _ second: Sample?) {
    let samples = [first, second].compactMap(\.self)
    let rows = samples.flatMap(\.rows)
    let isReported = first.response.conversion?.fault != nil
    let count = rows.count { !$0.isObject && !(isReported && $0 == .null) }
    // A list of texts has them as IDs.
    guard count > 0, samples.contains(where: { $0.rows.contains(where: \.isObject) }) else {
      return
    }
    let words =
      "\(count) of \(rows.count.of("row")) \(count == 1 ? "is not an object" : "are not objects") and cannot be read"
    proposal.warnings.append(words)
    proposal.isPartial = true
    for index in proposal.evidence.indices where proposal.evidence[index].key == "rows" {
      proposal.evidence[index].reason += "; \(words)"
    }
  }

  /// Leaves out the URL of single records if it does not bring the last one of the first page.
  private func proveItem(
    _ proposal: inout Proposal, _ first: Sample
  ) async throws(SourceError) {
    guard let url = proposal.manifest.item else { return }
    guard !proposal.hasNoRows, proposal.isComplete else {
      return proposal.note("item", url, "not tried without a record")
    }
    let fetched = try await fetchesItem(at: url, &proposal, first)
    if case .success(true) = fetched {
      return proposal.note("item", url, "the last record of page 1 was fetched")
    }
    if proposal.isOutOfTime {
      return proposal.note("item", url, "not tried: the time limit was reached")
    }
    // Any other failure may pass.
    if description == nil, let error = fetched.failure,
      ![.rejected, .notFound, .malformed].contains(error.code)
    {
      return proposal.note("item", url, "as told, not tried: \(error.message)")
    }
    proposal.manifest.item = nil
    proposal.note("item", "–", "\(url) does not bring a record")
    if description == nil {
      let reason = fetched.failure?.message ?? "it does not bring the last record of page 1"
      proposal.warnings.append("the URL of single records is left out: \(reason)")
    }
  }

  private func chooseID(_ proposal: inout Proposal, _ rows: [JSON]) throws(SourceError) {
    guard !proposal.manifest.numbersRows else {
      guard proposal.manifest.canNumberRows else {
        throw SourceError(.invalidSettings, "\"id\" must be \(Manifest.unnumberedRule)")
      }
      return proposal.note("id", Manifest.rowNumber, "the number of the row")
    }
    if let path = proposal.manifest.rows, path.isEntries {
      proposal.note("id", "id", "the names of the members")
      return
    }
    if proposal.hasNoRows, proposal.manifest.id.isEmpty {
      proposal.manifest.id = description?.id(of: proposal.manifest) ?? []
    }
    guard !proposal.hasNoRows else {
      let ids = proposal.manifest.id.map(\.description).joined(separator: ", ")
      return proposal.note(
        "id", ids.isEmpty ? "–" : ids,
        ids.isEmpty ? "an empty list shows no ID" : "of an empty list, as told or described")
    }
    let isGiven = !proposal.manifest.id.isEmpty
    let inference = IDInference(
      rows: rows, noun: proposal.manifest.noun,
      isTable: proposal.manifest.format?.isTable == true)
    let paths = isGiven ? proposal.manifest.id : inference.best ?? chooseID(inference) ?? []
    defer {
      if !proposal.isComplete {
        proposal.warnings.append("nothing identifies a row: name the members that do")
      }
    }
    guard !paths.isEmpty else {
      let unique = inference.unique.prefix(Self.maxOptions).map(\.description)
      let reason =
        unique.isEmpty
        ? inference.repeated ?? inference.nearest.map {
          "no member is different in all rows: \($0)"
        }
          ?? "no member is different in all rows"
        : "\(inference.repeated ?? "no member is named like an ID"); different in all rows: \(unique.prefix(5).joined(separator: ", "))"
      if !unique.isEmpty { proposal.choices["id"] = unique }
      if mayNumberRows, description == nil, proposal.manifest.paging.isSingle,
        proposal.manifest.canNumberRows, rows.contains(where: \.isObject)
      {
        proposal.manifest.numbersRows = true
        return proposal.note("id", Manifest.rowNumber, "the number of the row: \(reason)")
      }
      return proposal.note("id", "–", reason)
    }
    proposal.manifest.id = paths
    let ids = rows.compactMap { try? DeclaredRecord($0, id: paths).id }
    let distinct = Set(ids).count
    let reason =
      distinct == rows.count
      ? rows.count == 1 ? "there is only one row" : "unique in all \(rows.count) rows"
      : "\(distinct) different in \(rows.count) rows"
    // Another member is taken, although one has the name.
    let fault =
      isGiven || paths.contains { normalized($0.description) == "id" } ? nil : inference.faultOfID
    proposal.note(
      "id", paths.map(\.description).joined(separator: ", "),
      reason + (fault.map { ", while \($0)" } ?? ""))
    if distinct * 2 < rows.count {
      proposal.manifest.id = []
      return
    }
    let (missing, repeated) = (rows.count - ids.count, ids.count - distinct)
    if missing > 0 {
      proposal.warnings.append("\(missing.of("row")) \(missing == 1 ? "has" : "have") no ID")
    }
    if repeated > 0 {
      proposal.warnings.append(
        Manifest.repeatedIDs(repeated)
          + (proposal.manifest.canNumberRows ? ": the ID \"#\" is the number of the row" : ""))
    }
  }

  /// Asks which of the members that differ in all rows identifies a row.
  private func chooseID(_ inference: IDInference) -> [JSONPath]? {
    guard let first = inference.rows.first else { return nil }
    let paths = inference.unique.prefix(Self.maxOptions)
    let options = paths.map { "\($0): \($0.value(in: first)?.idText.oneLine(atMost: 40) ?? "")" }
    guard !options.isEmpty, let index = choose("What identifies a record?", options) else {
      return nil
    }
    return [paths[index]]
  }

  private func chooseTotal(_ proposal: inout Proposal, _ first: Sample, _ second: Sample?) {
    if let total = proposal.manifest.total {
      let number = first.number(at: total) ?? second?.number(at: total)
      proposal.note(
        "total", total.description,
        number.map { "\($0) records" } ?? (proposal.hasNoRows ? "as told" : "there is no number"))
      guard number == nil else { return }
      let found = proposal.manifest.rows.flatMap {
        first.exchange.totalPath(rowCount: first.rows.count, rows: $0.path)
      }
      proposal.warnings.append(
        "there is no number at \"\(total)\""
          + (found.map { "; the number of all records may be at \($0)" } ?? ""))
      // An empty list may leave it out.
      if !proposal.hasNoRows { proposal.disproved.append("total") }
      return
    }
    // A zero may count anything.
    guard let rows = proposal.manifest.rows, !proposal.hasNoRows,
      // A number of records that is smaller than what was read is of something else.
      let path = first.exchange.totalPath(
        rowCount: first.rows.count + (second?.rows.count ?? 0), rows: rows.path)
    else {
      let place = proposal.manifest.file == nil ? "this API" : "the file"
      let read = first.rows.count + (second?.rows.count ?? 0)
      // A `count` that is smaller than what was read is usually that of the page.
      let given = proposal.manifest.rows.flatMap { rows in
        proposal.hasNoRows || first.exchange.saysTotal(rows: rows.path)
          ? first.exchange.totalPath(rowCount: 0, rows: rows.path) : nil
      }
      let number = given.flatMap { first.number(at: $0) }
      let fault =
        proposal.hasNoRows
        ? "which proves nothing in an empty list"
        : "but \(read.of("row")) \(read == 1 ? "was" : "were") read: no total"
      proposal.note(
        "total", "–",
        number.map { "\(given?.description ?? "") is \($0), \(fault)" } ?? "not given by \(place)")
      return
    }
    let number = first.number(at: path) ?? 0
    let later = second?.number(at: path) ?? number
    // Of a list that changes meanwhile it differs by less than what is read, or left, on a page.
    guard abs(Double(later) - Double(number)) * 2 < Double(max(1, first.rows.count)) else {
      proposal.note(
        "total", "–", "\(path) is \(number) on page 1 and \(later) on page 2: no total")
      return
    }
    proposal.manifest.total = path
    proposal.note(
      "total", path.description,
      number == later ? "\(number) records" : "changes from page to page")
  }

  /// Warns of one response that has fewer rows than it says, or says that it is a part, if no others are read.
  private func warnOfMissing(_ proposal: inout Proposal, _ first: Sample) {
    guard proposal.manifest.paging.isSingle, proposal.manifest.file == nil, !first.isFile
    else { return }
    if let part = first.wordsOfPart { proposal.warnings.append("\(part): no others are read") }
    guard let total = proposal.manifest.total, let number = first.number(at: total),
      number > first.rows.count
    else { return }
    proposal.warnings.append(
      "the response has \(first.rows.count.of("row")), but \(total) is \(number): no others are read"
    )
  }

  private func chooseFields(_ proposal: inout Proposal, _ sent: [JSON]) {
    let described = description?.rows(of: proposal.manifest)?.rows ?? []
    let rows = sent.isEmpty ? described : sent
    guard !rows.isEmpty else {
      proposal.note("fields", "–", "an empty list shows no fields")
      if proposal.isComplete {
        proposal.warnings.append(
          "the list is empty, so no fields are known: replace the source when it has records")
      }
      return
    }
    let isTable = proposal.manifest.format?.isTable == true
    let inference = FieldInference(rows: rows, id: proposal.manifest.id)
    let told = proposal.manifest.fields
    proposal.manifest.fields = told.filter { field in
      rows.contains { field.path.value(in: $0) != nil }
    }
    // What was null in all rows, or is new, is a field beside those that a person has named and put in order.
    let others = proposal.manifest.otherFields(in: sent + described)
    proposal.manifest.fields += others
    let leftOut = FieldInference(
      rows: sent + described, id: proposal.manifest.id, isTable: isTable
    ).leftOut(of: proposal.manifest.fields)
    if !told.isEmpty, let format = proposal.manifest.format, format != .ndjson {
      proposal.manifest.kinds.add(ValueKinds(of: sent), at: others.map(\.path))
    }
    let before = proposal.manifest.fields.map(\.name)
    proposal.manifest.renameFieldsNamedID()
    if proposal.manifest.kinds.isEmpty {
      proposal.manifest.kinds = ValueKinds(describedBy: described.first, sentIn: sent)
    }
    let names = proposal.manifest.fields.map(\.name)
    let renamed = zip(before, names).filter { $0 != $1 }.map { "\($0) is called \($1)" }
    proposal.note(
      "fields", names.isEmpty ? "–" : names.prefix(5).joined(separator: ", "),
      names.isEmpty
        ? "records have nothing but the ID"
        : ((names.count > 5 ? ["\(names.count - 5) more"] : []) + renamed).joined(separator: "; "))
    chooseTables(&proposal, sent)
    let tables = Set(proposal.manifest.tables.map(\.path))
    proposal.noteLeftOut(
      leftOut.nested.filter { !tables.contains($0) },
      "lists or objects inside; SQL has them in _row")
    proposal.noteLeftOut(
      leftOut.values,
      proposal.manifest.fields.count < Manifest.maxFields
        ? "other fields have their names" : "more than \(Manifest.maxFields) fields")
    let present = proposal.manifest.fields.map(\.path)
    proposal.noteLeftOut(
      told.map(\.path).filter { !present.contains($0) }, "no row that was read has them")
    let manifest = proposal.manifest
    if manifest.title == nil {
      proposal.manifest.title = inference.path(
        named: ["title", "name", "displayname", "label", "fullname", "headline", "subject"]
      ) { $0.isIdentifying }
    }
    let feedLink = manifest.feedLink(in: rows)
    var ownPage: String?
    if let link = manifest.link {
      if !sent.isEmpty, !sent.contains(where: { link.value(in: $0)?.isURL ?? false }) {
        proposal.manifest.link = nil
        let path = link.description.oneLine(atMost: 80)
        proposal.warnings.append("the web page is left out: no row has a URL at \"\(path)\"")
      }
    } else {
      let list = URL(string: manifest.url)
      // A URL of the API itself is no page for people.
      func isPage(_ value: JSON, mayShareHost: Bool) -> Bool {
        guard value.isURL, !value.isImageURL, let url = URL(string: value.idText) else {
          return false
        }
        return url.host() != list?.host()
          || mayShareHost && !url.path().hasPrefix(list?.path() ?? "")
      }
      let pageNames = ["htmlurl", "weburl", "permalink", "pageurl"]
      let otherNames = ["link", "homepage", "website", "url"]
      proposal.manifest.link =
        feedLink ?? inference.path(named: pageNames) { isPage($0, mayShareHost: true) }
        ?? inference.path(named: otherNames) { isPage($0, mayShareHost: false) }
      func isOwn(_ value: JSON) -> Bool {
        value.isURL && !value.isImageURL && URL(string: value.idText)?.host() == list?.host()
      }
      ownPage =
        inference.path(named: pageNames, where: isOwn)
        .map { "\($0) is on the host of the list and below its path" }
        ?? inference.path(named: otherNames, where: isOwn)
        .map { "\($0) is on the host of the list" }
    }
    let link = proposal.manifest.link?.description
    let reason =
      switch (manifest.link, link) {
      case (nil, nil):
        ownPage.map { "\($0), as URLs of an API are" }
          ?? "no field such as html_url has a web page: records have none to open"
      case (nil, _?) where feedLink != nil: "the page of an item of a feed"
      case (nil, _?): "named like a web page, and no URL of the list itself"
      case (_?, nil): "no row has a URL there"
      case (_?, _?): "the web page of a record"
      }
    if manifest.link != nil
      || rows.contains(where: { $0.scalars(depth: 8).contains(where: \.value.isURL) })
    {
      proposal.note("link", link ?? "–", reason)
    }
    if manifest.image == nil {
      proposal.manifest.image = inference.path(
        named: [
          "image", "imageurl", "thumbnail", "thumbnailurl", "avatarurl", "picture", "photo",
          "cover", "icon", "logo", "poster", "thumb", "smallimage",
        ]
      ) { $0.isURL }
    }
  }
}

extension Prober {
  /// Finds the columns of the tables that were told.
  private func chooseTables(_ proposal: inout Proposal, _ rows: [JSON]) {
    for index in proposal.manifest.tables.indices {
      var table = proposal.manifest.tables[index]
      let elements = table.inferFields(from: rows)
      proposal.manifest.tables[index] = table
      let path = table.path.description
      if elements.isEmpty {
        proposal.warnings.append("no row has a list at \"\(path.oneLine(atMost: 80))\"")
      }
      let names = table.fields.isEmpty ? ["value"] : table.fields.map(\.name)
      let more = names.count > 5 ? ", \(names.count - 5) more" : ""
      proposal.note(
        "table", table.name,
        "\(elements.count.of("element")) of \(path): \(names.prefix(5).joined(separator: ", "))\(more)"
      )
    }
  }
}

extension HTTPLimits {
  /// Limits the exchange to a time, and to the time that is left for all of them.
  mutating func bound(to limit: Duration) throws(SourceError) {
    guard !Deadline.hasPassed else { throw .noTimeLeft }
    overall = min(limit, Deadline.current?.remaining() ?? limit)
    idle = overall
  }
}

extension SourceError {
  static let noTimeLeft = SourceError(
    .timedOut, "the time limit was reached before this request",
    remedy: Remedy("allow more time", .allowMoreTime))
}

extension Prober.Sample {
  /// That the response has a part of the list, and not how many records there are; `nil` if it does not say so.
  var wordsOfPart: String? {
    guard response.isPartOfUnknown else { return nil }
    return
      "the response \(response.status == 206 ? "is" : "may be") a part of the list, without its total"
  }

  func number(at path: Manifest.ResponsePath) -> Int? {
    switch path {
    case .header(let name): response.total(inField: name)
    case .body(let path): path.value(in: exchange.document)?.integerValue
    case .lastRow: nil
    }
  }
}

extension Manifest {
  /// The probable name of a record, in the singular.
  var noun: String? {
    if let name = rows?.path.lastName, !name.isEmpty { return words(of: name).last.map(singular) }
    return URL(string: url).flatMap {
      Exchange(url: $0, body: nil, headers: [], document: .null).noun
    }
  }

  /// The path of the web page in rows of RSS or Atom, which is a page on any host; `nil` for what is no feed.
  fileprivate func feedLink(in rows: [JSON]) -> JSONPath? {
    guard format == .xml, let path = self.rows?.path.description,
      ["rss.channel.item", "feed.entry"].contains(path)
    else { return nil }
    // An entry with several links has one without `rel`, or with this one, for its page.
    let page = rows.first?["link"]?.array?.firstIndex { ($0["@rel"] ?? "alternate") == "alternate" }
    return ["link.\(page ?? 0).@href", "link.@href", "link"].compactMap { JSONPath($0) }
      .first { path in rows.contains { path.value(in: $0)?.isURL ?? false } }
  }
}

extension JSON {
  fileprivate var isImageURL: Bool {
    let path = string?.prefix { $0 != "?" }.lowercased() ?? ""
    return [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"].contains { path.hasSuffix($0) }
  }
}
