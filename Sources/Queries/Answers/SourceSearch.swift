package import AggregatorKit
package import AggregatorSelection
package import AggregatorTerminal
import Synchronization

/// A search of several sources at once.
package struct SearchOfSources: Sendable {
  /// The time that a source has by default, after which its local data answer.
  package static let defaultTime = Duration.seconds(10)

  package static let defaultLimit = 5

  package let query: SearchQuery
  /// The most records of a source, 1 or more.
  package let limit: Int
  package let time: Duration
  package let cachePolicy: CachePolicy
  /// The names of the fields that were asked for; `nil` for the default ones.
  package let chosen: [String]?
  /// The selection and order of the cached records of each source; `nil` for the search of the service.
  package var selection: SelectionText?
  /// True if only the number of the selected records of each source is asked for.
  package var countsOnly = false
  /// Reads the selected records of all sources in the place of printing them; `nil` to print them.
  package var values: SearchedValues?

  /// True for an answer of all selected records, not of the first ones.
  fileprivate var readsAll: Bool { countsOnly || values != nil }

  package init(
    _ query: SearchQuery, limit: Int, within time: Duration, _ cachePolicy: CachePolicy,
    chosen: [String]?
  ) {
    self.query = query
    self.limit = limit
    self.time = time
    self.cachePolicy = cachePolicy
    self.chosen = chosen
  }
}

/// The values of the selected records of several sources, for a summary of all of them.
package final class SearchedValues: Sendable {
  private struct State {
    var reader: FieldSummaryReader<SearchHit>
    var failure: CommandError?
  }

  /// The most rows to print; `nil` for all.
  package let limit: Int?

  /// The names of the fields that are read.
  package let names: [String]

  private let summary: FieldSummary
  private let state: Mutex<State>

  /// Fails with code `usage` if none of the sources has all fields of the summary and of the selection.
  package init(
    _ summary: FieldSummary, of plugins: [any Plugin], _ selection: SelectionText, limit: Int?
  ) throws(CommandError) {
    let fields = SearchHit.fields(of: plugins)
    let named = summary.naming(fields)
    let reader = try named.reader(of: fields)
    let selected = try selection.fieldNames()
    let names = Set(reader.names + selected)
    let isPossible = plugins.contains { plugin in
      names.isSubset(of: SearchHit.common.map(\.name) + plugin.fieldNames(orTyped: selected))
    }
    guard isPossible else {
      let list = names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
      throw CommandError(.usage, "no source has all of the fields \(list)")
    }
    (self.summary, self.names, self.limit) = (named, reader.names, limit)
    state = Mutex(State(reader: reader))
  }

  /// Fails with code `usage` if there are too many groups.
  package var rows: SummaryRows {
    get throws(CommandError) {
      let state = state.withLock { $0 }
      if let failure = state.failure { throw failure }
      return try state.reader.rows
    }
  }

  /// Fails with code `usage` if a source lacks a field.
  fileprivate func check(_ plugin: some Plugin) throws(CommandError) {
    _ = try summary.reader(of: SearchHit.fields(of: [plugin]))
  }

  fileprivate func add(_ hits: [SearchHit]) {
    state.withLock { state in
      do throws(CommandError) { try state.reader.add(hits) } catch { state.failure = error }
    }
  }
}

/// The result of one of several sources.
package struct SourceSearch: Sendable {
  package let source: String

  package let outcome: ListingOutcome

  package let hits: [SearchHit]

  package let failure: CommandError?

  /// True if the source lacks a field, so that it was not searched.
  package let isLeftOut: Bool

  /// The origin of the hits; `nil` after a failure.
  package let origin: Provenance.Origin?

  /// Prints the hits, and returns the names of the fields that a reader does not see.
  package let printTable: @Sendable (OutputOptions, CommandContext) throws -> [String]

  fileprivate let error: SourceError?

  package var answer: SourceAnswer {
    SourceAnswer(
      source, outcome.printedSummary, error.map { Warning(Warning.Code($0.code), $0.message) })
  }
}

/// The answer of one of several sources, or its error.
package struct SourceAnswer: Sendable {
  fileprivate let source: String
  fileprivate let summary: ListingSummary
  fileprivate let error: Warning?

  package init(_ source: String, _ summary: ListingSummary, _ error: Warning?) {
    self.source = source
    self.summary = summary
    self.error = error
  }

  /// The member `sources.NAME` of the JSON envelope.
  fileprivate var json: JSON {
    [
      "page": summary.page, "provenance": summary.provenance?.json ?? .null,
      "error": error.map {
        ["code": .string($0.code.description), "message": .string($0.message)]
      } ?? .null,
    ]
  }
}

extension ListingSummary {
  /// The summary of the answers of several sources.
  package init(joining answers: [SourceAnswer]) {
    let totals = answers.compactMap { $0.error == nil ? $0.summary.total : nil }
    self.init(
      count: answers.reduce(0) { $0 + $1.summary.count },
      total: totals.count == answers.count ? totals.reduce(0, &+) : nil)
    // Sources without records contribute nothing to them, unless all are without.
    let contributing = answers.filter { $0.summary.count > 0 }
    let provenances = (contributing.isEmpty ? answers : contributing)
      .compactMap(\.summary.provenance)
    provenance = CombinedProvenance(joining: provenances)
    // That of one source is not that of all records.
    if Set(provenances.map(\.endpoint)).count > 1 { provenance?.endpoint = nil }
    warnings = answers.flatMap(\.summary.warnings)
    sources = answers.map { JSON.Member($0.source, $0.json) }
  }
}

extension Plugin {
  /// Searches this source; `continuation` is the command that shows more.
  package func search(
    _ search: SearchOfSources, in environment: PluginEnvironment, continuation: String
  ) async -> SourceSearch {
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.continuation = .next(continuation)
    var selection: Selection<Item>?
    var isLeftOut = false
    do {
      selection = try search.selection.map { text throws(CommandError) in
        try Selection(text, fields, at: environment.now(), inAnyCase: true)
      }
      try search.values?.check(self)
    } catch {
      outcome.leaveOut(error.message)
      isLeftOut = true
    }
    let result = await Result { () async throws(SourceError) -> [Item] in
      isLeftOut ? [] : try await found(by: search, selection, in: environment, &outcome)
    }
    let error = result.failure
    let records = (try? result.get()) ?? []
    let origin = outcome.origin
    return SourceSearch(
      source: name, outcome: outcome,
      hits: origin.map { origin in
        search.countsOnly
          ? [SearchHit(outcome.number, of: self, from: origin)]
          : records.map { SearchHit($0, of: self, from: origin) }
      } ?? [],
      failure: error.map { CommandError($0, of: self) },
      isLeftOut: isLeftOut, origin: origin,
      printTable: { output, context in
        let listing = try output.listing(
          "search", of: name, query: search.query, fields: fields, layout: layout)
        var printer = RecordPrinter(listing, output, in: context)
        try printer.print(records)
        return printer.hiddenFields
      },
      error: error)
  }

  private func found(
    by search: SearchOfSources, _ selection: Selection<Item>?, in environment: PluginEnvironment,
    _ outcome: inout ListingOutcome
  ) async throws(SourceError) -> [Item] {
    func timely(
      else local: (any DataSource<Item>)?
    ) throws(SourceError) -> any DataSource<Item> {
      try self.source(in: environment, deadline: search.time).cachePolicy(search.cachePolicy)
        .timeout(search.time, clock: environment.clock, else: local)
    }
    let mayFallBack = search.cachePolicy.mayFallBack
    let source: any DataSource<Item>
    if let selection {
      outcome.firstPage = try await readFirstPage(
        of: try timely(else: nil), in: environment, search.cachePolicy)
      source = try await selectedRecords(
        by: selection, in: environment, mayBeBundled: mayFallBack, &outcome)
    } else {
      source = try timely(
        else: mayFallBack ? try self.source(in: environment).cachePolicy(.offline) : nil)
    }
    // If the service is asked and fails, the answer says so.
    if selection == nil, !search.cachePolicy.mayAskService, let store = environment.store {
      outcome.gap = try? await gap(in: store)
    }
    var run = ListingRun(
      source, of: self, matching: search.query,
      search.readsAll
        ? .all(pageSize: 1000) : .page(of: min(search.limit, policy.largestPage)), outcome)
    (run.countsOnly, run.outcome.isNumber) = (search.countsOnly, search.readsAll)
    run.store = environment.store
    run.chosen = search.values?.names ?? search.chosen
    run.detailsHint = .command("\(name) search \(search.query.text.typed) --details")
    defer { outcome = run.outcome }
    guard let values = search.values else { return try await run.records() }
    while let records = try await run.next() {
      let origin = run.outcome.origin ?? .cached
      values.add(records.map { SearchHit($0, of: self, from: origin) })
    }
    return []
  }

  /// The name or title of a record: the first field in a row that is not its ID; empty if there is none.
  package func label(of record: Item) -> String { fields.name(of: record) ?? "" }

  package var fieldEntries: [FieldEntry] { fields.map { FieldEntry($0) } }
}

package struct SearchHit: SourceRecord {
  package let id: String

  package let source: String

  /// The complete record, with the source as its first member.
  package let object: JSON

  private let label: String
  private let origin: String

  package init<P: Plugin>(_ record: P.Item, of plugin: P, from origin: Provenance.Origin) {
    source = plugin.name
    id = record.id.description
    label = plugin.label(of: record)
    self.origin = origin.rawValue
    object = plugin.fields.object(of: record).named(plugin.name)
  }

  /// The number of the records of a source, in the place of them.
  init(_ count: Int, of plugin: some Plugin, from origin: Provenance.Origin) {
    source = plugin.name
    id = plugin.name
    label = ""
    self.origin = origin.rawValue
    object = ["source": .string(plugin.name), "count": .integer(count)]
  }

  /// The fields of numbers of records.
  package static let ofCounts: [Field<SearchHit>] = [
    common[0],
    Field("count", "Count", .integer, about: "The number of records.") {
      $0.object["count"] ?? .null
    },
  ]

  fileprivate static let common: [Field<SearchHit>] = [
    Field("source", "Source", \.source, about: "The source."),
    Field("id", "ID", \.id, about: "The record's ID in its source."),
    Field("label", "Label", \.label, about: "The name or title."),
    Field("origin", "Origin", \.origin, about: "The origin: live, cached or bundled."),
  ]

  /// The fields of several sources; null for records of a source without the field.
  package static func fields(of plugins: [any Plugin]) -> [Field<SearchHit>] {
    var fields = common
    for plugin in plugins {
      for field in plugin.fieldEntries where !fields.contains(where: { $0.name == field.id }) {
        let name = field.id
        fields.append(
          Field(
            name, field.label, FieldKind(rawValue: field.kind) ?? .text, about: field.about,
            isShown: false
          ) { $0.object[name] ?? .null })
      }
    }
    return fields
  }
}

extension JSON {
  /// This object with the name of its source as the first member.
  package func named(_ source: String) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object([JSON.Member("source", .string(source))] + members)
  }
}

extension [String] {
  /// The records of any of these sources: `countries, records of shop, wiki or 10 others`.
  package var recordsOfAny: String {
    let nouns = map { RecordNoun($0) }
    let others = nouns.filter { !$0.isPlural }.map(\.plural)
    var words = nouns.filter(\.isPlural).map(\.plural)
    if let first = others.first { words += ["records of \(first)"] + others.dropFirst() }
    // A rest of one would take as much room as its name.
    if words.count > 7 { words[6...] = ["\(words.count - 6) others"] }
    return words.count < 2
      ? words.joined() : "\(words.dropLast().joined(separator: ", ")) or \(words[words.count - 1])"
  }
}

extension DataSource {
  /// Reads a page that does not arrive within a time from a local source instead; `nil` to fail with `timedOut`.
  ///
  /// Unlike ``DataSource/fallback(to:when:)`` it leaves cursors alone, so that the source itself continues the listing.
  package func timeout(
    _ limit: Duration, clock: some Clock<Duration>, else local: (any DataSource<Item>)?
  ) -> some DataSource<Item> {
    LocalWhenLate(base: timeout(limit, clock: clock), local: local)
  }
}

private struct LocalWhenLate<Base: DataSource>: Decorator {
  let base: Base
  let local: (any DataSource<Base.Item>)?

  var label: String { "localWhenLate" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    do { return try await base.page(request) } catch {
      guard let local, error.code == .timedOut else { throw error }
      guard var page = try? await local.page(request) else { throw error }
      page.provenance.reason = error
      return page
    }
  }
}
