import AggregatorKit

extension Plugin {
  /// `aggregator SOURCE show ID…`.
  var showCommand: Command {
    Command(
      "ID…", words: CompletionSource.severalIDs(of: name), options: Option.reading + Option.output,
      fields: fields,
      examples: [
        ("\(name) show \(example.id)", "all that is known of one"),
        ("\(name) show \(example.id) --json", "the same for a program"),
      ]
    ) { invocation, session in
      guard !invocation.arguments.isEmpty else {
        throw CommandError(.usage, "an ID is missing", hint: .command("\(name) show \(example.id)"))
      }
      let output = try OutputOptions(invocation, in: session)
      let listing = try output.listing(
        "show", of: name, fields: fields, layout: layout, shape: .cards)
      let environment = try session.environment()
      environment.warnIfNoStore(session.diagnostics)
      let source = try ReadingOptions(invocation).source(of: self, in: environment)
      return try await show(
        invocation.arguments, of: source, RecordPrinter(listing, output, in: session),
        ListingOutcome(of: self, at: environment.now()), session)
    }
  }

  private func show(
    _ ids: [String], of source: any DataSource<Item>, _ printer: consuming RecordPrinter<Item>,
    _ outcome: consuming ListingOutcome, _ session: Session
  ) async throws -> ExitCode {
    var printer = printer
    var outcome = outcome
    var failures: [(error: SourceError, ids: [String])] = []
    for text in ids {
      switch await find(text, in: source) {
      case .success(let found):
        outcome.add(found)
        try printer.print([found.item])
      case .failure(let error):
        let same = failures.firstIndex {
          $0.error.code == error.code && $0.error.message == error.message
        }
        if let same { failures[same].ids.append(text) } else { failures.append((error, [text])) }
      }
    }
    let errors = failures.map { failure -> SourceError in
      // A message about a single id names it; one about the service does not.
      guard ExitCode(failure.error) != .notFound else { return failure.error }
      var error = failure.error
      error.message += "; asked for \(failure.ids.joined(separator: ", "))"
      return error
    }
    if outcome.hasAnswer {
      for error in errors { outcome.fail(error) }
      try printer.finish(outcome.summary)
      outcome.tell(session.diagnostics)
      return outcome.isPartial ? .partial : .success
    }
    for (error, ids) in zip(errors, failures.map(\.ids)) {
      var failure = CommandError(error, of: self)
      if error.cause is DeletedRecord, let id = ids.first, id.isPlainWord {
        failure.hint = .command("\(name) restore \(id)")
      }
      session.diagnostics.error(failure)
    }
    // Nothing was found. What is worse than an unknown id decides about the exit code.
    return errors.map(ExitCode.init).first { $0 != .notFound } ?? .notFound
  }

  /// The record with a typed id.
  ///
  /// Text that no id looks like is an id that no record has.
  func find(
    _ text: String, in source: any DataSource<Item>
  ) async -> Result<LookupResult<Item>, SourceError> {
    guard let id = Item.ID(text) else {
      return .failure(
        SourceError(
          .notFound, "'\(text)' is no id of \(name)",
          remedy: "'\(name) search \(text.isPlainWord ? text : "WORD…")' finds ids"))
    }
    return await Result { () async throws(SourceError) in try await source.item(id) }
  }
}
