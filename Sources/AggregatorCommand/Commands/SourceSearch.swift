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
      let isEmpty = error.code == .nothingCached
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
    case .offline, .missingKey, .nothingCached: false
    default: true
    }
  }
}
