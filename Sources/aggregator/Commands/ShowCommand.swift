import Core

extension Plugin {
  /// `aggregator SOURCE show ID…`.
  var showCommand: Command {
    Command(
      "ID…", options: Option.reading + Option.output, fields: fields,
      examples: [
        "\(name) show \(example.id)": "all that is known of one",
        "\(name) show \(example.id) --json": "the same for a program",
      ]
    ) { invocation, session in
      guard !invocation.arguments.isEmpty else {
        throw Failure(.usage, "an ID is missing", hint: "aggregator \(name) show \(example.id)")
      }
      let output = try OutputOptions(invocation, in: session)
      let listing = try output.listing(
        "show", of: name, fields: fields, layout: layout, shape: .cards)
      let source = try ReadingOptions(invocation).source(of: self, in: session.environment())
      return try await show(
        invocation.arguments, of: source, RecordPrinter(listing, output, in: session), session)
    }
  }

  private func show(
    _ ids: [String], of source: any DataSource<Item>, _ printer: consuming RecordPrinter<Item>,
    _ session: Session
  ) async throws -> ExitCode {
    var printer = printer
    var tally = Tally(of: self)
    var failures: [Failure] = []
    for text in ids {
      switch await find(text, in: source) {
      case .success(let found):
        tally.add(found)
        try printer.print([found.item])
      case .failure(let error):
        failures.append(Failure(error, of: self))
        tally.fail(error)
      }
    }
    if tally.hasAnswer {
      try printer.finish(tally.summary)
      tally.tell(session.diagnostics)
      return tally.isPartial ? .partial : .success
    }
    // Nothing was found. What is worse than an unknown id decides about the exit code.
    let worst = failures.first { $0.code != .notFound } ?? failures[0]
    for failure in failures { session.diagnostics.error(failure) }
    return worst.code
  }

  /// The record with a typed id.
  ///
  /// Text that no id looks like is an id that no record has.
  func find(
    _ text: String, in source: any DataSource<Item>
  ) async -> Result<Found<Item>, SourceError> {
    guard let id = Item.ID(text) else {
      return .failure(
        SourceError(
          .notFound, "'\(text)' is no id of \(name)",
          remedy: "aggregator \(name) search \(text.isPlainWord ? text : "WORD…")"))
    }
    return await Result { () async throws(SourceError) in try await source.item(id) }
  }
}
