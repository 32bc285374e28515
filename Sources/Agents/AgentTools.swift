import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The arguments of a call, checked against the tool's schema.
struct AgentArguments {
  private let values: [AgentTool.Argument: JSON]

  /// Throws ``Problem`` with words for the model that sent them.
  init(_ json: JSON?, of tool: AgentTool) throws(Problem) {
    var values: [AgentTool.Argument: JSON] = [:]
    for member in (json ?? [:]).members where member.value != .null {
      guard let name = AgentTool.Argument(rawValue: member.name), tool.arguments.contains(name)
      else {
        let names = tool.arguments.map(\.rawValue)
        throw Problem(
          400, "invalidRequest", "unknown argument \"\(member.name.oneLine(atMost: 80))\"",
          hint: "the arguments are \(names.joined(separator: ", "))"
        ).suggesting(nearest(to: member.name, in: names))
      }
      values[name] = member.value
    }
    for name in tool.required where values[name] == nil {
      throw Problem(400, "invalidRequest", "missing argument \"\(name.rawValue)\"")
    }
    self.values = values
  }

  func has(_ name: AgentTool.Argument) -> Bool { values[name] != nil }

  func text(_ name: AgentTool.Argument) throws(Problem) -> String? {
    switch values[name] {
    case nil: return nil
    case .string(let text): return text
    // An ID may look like a number to a model.
    case .integer(let number) where name == .id: return String(number)
    default: throw invalid(name, "a text")
    }
  }

  func number(_ name: AgentTool.Argument, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let value = values[name] else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      throw invalid(name, "an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func texts(_ name: AgentTool.Argument) throws(Problem) -> [String]? {
    guard let value = values[name] else { return nil }
    let texts = value.array?.compactMap(\.string) ?? value.string.map { [$0] }
    guard let texts, texts.count == value.array?.count ?? 1, texts.count <= 50 else {
      throw invalid(name, "a list of at most 50 texts")
    }
    return texts
  }

  var size: Int {
    get throws(Problem) {
      try number(.bytes, in: AgentAnswer.sizes) ?? AgentAnswer.standardSize
    }
  }

  private func invalid(_ name: AgentTool.Argument, _ requirement: String) -> Problem {
    Problem(
      400, "invalidRequest", "invalid value for \(name.rawValue)", hint: "it must be \(requirement)"
    )
  }
}

/// Calls tools on the sources of a program.
struct AgentTools: Sendable {
  let api: API
  let report: @Sendable (_ progress: Int, _ total: Int?, _ message: String) -> Void

  private static let largestSearch = 100

  /// The result of a call; a mistake in it is a result, too.
  func call(_ tool: AgentTool, _ json: JSON?) async -> JSON {
    do {
      let arguments = try AgentArguments(json, of: tool)
      return switch tool {
      case .sources: try await sources(arguments)
      case .search: try await search(arguments)
      case .list: try await page(of: source(arguments), query(arguments), arguments)
      case .show: try await show(arguments)
      case .sql: try await sql(arguments)
      case .changes: try await changes(arguments)
      case .sync: try await sync(arguments)
      case .trySource: try await trySource(arguments)
      case .addSource: try await addSource(arguments)
      }
    } catch {
      return AgentAnswer.failure(Problem(error))
    }
  }

  private func source(_ arguments: AgentArguments) throws(Problem) -> any ServedSource {
    try api.source(named: try arguments.text(.source) ?? "")
  }

  private func query(_ arguments: AgentArguments) throws -> ServedQuery {
    var query = ServedQuery.plain
    query.query = try arguments.text(.query)
    query.limit = try arguments.number(.limit, in: 1...1_000_000)
    query.cursor = try arguments.text(.cursor)
    query.conditions = try arguments.texts(.where) ?? []
    query.order = try arguments.text(.sort)
    query.fields = try arguments.texts(.fields).map { fields in
      fields.flatMap { $0.split(separator: ",").map { $0.trimmed } }
    }
    try query.check()
    return query
  }

  // MARK: - Records

  /// A page of a list or a search, with as many records as fit.
  private func page(
    of source: any ServedSource, _ query: ServedQuery, _ arguments: AgentArguments
  ) async throws -> JSON {
    let size = try arguments.size
    var query = query
    query.limit = min(query.limit ?? ListingBounds.standardLimit, source.largestPage)
    var page = try await source.page(query)
    var answer = answer(with: page, of: source)
    // Read again, so that the cursor leads to the first record that does not fit.
    while case let count = answer.count(within: size), count < page.records.count,
      page.records.count > 1
    {
      query.limit = max(1, count)
      page = try await source.page(query)
      answer = self.answer(with: page, of: source)
    }
    return answer.result(within: size, rest: "ask for fewer \"fields\", or more \"bytes\"")
  }

  private func answer(with page: ServedListing, of source: any ServedSource) -> AgentAnswer {
    let count = page.records.count
    let counted =
      page.summary.total.map { "\(count) of \(source.noun.count($0))" } ?? source.noun.count(count)
    var answer = AgentAnswer(
      "\(source.name): \(counted)", page.summary, of: source.name, at: api.now())
    answer.about.insert(.init("source", .string(source.name)), at: 0)
    answer.about.append(.init("total", page.summary.total.map { .integer($0) } ?? .null))
    answer.items = page.records.map(\.object)
    return answer
  }

  private func search(_ arguments: AgentArguments) async throws -> JSON {
    let query = try query(arguments)
    if arguments.has(.source) { return try await page(of: source(arguments), query, arguments) }
    for name in [AgentTool.Argument.cursor, .fields] where arguments.has(name) {
      throw Problem(
        400, "invalidRequest", "\(name.rawValue) needs \"source\"",
        hint: "name the source, or leave it out")
    }
    guard query.limit ?? 1 <= Self.largestSearch else {
      throw Problem(
        400, "invalidRequest", "invalid value for limit",
        hint: "at most \(Self.largestSearch) of each source; name one for more")
    }
    let found = try await api.results(of: query)
    let pages = found.compactMap { found in try? found.page.get() }
    if let failure = found.compactMap(\.page.failure).first, pages.isEmpty { throw failure }
    var answer = AgentAnswer("")
    for result in found {
      guard let page = try? result.page.get() else {
        let problem = result.page.failure
        answer.reasons.append("\(result.source.name): \(problem?.message ?? "no answer")")
        continue
      }
      let part = self.answer(with: page, of: result.source)
      if page.summary.provenance == nil, part.reasons.isEmpty {
        answer.reasons.append("\(result.source.name): nothing of it is cached")
      }
      answer.items += page.records.map { $0.object.named(result.source.name) }
      answer.reasons += part.reasons.map { "\(result.source.name): \($0)" }
      answer.warnings += part.warnings.map { "\(result.source.name): \($0)" }
      if page.summary.next != nil {
        answer.reasons.append("\(result.source.name): there are more; search it alone")
      }
    }
    answer.heading = "\(answer.items.count) results of \(found.count) sources"
    answer.about.append(
      .init(
        "sources",
        .array(
          found.map { result in
            let summary = (try? result.page.get())?.summary
            return [
              "source": .string(result.source.name), "count": .integer(summary?.count ?? 0),
              "provenance": summary?.provenance?.json ?? .null,
            ]
          })))
    return answer.result(
      within: try arguments.size, rest: "name a \"source\", a smaller \"limit\", or more \"bytes\"")
  }

  private func show(_ arguments: AgentArguments) async throws -> JSON {
    let source = try source(arguments)
    let id = try arguments.text(.id) ?? ""
    guard id.unicodeScalars.count <= ServedQuery.maxIDLength else {
      throw Problem(400, "invalidRequest", "the ID is too long")
    }
    var answer = answer(with: try await source.record(id, query(arguments)), of: source)
    answer.heading = "\(source.name): \(source.noun.count(1))"
    return answer.result(
      within: try arguments.size, rest: "ask for single \"fields\", or more \"bytes\"")
  }

  // MARK: - SQL

  private func sql(_ arguments: AgentArguments) async throws -> JSON {
    let text = try arguments.text(.sql) ?? ""
    guard 1...ServedSQL.maxBodyLength ~= text.unicodeScalars.count else {
      throw Problem(
        400, "invalidRequest", "invalid value for sql",
        hint: "at most \(ServedSQL.maxBodyLength) characters")
    }
    let limit = try arguments.number(.limit, in: 1...ServedSQL.maxRows) ?? ServedSQL.maxRows
    let skipped = try arguments.text(.cursor).map { text throws(Problem) in
      guard let number = Int(text), 0..<ServedSQL.maxRows ~= number else {
        throw Problem(404, "invalidCursor", "the cursor is not one of this query")
      }
      return number
    }
    let found = try await api.availableSQL().answer(to: text).get()
    let rows = found.rows.dropFirst(skipped ?? 0)
    var answer = AgentAnswer("\(rows.count) rows")
    answer.reasons = found.notes
    answer.about.append(.init("columns", .array(found.columns.map { .string($0.safeLine) })))
    answer.items = rows.prefix(limit).map { .array($0.map(\.json)) }
    let size = try arguments.size
    if answer.count(within: size) < rows.count {
      let begin = skipped ?? 0
      answer.reasons.append("rows keep their place only with ORDER BY")
      // As long as they will be, so that what fits now fits then.
      answer.cursor = String(ServedSQL.maxRows)
      answer.heading = "rows \(ServedSQL.maxRows) to \(ServedSQL.maxRows)"
      answer.items = Array(answer.items.prefix(max(1, answer.count(within: size))))
      let end = begin + answer.items.count
      answer.cursor = String(end)
      answer.heading = "rows \(begin + 1) to \(end)"
    } else if found.hasMore {
      answer.reasons.append("the query has more than \(found.rows.count) rows: narrow it, or group")
    }
    return answer.result(within: size, rest: "select fewer columns, or more \"bytes\"")
  }

  // MARK: - Changes and syncs

  private func changes(_ arguments: AgentArguments) async throws -> JSON {
    let source = try source(arguments)
    let since = try arguments.text(.since) ?? "sync"
    let limit = try arguments.number(.limit, in: 1...1000) ?? 100
    guard let changes = try await source.changes(since: since, atMost: limit) else {
      throw Problem(
        404, "noHistory",
        since == "sync"
          ? "\(source.name): \(ChangeSummary.noSync)"
          : "nothing is known of the state of \(source.name) at that time",
        hint: since == "sync"
          ? "call sync, or name a date" : "call sync; changes are known from then on")
    }
    let isCut = changes.summary.isCut
    let all = isCut ? try await source.changeSummary(since: since) : nil
    let summary = all ?? changes.summary
    let start = summary.date.map { " since \($0.iso8601)" } ?? ""
    let none = summary.gap == nil ? "no changes" : "no known changes"
    let sum = [(summary.count == 0 ? none : summary.text) + start] + summary.omissions
    var answer = AgentAnswer("\(source.name): \(sum.joined(separator: "; "))")
    answer.about.append(.init("source", .string(source.name)))
    answer.about.append(.init("since", (summary.date?.iso8601).map { .string($0) } ?? .null))
    answer.reasons = summary.warnings(of: source.name).map(\.warning.message)
    if let first = summary.firstSync { answer.reasons.append(first) }
    if isCut {
      let number = "\(summary.isCut ? "more than " : "")\(summary.count)"
      answer.reasons.append("the first \(changes.entries.count) of \(number) changes are shown")
    }
    answer.items = changes.entries.map { ChangeEntry.fields.object(of: $0) }
    return answer.result(
      within: try arguments.size, rest: "choose a later \"since\", or more \"bytes\"")
  }

  private func sync(_ arguments: AgentArguments) async throws -> JSON {
    let source = try source(arguments)
    let pages = source.isEndless ? 5 : nil
    let last = try await api.syncs.follow(source, pages: pages) { records, total in
      report(records, total, "\(source.name): \(source.noun.count(records))")
    }
    var answer = AgentAnswer("\(source.name): synced")
    answer.isUntrusted = false
    answer.items = [last]
    if last["complete"] != true {
      answer.reasons.append(
        pages.map { "\(source.name) has no end: \($0) more pages were downloaded" }
          ?? "the sync did not reach the end of the list")
    }
    answer.warnings = (last["warnings"]?.array ?? []).compactMap { $0["message"]?.string }
    return answer.result(within: try arguments.size, rest: "")
  }

  // MARK: - Sources

  private func sources(_ arguments: AgentArguments) async throws -> JSON {
    let chosen = arguments.has(.source) ? [try source(arguments)] : api.sources
    let tables = await (try? api.availableSQL())?.tables() ?? []
    var answer = AgentAnswer(chosen.count == 1 ? "1 source" : "\(chosen.count) sources")
    for source in chosen {
      let kinds = await source.sample().kinds
      let state = try await source.state()
      var members: [JSON.Member] = [
        .init("source", .string(source.name)), .init("about", .string(source.summary)),
      ]
      members += state.members
      if arguments.has(.source) {
        members.append(
          .init(
            "fields",
            .array(
              source.fields.map { field in
                [
                  "name": .string(field.id),
                  "kind": .string(kinds[field.id].map(\.rawValue) ?? field.kind),
                  "about": .string(field.about),
                ]
              })))
        let prefix = source.name.replacing("-", with: "_")
        members.append(
          .init(
            "tables",
            .array(
              tables.filter { $0.name == source.name || $0.name.hasPrefix(prefix) }.map { table in
                [
                  "table": .string(table.name.sqlSpelling),
                  "columns": .array(table.columns.map { .string($0.sqlSpelling) }),
                ]
              })))
      } else {
        members.append(
          .init(
            "fields", .array(source.fields.filter(\.isShown).map { .string($0.id) })))
      }
      answer.items.append(.object(members))
    }
    return answer.result(within: try arguments.size, rest: "name one \"source\"")
  }

  private func adding() throws(Problem) -> SourceAdding {
    guard let adding = api.adding else { throw Problem.unknownPath }
    return adding
  }

  private func proposal(
    _ arguments: AgentArguments
  ) async throws -> SourceAdding.Answer {
    let url = try arguments.text(.url) ?? ""
    report(0, nil, "requesting \(url.oneLine(atMost: 200))")
    let adding = try adding()
    return try await adding.answer(
      for: try arguments.text(.name) ?? adding.name(for: url), at: url)
  }

  private func trySource(_ arguments: AgentArguments) async throws -> JSON {
    let found = try await proposal(arguments).proposal
    var answer = AgentAnswer("\(found.name): \(found.rows.count) sample rows")
    answer.about = [
      .init("name", .string(found.name)),
      .init(
        "evidence",
        .array(
          found.evidence.map {
            .string("\($0.subject): \($0.value) (\($0.reason))".safeLine)
          })),
    ]
    if !found.isProved { answer.reasons.append("it is not proved how further pages are read") }
    if let obstacle = found.obstacle { answer.reasons.append(obstacle) }
    answer.warnings = found.warnings
    answer.items = found.rows
    return answer.result(within: try arguments.size, rest: "allow more \"bytes\"")
  }

  private func addSource(_ arguments: AgentArguments) async throws -> JSON {
    let answer = try await proposal(arguments)
    guard answer.proposal.isProved || answer.proposal.obstacle != nil else {
      throw Problem(
        422, "partial", "the paging is not proved",
        hint: "a person can add it with the command sources add")
    }
    let source = try await api.save(answer.id)
    var result = AgentAnswer("\(source.name) was added")
    result.items = [["source": .string(source.name), "about": .string(source.summary)]]
    return result.result(within: AgentAnswer.standardSize, rest: "")
  }
}

extension SourceState {
  fileprivate var members: [JSON.Member] {
    var members: [JSON.Member] = []
    if let coverage {
      members.append(.init("cached", .integer(records ?? 0)))
      members.append(.init("total", total.map { .integer($0) } ?? .null))
      members.append(.init("allCached", .bool(coverage.isComplete)))
    }
    if bundled > 0 { members.append(.init("bundled", .integer(bundled))) }
    if let fetchedAt { members.append(.init("fetchedAt", .string(fetchedAt.iso8601))) }
    if let syncedAt { members.append(.init("syncedAt", .string(syncedAt.iso8601))) }
    if let problem {
      let hint = problem.hint.map { ". A person has to do this: \($0)" } ?? ""
      members.append(.init("problem", .string(problem.message + hint)))
    }
    return members
  }
}
