import AggregatorKit
import Foundation

extension Plugin {
  var showCommand: Command {
    Command(
      "ID…", words: CompletionSource.severalIDs(of: name), options: Option.lookup + Option.output,
      fields: fields,
      examples: [
        ("\(name) show \(example.id)", "show full details"),
        ("\(name) show \(example.id) --json", "the same as JSON"),
      ]
    ) { invocation, session in
      guard !invocation.arguments.isEmpty else {
        throw CommandError.missingArgument("ID", hint: .command("\(name) show \(example.id)"))
      }
      let output = try OutputOptions(invocation, in: session)
      let listing = try output.listing(
        "show", of: name, fields: fields, layout: layout, shape: .cards)
      let environment = try session.environment()
      environment.warnIfNoStore(session.diagnostics)
      let source = try SourceOptions(invocation).source(of: self, in: environment)
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
      // The message of notFound names the ID already.
      guard ExitCode(failure.error) != .notFound else { return failure.error }
      var error = failure.error
      error.message +=
        " (\(failure.ids.count == 1 ? "ID" : "IDs") \(failure.ids.joined(separator: ", ")))"
      return error
    }
    if outcome.hasAnswer {
      for error in errors { outcome.fail(error) }
      try printer.finish(outcome.summary)
      outcome.report(to: session.diagnostics)
      return outcome.isPartial ? .partial : .success
    }
    for (error, ids) in zip(errors, failures.map(\.ids)) {
      var failure = CommandError(error, of: self)
      if error.cause is DeletedRecord, let id = ids.first, id.isPlainWord {
        failure.hint = .command("\(name) restore \(id)")
      }
      session.diagnostics.error(failure)
    }
    // Any other failure takes precedence over a record that was not found.
    return errors.map(ExitCode.init).first { $0 != .notFound } ?? .notFound
  }

  /// Looks up a record; `notFound` if the text is not a valid ID.
  func find(
    _ text: String, in source: any DataSource<Item>
  ) async -> Result<LookupResult<Item>, SourceError> {
    guard let id = Item.ID(text) else { return .failure(.invalidID(text, of: self)) }
    do throws(SourceError) { return .success(try await source.item(id)) } catch {
      var error = error
      // Sources name themselves in the plural.
      if error.code == .notFound, error.cause == nil {
        error.message = "\(noun.singular) \(id.description.oneLine(atMost: 80)) not found"
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
    ) { invocation, session in
      let id = try invocation.argument("ID")
      guard let link = layout.link else {
        throw CommandError(
          .usage, "\(name) have no web pages",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let environment = try session.environment()
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
        try session.output.write("\(url.absoluteString)\n")
      } else {
        try Browser.open(url, variables: session.variables)
      }
      outcome.report(to: session.diagnostics)
      return .success
    }
  }
}

extension Plugin {
  var imageCommand: Command {
    let hasImages = layout.images != nil
    return Command(
      "ID", words: CompletionSource.one(.ids(of: name)), options: [.size, .file] + Option.lookup,
      notes: hasImages
        ? [
          "Without -o the image is written to standard output, unless that is a terminal. If FILE "
            + "is a directory, the file is named after the ID. Images are cached."
        ] : ["\(name) have no images."],
      examples: hasImages
        ? [
          ("\(name) image \(example.id) -o .", "save to this directory, named after the ID"),
          ("\(name) image \(example.id) --size large -o large.jpg", "the largest size"),
        ] : []
    ) { invocation, session in
      let id = try invocation.argument("ID")
      guard hasImages else {
        throw CommandError(
          .usage, "\(name) have no images",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let destination = try FileDestination(invocation.text(.file), session.terminal)
      let environment = try session.environment()
      let options = SourceOptions(invocation)
      let isRecorded = try RecordingOptions(invocation, environment.settings).isOn
      let images = options.images(
        of: self, in: environment,
        cachedIn: isRecorded ? nil : try session.imageFiles(environment.settings))
      let source = try options.source(of: self, in: environment)
      let size = invocation.text(.size).flatMap(ImageSize.init) ?? .medium
      let found: LookupResult<Item>
      let loaded: LookupResult<LoadedImage>
      do throws(SourceError) {
        found = try await find(id, in: source).get()
        var outcome = ListingOutcome(of: self, at: environment.now())
        outcome.add(found)
        outcome.report(to: session.diagnostics)
        guard let address = try imageAddress(of: found.item, size, in: environment.settings) else {
          throw SourceError(.notFound, "\(noun.singular) \(found.item.id) has no image")
        }
        loaded = try await images.image(at: address)
      } catch {
        throw CommandError(error, of: self)
      }
      report(loaded, environment, session.diagnostics)
      let image = loaded.item
      let file = "\(name)-\(found.item.id.description.fileName).\(image.type.fileExtension)"
      if let path = try destination.write(image.bytes, named: file, session.output) {
        let facts = [
          image.type.mediaType, image.pixels?.description,
          image.bytes.count.byteCount,
        ]
        let summary = facts.compactMap(\.self).joined(separator: ", ")
        session.diagnostics.note("Saved \(path) (\(summary))")
      }
      return .success
    }
  }

  private func report(
    _ loaded: LookupResult<LoadedImage>, _ environment: PluginEnvironment,
    _ diagnostics: Diagnostics
  ) {
    for warning in loaded.warnings { diagnostics.warning("\(name): \(warning.message)") }
    guard let date = loaded.provenance.fetchedAt, loaded.provenance.origin == .cached else {
      return
    }
    let origin = "cached image, fetched \(date.age(at: environment.now()))"
    if let reason = loaded.provenance.reason {
      diagnostics.warning(
        "\(name): \(origin) (\(reason.message))", hint: reason.hint(settings: settings))
    } else {
      diagnostics.note("note: \(origin)")
    }
  }
}

extension String {
  fileprivate var fileName: String {
    String(
      prefix(100).map {
        $0.isASCII && ($0.isLetter || $0.isNumber) || "-_.@".contains($0) ? $0 : "_"
      })
  }
}

struct InvalidRecordID: Error {
  let search: String
}

extension SourceError {
  /// The text is not a valid ID, so no record can have it.
  fileprivate static func invalidID(_ text: String, of plugin: some Plugin) -> SourceError {
    SourceError(
      .notFound, "invalid \(plugin.noun.singular) ID \"\(text)\"",
      cause: InvalidRecordID(
        search: "\(plugin.name) search \(text.isPlainWord ? text : "QUERY")"))
  }
}
