package import AggregatorKit
package import AggregatorTerminal

/// Looks up records of a source and loads their images.
package struct ImageFinder<P: Plugin>: Sendable {
  package let plugin: P
  package let environment: PluginEnvironment
  package let source: any DataSource<P.Item>

  private let finder: RecordFinder<P>
  private let images: RecordImages<P.Item>
  private let cachePolicy: CachePolicy
  private let size: ImageSize

  package init(
    of plugin: P, in environment: PluginEnvironment, _ invocation: Invocation,
    _ context: CommandContext
  ) throws(CommandError) {
    self.plugin = plugin
    self.environment = environment
    let options = SourceOptions(invocation)
    let isRecorded = try RecordingOptions(
      invocation, environment.settings, of: context.catalog.name
    ).isOn
    images = plugin.images(
      in: environment, files: isRecorded ? nil : try context.imageFiles(environment.settings),
      deadline: options.deadline)
    cachePolicy = options.cachePolicy
    source = try options.source(of: plugin, in: environment)
    finder = RecordFinder(plugin, source, environment, invocation)
    size = invocation.text(.size).flatMap(ImageSize.init) ?? .medium
  }

  /// The record of an ID, or of the beginning of one.
  package func record(_ id: String) async throws(SourceError) -> LookupResult<P.Item> {
    try await finder.findByID(id)
  }

  /// Fails with code `notFound` if the record has none.
  package func image(of record: P.Item) async throws(SourceError) -> LookupResult<LoadedImage> {
    try await plugin.image(of: record, size, in: images, cachePolicy)
  }

  /// The image of a record that was looked up: that a bundled one has none says nothing about the service.
  package func image(
    of found: LookupResult<P.Item>
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    do { return try await image(of: found.item) } catch {
      guard error.code == .notFound, found.provenance.origin == .bundled,
        var reason = found.provenance.reason
      else { throw error }
      reason.message = "bundled sample data has no images (\(reason.message))"
      throw reason
    }
  }

  /// Prints the age of a cached image, and why it was not loaded again.
  package func report(_ loaded: LookupResult<LoadedImage>, to diagnostics: Diagnostics) {
    for warning in loaded.warnings { diagnostics.warning("\(plugin.name): \(warning.message)") }
    guard let date = loaded.provenance.fetchedAt, loaded.provenance.origin == .cached else {
      return
    }
    let origin = "cached image, fetched \(date.age(at: environment.now()))"
    if let reason = loaded.provenance.reason {
      diagnostics.warning(
        "\(plugin.name): \(origin) (\(reason.message))",
        hint: reason.hint(settings: plugin.settings))
    } else {
      diagnostics.note("note: \(origin)")
    }
  }
}

extension Plugin {
  /// Loads the image of a record; `notFound` if it has none.
  package func image(
    of record: Item, _ size: ImageSize, in images: RecordImages<Item>, _ cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<LoadedImage> {
    do { return try await images.image(of: record, size, cachePolicy: cachePolicy) } catch {
      var error = error
      // Sources name themselves in the plural.
      if error.code == .notFound { error.message = "\(noun.one) \(record.id) has no image" }
      throw error
    }
  }
}
