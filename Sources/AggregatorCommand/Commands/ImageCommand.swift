import AggregatorArguments
import AggregatorBrowse
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var imageCommand: Command {
    let hasImages = layout.images != nil
    return Command(
      "[ID… | - | --all]", words: CompletionSource.severalIDs(of: name),
      options: [
        .size, .outputFile, .all.with(about: "save the images of all records", in: .specific),
        .maxPages.with(about: "with --all, stop after N pages, 0 for no limit (default 25)"),
        .jobs.with(about: "images to load concurrently (default \(ImageDownload<Self>.jobs))"),
      ] + detailOptions + Option.lookup,
      notes: hasImages
        ? [
          "Without -o an image is shown on a terminal, if chafa is installed, and written to a pipe "
            + "as it is. Images are cached.",
          "Files in a directory are named after the ID. Several images require a directory, which "
            + "is created; those that are already there are skipped unless --refresh is given, so an "
            + "interrupted download resumes. With - the IDs are read from standard input, one per line.",
        ] : ["\(noun.word(for: 2)) have no images."],
      examples: hasImages
        ? [
          ("\(name) image \(example.idArgument)", "show it on the terminal"),
          (
            "\(name) image \(example.idArgument) -o .", "save to this directory, named after the ID"
          ),
          ("\(name) image \(example.idArgument) --size large -o large.jpg", "the largest size"),
          ("\(name) image --all -o pictures", "save the images of all \(noun.word(for: 2))"),
        ] : []
    ) { invocation, context in
      guard hasImages else {
        let id = invocation.arguments.first?.argument ?? "ID"
        throw CommandError(
          .usage, "\(noun.word(for: 2)) have no images", hint: .command("\(name) show \(id)"))
      }
      guard !invocation.has(.all) else {
        try invocation.refuseArguments()
        return try await ImageDownload(of: self, invocation, context).run()
      }
      for option in [Option.maxPages, .details] where invocation.has(option) {
        throw CommandError(.usage, "\(option.spelling) requires --all")
      }
      guard let chosen = try await invocation.ids(of: self, for: "image", pickedIn: context) else {
        return .interrupted
      }
      let ids = chosen.uniqueIDs
      if invocation.text(.outputFile) == nil, context.terminal.isOutput {
        return try await showImages(ids, invocation, context)
      }
      guard let id = ids.first, ids.count == 1 else {
        return try await ImageDownload(of: self, invocation, context).run(ids)
      }
      return try await saveImage(id, invocation, context)
    }
  }

  private func saveImage(
    _ id: String, _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let destination = try FileDestination(invocation.text(.outputFile), context.terminal)
    let finder = try ImageFinder(of: self, in: context.environment(), invocation, context)
    let found = try await finder.record(id)
    var outcome = ListingOutcome(of: self, at: finder.environment.now())
    outcome.add(found)
    // The error for a copy without images says why it is one.
    let loaded = try await finder.image(of: found)
    outcome.report(to: context.diagnostics)
    finder.report(loaded, to: context.diagnostics)
    let image = loaded.item
    let file = ImageFileName(found.item.id.description, of: name).text(image.type)
    if let path = try destination.write(image.bytes, named: file, in: context) {
      let facts = [
        image.type.mediaType, image.pixels?.description,
        image.bytes.count.byteCount,
      ]
      let summary = facts.compactMap(\.self).joined(separator: ", ")
      context.diagnostics.note("Saved \(path) (\(summary))")
    }
    return outcome.lookupCode
  }

  /// Draws the images on the terminal, in the order of their IDs.
  private func showImages(
    _ ids: [String], _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let chafa = try Chafa(
      invocation, context, requiredBy: "showing an image", or: ", or add -o FILE")
    let size = Picture.Size(
      columns: context.terminal.width, rows: max(3, (context.terminal.height ?? 24) - 2))
    let finder = try ImageFinder(of: self, in: context.environment(), invocation, context)
    var outcome = ListingOutcome(of: self, at: finder.environment.now())
    var failures = LookupFailures()
    var count = 0
    for id in ids {
      let loaded: LookupResult<LoadedImage>
      let picture: Picture
      do throws(SourceError) {
        let found = try await finder.record(id)
        outcome.add(found)
        loaded = try await finder.image(of: found)
        picture = try await chafa.picture(of: loaded.item, within: size)
      } catch {
        failures.add(error, of: id)
        continue
      }
      count += 1
      try context.output.write(picture.text)
      finder.report(loaded, to: context.diagnostics)
    }
    if count == 0, !failures.isEmpty {
      // Bundled records, for one, have no images, and the error says why these were shown.
      return await failures.report(
        of: self, in: finder.environment, to: context.diagnostics)
    }
    for error in failures.errors { outcome.fail(error) }
    outcome.reportCount(to: context.diagnostics)
    return outcome.lookupCode
  }
}

/// The name of the file with a record's image, which no other record of its source has.
struct ImageFileName: Hashable, Sendable {
  private let base: String

  init(_ id: String, of source: String) {
    let safe = String(
      id.prefix(100).map {
        $0.isASCII && ($0.isLetter || $0.isNumber) || "-_.@".contains($0) ? $0 : "_"
      })
    // Other IDs may be as safe.
    base = safe == id ? "\(source)-\(id)" : "\(source)-\(safe)-\(String(id.fnv1a, radix: 36))"
  }

  func text(_ type: ImageType) -> String { "\(base).\(type.fileExtension)" }

  /// The names that the image can have, depending on its type.
  var candidates: [String] { ImageType.allCases.map(text) }
}
