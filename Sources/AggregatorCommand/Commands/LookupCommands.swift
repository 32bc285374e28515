import AggregatorKit
import Foundation

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

extension Plugin {
  /// `aggregator SOURCE open ID`.
  var openCommand: Command {
    Command(
      "ID", words: CompletionSource.one(.ids(of: name)), options: Option.reading + [.printURL],
      notes: layout.link == nil ? ["\(name) have no web pages."] : [],
      examples: layout.link == nil
        ? [] : [("\(name) open \(example.id) --print-url", "its address")]
    ) { invocation, session in
      let id = try invocation.argument("an ID")
      guard let link = layout.link else {
        throw CommandError(
          .usage, "\(name) have no web pages",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let environment = try session.environment()
      let source = try ReadingOptions(invocation).source(of: self, in: environment)
      let found: LookupResult<Item>
      do throws(SourceError) { found = try await find(id, in: source).get() } catch {
        throw CommandError(error, of: self)
      }
      var outcome = ListingOutcome(of: self, at: environment.now())
      outcome.add(found)
      guard let url = link(found.item)?.webAddress.flatMap({ URL(string: $0) }) else {
        throw CommandError(.notFound, "\(name): no web page is known of '\(id)'")
      }
      if invocation.has(.printURL) {
        try session.output.write("\(url.absoluteString)\n")
      } else {
        try Browser.open(url, variables: session.variables)
      }
      outcome.tell(session.diagnostics)
      return .success
    }
  }
}

extension Plugin {
  /// `aggregator SOURCE image ID`.
  var imageCommand: Command {
    let hasImages = layout.images != nil
    return Command(
      "ID", words: CompletionSource.one(.ids(of: name)), options: [.size, .file] + Option.reading,
      notes: hasImages
        ? [
          "Without -o the image goes to standard output, but never onto a terminal. In a directory it "
            + "gets a name. What was loaded is kept, and used again."
        ] : ["\(name) have no images."],
      examples: hasImages
        ? [
          ("\(name) image \(example.id) -o .", "save it here, named by its id"),
          ("\(name) image \(example.id) --size large -o large.jpg", "as large as there is"),
        ] : []
    ) { invocation, session in
      let id = try invocation.argument("an ID")
      guard hasImages else {
        throw CommandError(
          .usage, "\(name) have no images",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let destination = try FileDestination(invocation.text(.file), session.terminal)
      let environment = try session.environment()
      let reading = ReadingOptions(invocation)
      let isRecorded = try RecordingOptions(invocation, environment.settings).isOn
      let images = reading.images(
        of: self, in: environment,
        keptIn: isRecorded ? nil : try session.imageFiles(environment.settings))
      let source = try reading.source(of: self, in: environment)
      let size = invocation.text(.size).flatMap(ImageSize.init) ?? .medium
      let found: LookupResult<Item>
      let loaded: LookupResult<LoadedImage>
      do throws(SourceError) {
        found = try await find(id, in: source).get()
        var outcome = ListingOutcome(of: self, at: environment.now())
        outcome.add(found)
        outcome.tell(session.diagnostics)
        guard let address = try imageAddress(of: found.item, size, in: environment.settings) else {
          throw SourceError(.notFound, "no image is known of '\(id)'")
        }
        loaded = try await images.image(at: address)
      } catch {
        throw CommandError(error, of: self)
      }
      tell(of: loaded, environment, session.diagnostics)
      let image = loaded.item
      let file = "\(name)-\(found.item.id.description.fileName).\(image.type.fileExtension)"
      if let path = try destination.write(image.bytes, named: file, session.output) {
        let facts = [
          image.type.mediaType, image.pixels?.description,
          "\((image.bytes.count + 1023) / 1024) KB",
        ]
        let words = facts.compactMap(\.self).joined(separator: ", ")
        session.diagnostics.note("saved \(path) (\(words))")
      }
      return .success
    }
  }

  /// Says what an image that was not loaded just now is, and why.
  private func tell(
    of loaded: LookupResult<LoadedImage>, _ environment: PluginEnvironment,
    _ diagnostics: Diagnostics
  ) {
    for warning in loaded.warnings { diagnostics.warning("\(name): \(warning.message)") }
    guard let date = loaded.provenance.fetchedAt, loaded.provenance.origin == .stored else {
      return
    }
    let words = "image loaded \(date.age(at: environment.now()))"
    if let reason = loaded.provenance.reason {
      diagnostics.warning(
        "\(name): \(words) (\(reason.message))", hint: reason.hint(settings: settings))
    } else {
      diagnostics.note("note: \(words)")
    }
  }
}

extension String {
  /// This text as a part of a file's name: nothing that a shell or a file system takes for more.
  fileprivate var fileName: String {
    String(
      prefix(100).map {
        $0.isASCII && ($0.isLetter || $0.isNumber) || "-_.@".contains($0) ? $0 : "_"
      })
  }
}
