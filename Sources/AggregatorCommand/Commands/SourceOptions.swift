import AggregatorKit
import Foundation

/// The options that choose the source of data.
struct SourceOptions {
  let cachePolicy: CachePolicy

  /// The time limit for one page; `nil` for the source's own.
  let deadline: Duration?

  /// Reads ``Option/reading``.
  init(_ invocation: Invocation) {
    cachePolicy = CachePolicy(
      mayAskService: !invocation.has(.offline), refreshes: invocation.has(.refresh),
      mayFallBack: !invocation.has(.noFallback))
    deadline = invocation.duration(.timeout)
  }

  /// The chain of a source.
  ///
  /// - Parameter growth: When a local-first source fetches more; by default only if nothing is cached.
  /// - Throws: ``CommandError`` with code `settings`.
  func source<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment, growing growth: LoadMorePolicy = .whenEmpty
  ) throws(CommandError) -> any DataSource<P.Item> {
    var cachePolicy = cachePolicy
    cachePolicy.growth = growth
    do {
      return try plugin.source(in: environment, reading: cachePolicy, deadline: deadline)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }

  /// The synchronization of a source.
  ///
  /// - Throws: ``CommandError`` with code `io` without a store.
  func sync<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(CommandError) -> Sync<P.Item> {
    let store = try environment.requiredStore()
    do {
      return try plugin.sync(into: store, in: environment, reading: cachePolicy, deadline: deadline)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }

  /// The image loader of a source.
  func images(
    of plugin: some Plugin, in environment: PluginEnvironment, cachedIn files: ImageDiskCache?
  ) -> ImageLoader {
    ImageLoader(
      of: plugin, in: environment, files: files, reading: cachePolicy, deadline: deadline)
  }

  /// The loader for more records of a growing source.
  func upstreamLoader<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment
  ) throws(CommandError) -> UpstreamLoader<P.Item>? {
    do {
      return try plugin.upstreamLoader(in: environment, reading: cachePolicy, deadline: deadline)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }
}

/// The options and settings for recording and replaying.
struct RecordingOptions {
  private static let record = Setting(
    "AGGREGATOR_RECORD", .directory, about: "directory for recordings, like --record")
  private static let replay = Setting(
    "AGGREGATOR_REPLAY", .directory, about: "recording to replay, like --replay")

  static let settings = [record, replay]

  private let recorded: String?
  private let replayed: String?

  /// Reads `--record` and `--replay`, or else the settings.
  ///
  /// - Throws: ``CommandError`` with code `usage` for both, `settings` for a relative path in a file.
  init(_ invocation: Invocation, _ settings: Settings) throws(CommandError) {
    recorded = try Self.path(invocation.text(.record), else: Self.record, settings)
    replayed = try Self.path(invocation.text(.replay), else: Self.replay, settings)
    guard recorded == nil || replayed == nil else {
      func name(_ option: Option, _ setting: Setting) -> String {
        invocation.has(option) ? option.spelling : setting.key
      }
      throw .exclusive(name(.record, Self.record), name(.replay, Self.replay))
    }
  }

  /// True if this run is recorded or replayed.
  var isOn: Bool { recorded != nil || replayed != nil }

  /// The environment, recording or replayed with an empty store if the options say so.
  ///
  /// - Parameter known: All settings, whose secrets are redacted.
  /// - Throws: ``CommandError`` for a directory that cannot be written, or is not a recording.
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

  /// The path of a directory: an option or variable may be relative to the working directory, a file may
  /// not.
  private static func path(
    _ option: String?, else setting: Setting, _ settings: Settings
  ) throws(CommandError) -> String? {
    if let option { return option }
    if settings.origin(of: setting) == .environment { return settings.text(setting) }
    do { return try settings.directory(setting) } catch { throw CommandError(error) }
  }
}
