import AggregatorKit
import Foundation

extension Plugin {
  var showCommand: Command {
    Command(
      "ID…", words: CompletionSource.severalIDs(of: name),
      options: Option.lookup + Option.formatting + [.full],
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
      let environment = try context.environment()
      environment.warnIfNoStore(context.diagnostics)
      let source = try SourceOptions(invocation).source(of: self, in: environment)
      var ids: [String] = []
      for text in invocation.arguments {
        ids.append(try await completed(text, environment, context))
      }
      return try await show(
        ids, of: source, RecordPrinter(listing, output, in: context),
        ListingOutcome(of: self, at: environment.now()), context)
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
    _ outcome: consuming ListingOutcome, _ context: CommandContext
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
      guard !failure.error.namesID else { return failure.error }
      var error = failure.error
      error.message +=
        " (\(failure.ids.count == 1 ? "ID" : "IDs") \(failure.ids.joined(separator: ", ")))"
      return error
    }
    if outcome.hasAnswer {
      for error in errors { outcome.fail(error) }
      try printer.finish(outcome.summary)
      outcome.report(to: context.diagnostics)
      return outcome.isPartial ? .partial : .success
    }
    for (error, ids) in zip(errors, failures.map(\.ids)) {
      var failure = CommandError(error, of: self)
      if error.cause is DeletedRecord, let id = ids.first, id.isPlainWord {
        failure.hint = .command("\(name) restore \(id)")
      }
      context.diagnostics.error(failure)
    }
    // Any other failure takes precedence over a record that was not found.
    return errors.map(ExitCode.init).first { $0 != .notFound } ?? .notFound
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

extension Plugin {
  var imageCommand: Command {
    let hasImages = layout.images != nil
    return Command(
      "ID", words: CompletionSource.one(.ids(of: name)),
      options: [.size, .outputFile] + Option.lookup,
      notes: hasImages
        ? [
          "Without -o the image is written to standard output; on a terminal, -o is required. If "
            + "FILE is a directory, the file is named after the ID. Images are cached."
        ] : ["\(name) have no images."],
      examples: hasImages
        ? [
          ("\(name) image \(example.id) -o .", "save to this directory, named after the ID"),
          ("\(name) image \(example.id) --size large -o large.jpg", "the largest size"),
        ] : []
    ) { invocation, context in
      let id = try invocation.argument("ID")
      guard hasImages else {
        throw CommandError(
          .usage, "\(name) have no images",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let destination = try FileDestination(invocation.text(.outputFile), context.terminal)
      let environment = try context.environment()
      let options = SourceOptions(invocation)
      let isRecorded = try RecordingOptions(
        invocation, environment.settings, of: context.tree.name
      ).isOn
      let images = options.images(
        of: self, in: environment,
        cachedIn: isRecorded ? nil : try context.imageFiles(environment.settings))
      let source = try options.source(of: self, in: environment)
      let size = invocation.text(.size).flatMap(ImageSize.init) ?? .medium
      let found: LookupResult<Item>
      let loaded: LookupResult<LoadedImage>
      do throws(SourceError) {
        found = try await find(id, in: source).get()
        var outcome = ListingOutcome(of: self, at: environment.now())
        outcome.add(found)
        outcome.report(to: context.diagnostics)
        guard let address = try imageAddress(of: found.item, size, in: environment.settings) else {
          throw SourceError(.notFound, "\(noun.singular) \(found.item.id) has no image")
        }
        loaded = try await images.image(at: address)
      } catch {
        throw CommandError(error, of: self)
      }
      report(loaded, environment, context.diagnostics)
      let image = loaded.item
      let file = "\(name)-\(found.item.id.description.fileName).\(image.type.fileExtension)"
      if let path = try destination.write(image.bytes, named: file, context.output) {
        let facts = [
          image.type.mediaType, image.pixels?.description,
          image.bytes.count.byteCount,
        ]
        let summary = facts.compactMap(\.self).joined(separator: ", ")
        context.diagnostics.note("Saved \(path) (\(summary))")
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
  /// True if the message of a failed lookup names the ID.
  fileprivate var namesID: Bool {
    switch code {
    case .notFound, .unsupported, .invalidRequest, .offline, .nothingCached: true
    default: false
    }
  }

  /// The text is not a valid ID, so no record can have it.
  static func invalidID<P: Plugin>(_ text: String, of plugin: P) -> SourceError {
    let rule = P.Item.ID.self is any BinaryInteger.Type ? ": must be a number" : ""
    return SourceError(
      .invalidRequest, "invalid \(plugin.noun.singular) ID \"\(text)\"\(rule)",
      cause: InvalidRecordID(
        search: "\(plugin.name) search \(text.isPlainWord ? text : "QUERY")"))
  }
}
