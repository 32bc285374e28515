import AggregatorKit
import Foundation

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

/// What is said about recordings: by options, else by settings.
struct RecordingOptions {
  private static let record = Setting(
    "AGGREGATOR_RECORD", .directory, about: "where requests and replies are recorded, as --record")
  private static let replay = Setting(
    "AGGREGATOR_REPLAY", .directory, about: "the recording that answers, as --replay")

  /// The settings.
  static let settings = [record, replay]

  private let recorded: String?
  private let replayed: String?

  /// Reads `--record`, `--replay` and the settings of the same meaning.
  ///
  /// - Throws: ``CommandError`` with code `usage` for both at once, `settings` for a relative path in a file.
  init(_ invocation: Invocation, _ settings: Settings) throws(CommandError) {
    recorded = try Self.path(invocation.text(.record), else: Self.record, settings)
    replayed = try Self.path(invocation.text(.replay), else: Self.replay, settings)
    guard recorded == nil || replayed == nil else {
      func name(_ option: Option, _ setting: Setting) -> String {
        invocation.has(option) ? option.spelling : setting.key
      }
      throw CommandError(
        .usage,
        "\(name(.record, Self.record)) and \(name(.replay, Self.replay)) exclude each other")
    }
  }

  /// Whether this run is recorded, or replayed.
  var isOn: Bool { recorded != nil || replayed != nil }

  /// The environment that records, is replayed, or is left as it is.
  ///
  /// - Parameters:
  ///   - environment: The real world.
  ///   - known: All settings there are.
  /// - Returns: The environment, with a store of its own if it records or is replayed.
  /// - Throws: ``CommandError`` for a directory that cannot be written, or read as a recording.
  func applied(
    to environment: PluginEnvironment, knowing known: [Setting]
  ) throws(CommandError) -> PluginEnvironment {
    guard isOn else { return environment }
    var environment = environment
    environment.store = try SQLiteStore.temporary()
    do throws(SourceError) {
      if let recorded { return try environment.recording(into: recorded, hiding: known) }
      if let replayed { return environment.replaying(try Recording(replayed), knowing: known) }
      return environment
    } catch {
      throw CommandError(error)
    }
  }

  /// Where a directory is: what is typed counts from the working directory, what stands in a file must
  /// not.
  private static func path(
    _ option: String?, else setting: Setting, _ settings: Settings
  ) throws(CommandError) -> String? {
    if let option { return option }
    if settings.origin(of: setting) == .environment { return settings.text(setting) }
    do { return try settings.directory(setting) } catch { throw CommandError(error) }
  }
}
