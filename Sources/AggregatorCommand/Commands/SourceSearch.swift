import AggregatorKit

/// What one source found, in a search of all.
struct SourceSearch: Sendable {
  /// The source's name.
  let source: String

  /// What it came to, for words and for programs.
  let outcome: ListingOutcome

  /// What it found.
  let hits: [SearchHit]

  /// Why it found nothing; `nil` if it answered.
  let error: SourceError?

  /// The same for people.
  let failure: CommandError?

  /// Who answered; `nil` if nobody did.
  let origin: Provenance.Origin?

  /// Whether its service failed, although something else may have answered.
  let hasServiceFailed: Bool

  /// Writes what it found as a table, as a search of this source alone would.
  let printTable: @Sendable (OutputOptions, Session) throws -> Void

  /// The member `sources.NAME` of the JSON envelope.
  var json: JSON {
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
  /// Searches this source, within some time.
  ///
  /// When the time is over, what is at hand answers.
  ///
  /// - Parameters:
  ///   - query: What to look for.
  ///   - limit: How many records at most.
  ///   - time: How long it may take.
  ///   - reading: What the options say about who answers.
  ///   - environment: Everything that it may touch.
  ///   - onward: What to type for more.
  /// - Returns: What it found, or why it found nothing.
  func search(
    _ query: Query, limit: Int, within time: Duration, _ reading: ReadingOptions,
    in environment: PluginEnvironment, continuation: String
  ) async -> SourceSearch {
    var outcome = ListingOutcome(of: self, at: environment.now())
    outcome.continuation = .next(continuation)
    let result = await page(
      PageRequest(matching: query, limit: min(limit, policy.largestPage)), within: time, reading,
      in: environment)
    switch result {
    case .success(let page):
      outcome.add(page, showing: page.records.count)
      let origin = page.provenance.origin
      let records = page.records
      return SourceSearch(
        source: name, outcome: outcome, hits: records.map { SearchHit($0, of: self, from: origin) },
        error: nil, failure: nil, origin: origin,
        hasServiceFailed: page.provenance.reason?.isServiceFailure ?? false
      ) { output, session in
        let listing = try output.listing(
          "search", of: name, query: query, fields: fields, layout: layout)
        var printer = RecordPrinter(listing, output, in: session)
        try printer.print(records)
      }
    case .failure(let error):
      // That nothing is stored is an answer where the store is what is searched.
      let isEmpty = error.code == .nothingStored
      return SourceSearch(
        source: name, outcome: outcome, hits: [], error: isEmpty ? nil : error,
        failure: isEmpty ? nil : CommandError(error, of: self), origin: nil,
        hasServiceFailed: !isEmpty
      ) { _, _ in }
    }
  }

  private func page(
    _ request: PageRequest, within time: Duration, _ reading: ReadingOptions,
    in environment: PluginEnvironment
  ) async -> Result<Page<Item>, SourceError> {
    let clock = environment.clock
    let answer = await withTaskGroup(of: Result<Page<Item>, SourceError>?.self) { group in
      group.addTask {
        await Result { () async throws(SourceError) in
          try await source(in: environment, reading: reading.reading, deadline: time).page(request)
        }
      }
      group.addTask {
        // Cancelled when the answer is there.
        try? await clock.sleep(for: time)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    if let answer { return answer }
    let late = SourceError(
      .timedOut, "no answer within \(time.text)", remedy: "allow more time with --timeout")
    guard reading.reading.mayFallBack else { return .failure(late) }
    return await Result { () async throws(SourceError) in
      var page = try await source(in: environment, reading: .offline).page(request)
      page.provenance.reason = late
      return page
    }
  }
}

extension SourceError {
  /// Whether a service was asked and failed; not that it could not be asked.
  fileprivate var isServiceFailure: Bool {
    switch code {
    case .offline, .missingKey, .nothingStored: false
    default: true
    }
  }
}

/// A record that a search of all sources found.
struct SearchHit: Record {
  /// The record's id in its source.
  let id: String

  /// The source's name.
  let source: String

  /// All of the record, with the source in front.
  let object: JSON

  private let label: String
  private let origin: String

  /// A record of a source.
  init<P: Plugin>(_ record: P.Item, of plugin: P, from origin: Provenance.Origin) {
    source = plugin.name
    let id = record.id.description
    self.id = id
    let shown = plugin.fields.lazy.filter(\.isShown).map { $0[record].cell }
    label = shown.first { !$0.isEmpty && $0 != id } ?? ""
    self.origin = origin.rawValue
    guard case .object(let members) = plugin.fields.object(of: record) else {
      object = .null
      return
    }
    object = .object([JSON.Member("source", .string(plugin.name))] + members)
  }

  /// What is the same for the records of all sources.
  private static let common: [Field<SearchHit>] = [
    Field("source", "Source", \.source, about: "The source."),
    Field("id", "Id", \.id, about: "The record's id in its source."),
    Field("label", "Label", \.label, about: "What it is called."),
    Field("origin", "Origin", \.origin, about: "Who answered: live, stored or bundled."),
  ]

  /// What can be read of the records of some sources; what a source does not have is null.
  static func fields(of plugins: [any Plugin]) -> [Field<SearchHit>] {
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
  fileprivate var fieldEntries: [FieldEntry] { fields.map { FieldEntry($0) } }
}
