package import AggregatorKit
package import AggregatorTerminal

package struct SourceSearch: Sendable {
  package let source: String

  package let outcome: ListingOutcome

  package let hits: [SearchHit]

  package let error: SourceError?
  package let failure: CommandError?

  /// The origin of the hits; `nil` after a failure.
  package let origin: Provenance.Origin?

  package let printTable: @Sendable (OutputOptions, CommandContext) throws -> Void

  /// The member `sources.NAME` of the JSON envelope.
  package var json: JSON {
    let summary = outcome.summary
    return [
      "page": summary.page, "provenance": summary.provenance?.json ?? .null,
      "error": error.map {
        ["code": .string($0.code.description), "message": .string($0.message)]
      } ?? .null,
    ]
  }
}

extension Plugin {
  /// Searches this source, or its local data if the time limit is exceeded.
  package func search(
    _ query: Query, limit: Int, within time: Duration, _ options: SourceOptions,
    in environment: PluginEnvironment, continuation: String, chosen: [String]?
  ) async -> SourceSearch {
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.continuation = .next(continuation)
    let result = await page(
      PageRequest(matching: query, limit: min(limit, policy.largestPage)), within: time, options,
      in: environment)
    switch result {
    case .success(let page):
      outcome.add(page, showing: page.records.count)
      outcome.check(
        page.records, of: self, chosen: chosen,
        hint: .command("\(name) search \(query.text.typed) --details"))
      let origin = page.provenance.origin
      let records = page.records
      return SourceSearch(
        source: name, outcome: outcome, hits: records.map { SearchHit($0, of: self, from: origin) },
        error: nil, failure: nil, origin: origin
      ) { output, context in
        let listing = try output.listing(
          "search", of: name, query: query, fields: fields, layout: layout)
        var printer = RecordPrinter(listing, output, in: context)
        try printer.print(records)
      }
    case .failure(let error):
      // An empty store is not a failure if the store is what is searched.
      let isEmpty = error.code == .nothingCached
      return SourceSearch(
        source: name, outcome: outcome, hits: [], error: isEmpty ? nil : error,
        failure: isEmpty ? nil : CommandError(error, of: self), origin: nil
      ) { _, _ in }
    }
  }

  private func page(
    _ request: PageRequest, within time: Duration, _ options: SourceOptions,
    in environment: PluginEnvironment
  ) async -> Result<Page<Item>, SourceError> {
    let clock = environment.clock
    let answer = await withTaskGroup(of: Result<Page<Item>, SourceError>?.self) { group in
      group.addTask {
        await Result { () async throws(SourceError) in
          try await source(in: environment, deadline: time).cachePolicy(options.cachePolicy)
            .page(request)
        }
      }
      group.addTask {
        // Cancelled when the page arrives.
        try? await clock.sleep(for: time)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    if let answer { return answer }
    let late = SourceError(
      .timedOut, "no answer within \(time.text)", remedy: Remedy("allow more time", .allowMoreTime))
    guard options.cachePolicy.mayFallBack else { return .failure(late) }
    return await Result { () async throws(SourceError) in
      var page = try await source(in: environment).cachePolicy(.offline).page(request)
      page.provenance.reason = late
      return page
    }
  }
}

package struct SearchHit: Record {
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
    guard case .object(let members) = plugin.fields.object(of: record) else {
      object = .null
      return
    }
    object = .object([JSON.Member("source", .string(plugin.name))] + members)
  }

  private static let common: [Field<SearchHit>] = [
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
            name, name, FieldKind(rawValue: field.kind) ?? .text, about: field.about,
            isShown: false
          ) { $0.object[name] ?? .null })
      }
    }
    return fields
  }
}

extension Plugin {
  /// The name or title of a record: the first field in a row that is not its ID; empty if there is none.
  package func label(of record: Item) -> String {
    fields.name(of: record) ?? ""
  }

  fileprivate var fieldEntries: [FieldEntry] { fields.map { FieldEntry($0) } }
}
