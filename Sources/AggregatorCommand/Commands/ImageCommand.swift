import AggregatorKit

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
    guard let date = loaded.provenance.fetchedAt, loaded.provenance.origin == .cached else {
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
