import AggregatorKit
import Foundation

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
