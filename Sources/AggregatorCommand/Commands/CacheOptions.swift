import AggregatorKit

/// What the options say about who answers.
struct ReadingOptions {
  /// Which tiers may answer.
  let reading: CachePolicy

  /// How long one page may take; `nil` leaves it to the source.
  let deadline: Duration?

  /// Reads ``Option/reading``.
  init(_ invocation: Invocation) {
    reading = CachePolicy(
      mayAskService: !invocation.has(.offline), refreshes: invocation.has(.refresh),
      mayFallBack: !invocation.has(.noFallback))
    deadline = invocation.duration(.timeout)
  }

  /// The chain of a source.
  ///
  /// - Parameters:
  ///   - plugin: The source.
  ///   - environment: Everything that it may touch.
  ///   - growth: When a local-first source fetches more: by default only what there is to begin with.
  /// - Returns: The chain.
  /// - Throws: ``CommandError`` with code `settings`.
  func source<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment, growing growth: LoadMorePolicy = .whenEmpty
  ) throws(CommandError) -> any DataSource<P.Item> {
    var reading = reading
    reading.growth = growth
    do {
      return try plugin.source(in: environment, reading: reading, deadline: deadline)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }

  /// What fetches all that a service has.
  ///
  /// - Throws: ``CommandError`` with code `io` without a store.
  func sync<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(CommandError) -> Sync<P.Item> {
    let store = try environment.requiredStore()
    do {
      return try plugin.sync(into: store, in: environment, reading: reading, deadline: deadline)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }

  /// What loads the images of a source.
  ///
  /// - Parameters:
  ///   - plugin: The source.
  ///   - environment: Everything that it may touch.
  ///   - files: Where they are kept.
  /// - Returns: The loader.
  func images(
    of plugin: some Plugin, in environment: PluginEnvironment, keptIn files: ImageDiskCache?
  ) -> ImageLoader {
    ImageLoader(
      of: plugin, in: environment, files: files, reading: reading, deadline: deadline)
  }

  /// What fetches more of a source that grows.
  func upstreamLoader<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(CommandError) -> UpstreamLoader<P.Item>? {
    do {
      return try plugin.upstreamLoader(in: environment, reading: reading, deadline: deadline)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }
}
