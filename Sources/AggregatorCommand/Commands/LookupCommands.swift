import AggregatorArguments
import AggregatorBrowse
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var showCommand: Command {
    Command(
      "[ID… | -]", words: CompletionSource.severalIDs(of: name),
      options: Option.lookup + Option.formatting + [.full] + pictureOptions,
      fields: fields,
      notes: [
        "An ID may also be a name, or the beginning of a name or an ID, if only one cached or bundled record "
          + "has it; a note says which, and a warning if others may not be cached. If none has it, the service is searched once. Other verbs "
          + "accept an ID, or the beginning of a UUID of four characters or more, and no names.",
        "With - the IDs are read from standard input, one per line, of which the first column counts. \(pickNote)",
      ],
      examples: [
        ("\(name) show \(example.idArgument)", "show full details"),
        ("\(name) show \(example.idArgument) --json", "the same as JSON"),
        ("\(name) show", "pick one of the list on the screen"),
      ], run: show)
  }

  private func show(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    var listing = try output.listing("show", of: name, fields: fields, layout: layout)
    listing.shape = .cards
    let drawing = try drawing(invocation, output, context)
    guard let texts = try await invocation.ids(of: self, for: "show", pickedIn: context) else {
      return .interrupted
    }
    let environment = try context.environment()
    environment.warnIfNoStore(context.diagnostics)
    let source = try SourceOptions(invocation).source(of: self, in: environment)
    let pictures = try drawing.map { chafa throws(CommandError) in
      try RecordPictures(of: self, drawnBy: chafa, environment, invocation, context)
    }
    let finder = RecordFinder(self, source, environment, invocation)
    var printer = RecordPrinter(listing, output, in: context, on: pictures?.card.textLayout)
    var outcome = ListingOutcome(of: self, at: environment.now())
    var failures = LookupFailures()
    for text in texts {
      let found: LookupResult<Item>
      let note: String?
      do throws(SourceError) { (found, note) = try await finder.find(text) } catch {
        failures.add(error, of: text)
        continue
      }
      if let note { context.diagnostics.note(note) }
      outcome.add(found, of: self, chosen: listing.chosen?.map { $0.name })
      let picture = await pictures?.picture(of: found.item, &outcome, context.diagnostics)
      try printer.print([found.item]) { pictures?.card.text(picture, $0) ?? $0 }
    }
    guard outcome.hasAnswer else {
      return await failures.report(of: self, in: environment, to: context.diagnostics)
    }
    for error in failures.errors { outcome.fail(error) }
    try printer.finish(outcome.summary)
    outcome.report(to: context.diagnostics)
    return outcome.lookupCode
  }

  var openCommand: Command {
    Command(
      "[ID | -]", words: CompletionSource.one(.ids(of: name)),
      options: [.printURL] + Option.lookup,
      notes: layout.link == nil
        ? ["\(noun.word(for: 2)) have no web pages."]
        : [
          "With - the IDs are read from standard input, one per line, \(maxOpened) at most. \(pickNote)"
        ],
      examples: layout.link == nil
        ? [] : [("\(name) open \(example.idArgument) --print-url", "print the URL")], run: open)
  }

  /// The note of a verb for which records can be picked.
  var pickNote: String {
    "Without an ID, or with a name that several records have, they are picked on the screen of a terminal."
  }

  /// The most pages that are opened at once.
  private var maxOpened: Int { 20 }

  private func open(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    try invocation.refuseArguments(after: 1)
    guard let link = layout.link else {
      let show = Hint.command("\(name) show \(invocation.arguments.first?.argument ?? "ID")")
      throw CommandError(.usage, "\(noun.word(for: 2)) have no web pages", hint: linkHint ?? show)
    }
    let chosen = try await invocation.ids(
      of: self, for: "open", pickedIn: context, takesSeveral: false)
    guard let ids = chosen else { return .interrupted }
    guard ids.count <= maxOpened else {
      throw CommandError(.usage, "more than \(maxOpened) pages to open; nothing was opened")
    }
    let environment = try context.environment()
    let source = try SourceOptions(invocation).source(of: self, in: environment)
    let finder = RecordFinder(self, source, environment, invocation)
    var outcome = ListingOutcome(of: self, at: environment.now())
    var failures = LookupFailures()
    var urls: [URL] = []
    for id in ids {
      let found: LookupResult<Item>
      do throws(SourceError) { found = try await finder.findByID(id) } catch {
        failures.add(await finder.advising(error, about: id), of: id)
        continue
      }
      guard let url = link(found.item)?.webAddress.flatMap({ URL(string: $0) }) else {
        let message = "\(noun.one) \(found.item.id) has no web page"
        guard ids.count > 1 else { throw CommandError(.notFound, message) }
        failures.add(SourceError(.notFound, message), of: id)
        continue
      }
      outcome.add(found)
      urls.append(url)
    }
    guard !urls.isEmpty else {
      return await failures.report(of: self, in: environment, to: context.diagnostics)
    }
    for url in urls {
      if invocation.has(.printURL) {
        try context.output.write("\(url.absoluteString)\n")
      } else {
        try Browser.open(url, variables: context.variables)
      }
    }
    for error in failures.errors { outcome.fail(error) }
    outcome.report(to: context.diagnostics)
    return outcome.lookupCode
  }

  var pictureOptions: [Option] { layout.images == nil ? [] : [.image] }

  /// The program that draws pictures for `--image`; `nil` without that option.
  func drawing(
    _ invocation: Invocation, _ output: OutputOptions, _ context: CommandContext
  ) throws(CommandError) -> Chafa? {
    guard invocation.has(.image) else { return nil }
    let id = invocation.arguments.first?.argument ?? "ID"
    guard output.isForPeople, context.terminal.isOutput else {
      throw CommandError(
        .usage, "\(Option.image.spelling) requires a table on a terminal",
        hint: .command("\(name) image \(id) -o ."))
    }
    return try Chafa(
      invocation, context, requiredBy: Option.image.spelling,
      or: ", or save the image with image -o")
  }
}

/// The pictures beside the cards of records.
struct RecordPictures<P: Plugin>: Sendable {
  let card: IllustratedCard

  private let finder: ImageFinder<P>
  private let chafa: Chafa

  init(
    of plugin: P, drawnBy chafa: Chafa, _ environment: PluginEnvironment, _ invocation: Invocation,
    _ context: CommandContext
  ) throws(CommandError) {
    self.chafa = chafa
    finder = try ImageFinder(of: plugin, in: environment, invocation, context)
    card = IllustratedCard(
      on: context.terminalLayout, height: context.terminal.height, chafa.format)
  }

  /// `nil` without a picture: a record may have none, and a failure is added to `outcome`.
  func picture(
    of record: P.Item, _ outcome: inout ListingOutcome, _ diagnostics: Diagnostics
  ) async -> Picture? {
    do throws(SourceError) {
      let loaded = try await finder.image(of: record)
      for warning in loaded.warnings {
        diagnostics.warning("\(finder.plugin.name): \(warning.message)")
      }
      return try await chafa.picture(of: loaded.item, within: card.size)
    } catch let error where error.code == .notFound {
      diagnostics.note(error.message)
    } catch {
      var error = error
      error.message = "no image of \(finder.plugin.noun.one) \(record.id): \(error.message)"
      outcome.fail(error)
    }
    return nil
  }
}
