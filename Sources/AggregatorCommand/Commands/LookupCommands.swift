import AggregatorKit
import Foundation

extension Plugin {
  var showCommand: Command {
    Command(
      "ID…", words: CompletionSource.severalIDs(of: name),
      options: Option.lookup + Option.formatting + [.full] + pictureOptions,
      fields: fields,
      examples: [
        ("\(name) show \(example.id)", "show full details"),
        ("\(name) show \(example.id) --json", "the same as JSON"),
      ]
    ) { invocation, context in
      guard !invocation.arguments.isEmpty else {
        throw CommandError.missingArgument("ID", hint: .command("\(name) show \(example.id)"))
      }
      let output = try OutputOptions(invocation, in: context)
      let listing = try output.listing(
        "show", of: name, fields: fields, layout: layout, shape: .cards)
      let drawing = try drawing(invocation, output, context)
      let environment = try context.environment()
      environment.warnIfNoStore(context.diagnostics)
      let source = try SourceOptions(invocation).source(of: self, in: environment)
      let pictures = try drawing.map { chafa throws(CommandError) in
        try RecordPictures(of: self, drawnBy: chafa, environment, invocation, context)
      }
      var ids: [String] = []
      for text in invocation.arguments {
        ids.append(try await completed(text, environment, context))
      }
      return try await show(
        ids, of: source,
        RecordPrinter(listing, output, in: context, on: pictures?.card.textLayout),
        ListingOutcome(of: self, at: environment.now()), pictures, context)
    }
  }

  /// The UUID that a listing on a terminal shortened: the only cached or bundled one that begins so.
  private func completed(
    _ text: String, _ environment: PluginEnvironment, _ context: CommandContext
  ) async throws(CommandError) -> String {
    guard text.wholeMatch(of: /[0-9a-fA-F-]{8,35}/) != nil else { return text }
    var ids =
      try context.storePath(environment.settings).map {
        SQLiteStore(at: $0, busyTimeout: .zero).readWithoutWaiting(
          name, idsFrom: text, areDeleted: false, atMost: 10)
      }?.map(\.id) ?? []
    if ids.isEmpty, let page = try? await bundled.page(PageRequest(limit: policy.largestPage)) {
      ids = page.records.map(\.id.description).filter { $0.hasPrefix(text) }
    }
    ids = ids.filter { UUID(uuidString: $0) != nil }
    guard let id = ids.first else { return text }
    guard ids.count == 1 else {
      throw CommandError(
        .usage, "ambiguous \(noun.singular) ID \"\(text)\"",
        hint: .words("IDs that begin with it: \(ids.prefix(3).joined(separator: ", "))"))
    }
    return id
  }

  private func show(
    _ ids: [String], of source: any DataSource<Item>, _ printer: consuming RecordPrinter<Item>,
    _ outcome: consuming ListingOutcome, _ pictures: RecordPictures<Self>?,
    _ context: CommandContext
  ) async throws -> ExitCode {
    var printer = printer
    var outcome = outcome
    var failures = LookupFailures()
    for text in ids {
      switch await find(text, in: source) {
      case .success(let found):
        outcome.add(found)
        let picture = await pictures?.picture(of: found.item, &outcome, context.diagnostics)
        try printer.print([found.item]) { pictures?.card.text(picture, $0) ?? $0 }
      case .failure(let error): failures.add(error, of: text)
      }
    }
    guard outcome.hasAnswer else { return failures.report(of: self, to: context.diagnostics) }
    for error in failures.errors { outcome.fail(error) }
    try printer.finish(outcome.summary)
    outcome.report(to: context.diagnostics)
    return outcome.isPartial ? .partial : .success
  }

  /// Looks up a record; `invalidRequest` if the text is not a valid ID.
  func find(
    _ text: String, in source: any DataSource<Item>
  ) async -> Result<LookupResult<Item>, SourceError> {
    guard let id = Item.ID(text) else { return .failure(.invalidID(text, of: self)) }
    do throws(SourceError) { return .success(try await source.item(id)) } catch {
      var error = error
      // Sources name themselves in the plural.
      let record = "\(noun.singular) \(id.description.oneLine(atMost: 80))"
      switch error.code {
      case .notFound where error.cause == nil: error.message = "\(record) not found"
      case .nothingCached where error.cause == nil:
        error.message = "\(record) is neither cached nor bundled"
      case .offline where error.cause == nil:
        error.message = "\(record) is neither cached nor bundled (offline mode)"
        error.remedy = "retry without --offline"
      default: break
      }
      return .failure(error)
    }
  }
}

extension Plugin {
  var openCommand: Command {
    Command(
      "ID", words: CompletionSource.one(.ids(of: name)), options: [.printURL] + Option.lookup,
      notes: layout.link == nil ? ["\(name) have no web pages."] : [],
      examples: layout.link == nil
        ? [] : [("\(name) open \(example.id) --print-url", "print the URL")]
    ) { invocation, context in
      let id = try invocation.argument("ID")
      guard let link = layout.link else {
        throw CommandError(
          .usage, "\(name) have no web pages",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let environment = try context.environment()
      let source = try SourceOptions(invocation).source(of: self, in: environment)
      let found: LookupResult<Item>
      do throws(SourceError) { found = try await find(id, in: source).get() } catch {
        throw CommandError(error, of: self)
      }
      var outcome = ListingOutcome(of: self, at: environment.now())
      outcome.add(found)
      guard let url = link(found.item)?.webAddress.flatMap({ URL(string: $0) }) else {
        throw CommandError(.notFound, "\(noun.singular) \(found.item.id) has no web page")
      }
      if invocation.has(.printURL) {
        try context.output.write("\(url.absoluteString)\n")
      } else {
        try Browser.open(url, variables: context.variables)
      }
      outcome.report(to: context.diagnostics)
      return .success
    }
  }
}

struct InvalidRecordID: Error {
  let search: String
}

extension SourceError {
  /// The text is not a valid ID, so no record can have it.
  static func invalidID<P: Plugin>(_ text: String, of plugin: P) -> SourceError {
    let rule = P.Item.ID.self is any BinaryInteger.Type ? ": must be a number" : ""
    return SourceError(
      .invalidRequest, "invalid \(plugin.noun.singular) ID \"\(text)\"\(rule)",
      cause: InvalidRecordID(
        search: "\(plugin.name) search \(text.isPlainWord ? text : "QUERY")"))
  }
}
