package import AggregatorKit

extension Manifest {
  /// A program that speaks the protocol of Singer, and one of the streams that it sends.
  package final class Tap: Hashable, Sendable {
    package static let keys = ["command", "config", "catalog", "variables"]

    /// The longest time without a message.
    package static let timeout = Duration.seconds(300)

    /// The program, a path or a name to be looked up in `PATH`, and its arguments; no shell reads them.
    package let command: [String]

    /// The configuration, in which `${NAME}` stands for a secret setting.
    package let config: JSON

    /// The streams as the program has described them.
    package let catalog: JSON

    /// The names of the environment variables that the program gets besides the usual ones.
    package let variables: [String]

    /// The `tap_stream_id` of the stream.
    package let stream: String

    package let json: JSON

    package static func == (one: Tap, other: Tap) -> Bool {
      one.json == other.json && one.stream == other.stream
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The tap of the object `tap` of a manifest; `nil` if it is invalid.
    package init?(_ json: JSON, stream: String) {
      let words = json["command"]?.array?.compactMap(\.string) ?? []
      let names = json["variables"]?.array?.compactMap(\.string) ?? []
      guard 1...64 ~= words.count, words.count == json["command"]?.array?.count, !words[0].isEmpty,
        words.allSatisfy({ !$0.contains("\0") && !$0.contains("${") }),
        names.count == json["variables"]?.array?.count ?? 0,
        names.allSatisfy({ !$0.isEmpty && !$0.contains("=") && !$0.contains("\0") }),
        json["config"]?.isObject ?? true, json["catalog"]?.isObject ?? true,
        Set(json.members.map(\.name)).isSubset(of: Self.keys)
      else { return nil }
      (command, variables, self.stream, self.json) = (words, names, stream, json)
      config = json["config"] ?? .object([])
      catalog = json["catalog"] ?? .object([])
    }

    /// The receiver of secrets, to which they are bound as others are to a host.
    package var authority: String { "tap:\(command[0].percentEncoded)" }

    /// The name of the program in messages.
    package var name: String {
      String(command[0].split(separator: "/").last ?? "tap").oneLine(atMost: 80)
    }

    /// A text that differs if other records are sent: with another path of the program they are the same.
    var scope: JSON {
      [.array(([name] + command.dropFirst()).map(JSON.string)), config, .string(stream)]
    }
  }
}

extension ManifestReader {
  /// The program of `tap`, and its `stream`.
  func tap() throws(SourceError) -> Manifest.Tap? {
    guard let value = values["tap"], value != .null else {
      if values["stream"] != nil { throw failure("stream", "beside a \"tap\"") }
      return nil
    }
    if values["url"] != nil { throw failure("url", "absent beside a \"tap\"") }
    guard let stream = try string("stream") else {
      throw failure("tap", "beside the name of a \"stream\"")
    }
    for member in value.members {
      try requireKnown(
        member.name, among: Manifest.Tap.keys, at: offset(of: ["tap", member.name]))
    }
    guard let tap = Manifest.Tap(value, stream: stream) else {
      throw failure(
        "tap",
        "an object with the list \"command\" of a program and its arguments, without ${NAME}, and with the objects \"config\" and \"catalog\""
      )
    }
    return tap
  }
}

extension DeclaredPlugin: FedPlugin {
  package func feed(
    in environment: PluginEnvironment, maxSilence: Duration?
  ) throws(SourceError) -> (any RecordFeed<DeclaredRecord>)? {
    guard try lazy.value().get().tap != nil else { return nil }
    guard let folder, let feeds = folder.feeds else {
      throw SourceError(
        .invalidSettings,
        "the manifest starts a program, which only one in your own folder may",
        remedy: Remedy("sources add \(name) --tap COMMAND", .command))
    }
    guard !environment.isReplaying else {
      throw SourceError(.notRecorded, "a program is not recorded, so it cannot be replayed")
    }
    try requireBoundSecrets(in: environment)
    return try feeds.feed(of: self, in: environment, maxSilence)
  }
}

/// The way to start the programs that manifests name.
package final class ManifestFeeds: Sendable {
  private let make:
    @Sendable (DeclaredPlugin, PluginEnvironment, Duration?) throws(SourceError) -> any RecordFeed<
      DeclaredRecord
    >

  package init(
    _ make:
      @escaping @Sendable (DeclaredPlugin, PluginEnvironment, Duration?) throws(SourceError)
      -> any RecordFeed<DeclaredRecord>
  ) { self.make = make }

  func feed(
    of plugin: DeclaredPlugin, in environment: PluginEnvironment, _ maxSilence: Duration?
  ) throws(SourceError) -> any RecordFeed<DeclaredRecord> {
    try make(plugin, environment, maxSilence)
  }
}
