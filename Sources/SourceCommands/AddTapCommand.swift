import AggregatorArguments
import AggregatorFiles
import AggregatorInference
import AggregatorKit
import AggregatorQueries
import AggregatorSinger
import AggregatorTerminal
import DeclaredSource

extension Command {
  static let tap = Option(
    "tap", .text, "COMMAND", about: "add the streams of a Singer tap, a program in any language")
  static let tapConfig = Option("tap-config", .file, "FILE", about: "the configuration of the tap")
  static let stream = Option("stream", .list, "NAMES", about: "only these streams of the tap")

  /// The most streams that are shown.
  private static let maxShownStreams = 20

  /// Adds the streams of a tap.
  static func addTap(
    _ name: String, _ command: String, in folder: ManifestFolder, _ invocation: Invocation,
    _ context: CommandContext
  ) async throws -> ExitCode {
    try invocation.refuseArguments(after: 1)
    for option in [curl, openAPI, header, body, each, table, since, single, probe, .refresh]
      + manifestOptions + signInOptions where invocation.has(option)
    { throw CommandError.exclusive(tap.spelling, option.spelling) }
    guard folder.feeds != nil else {
      throw CommandError(
        .usage, "only a manifest in your own folder may start a program",
        hint: "leave out --manifests and AGGREGATOR_MANIFESTS")
    }
    let isThere = folder.names.contains(name) || folder.services.contains(name)
    if isThere, let service = folder.service(of: name) {
      throw CommandError(.usage, "\"\(name)\" is a list of the service \(service)")
    }
    if !isThere { try context.checkName(name, in: folder, mayReplace: false) }
    let own = Set(isThere ? folder.sources(of: name) : [])
    let others = context.catalog.plugins.filter { !own.contains($0.name) }
    let (config, literals) = try tapConfig(
      name, invocation, avoiding: Set(others.flatMap(\.settings).map(\.key)))
    var program: JSON = [
      "command": .array(try words(of: command).map(JSON.string)), "config": config,
    ]
    var secrets = NewSecrets(literals)
    do {
      let hints: JSON = ["tap": program, "stream": "-"]
      let environment = try secrets.environment(
        of: name, in: hints, folder, context, mayAsk: invocation.mayAsk)
      guard let described = Manifest.Tap(program, stream: "-") else {
        throw CommandError(.usage, "invalid value for --tap: must be a program and its arguments")
      }
      context.progress.say { "Starting \(described.name)…" }
      let settings = try declaredSecrets(
        of: name, in: hints, boundIn: folder, replacing: secrets.replaced)
      let catalog = try await TapProgram(
        described, in: environment, secrets: settings, variables: context.variables,
        maxSilence: invocation.duration(.timeout) ?? Manifest.Tap.timeout
      ).discover()
      let streams = try chosen(catalog, invocation)
      let sources = try sourceNames(of: streams, name, invocation)
      for source in sources where !own.contains(source) {
        try context.checkName(source, in: folder, mayReplace: false)
      }
      let isSaved = !invocation.has(.dryRun)
      if isSaved, isThere, !invocation.has(replace) {
        throw CommandError(
          .usage, "there is a source or service \"\(name)\" already",
          hint: "use --replace, or another name")
      }
      program = program.adding("catalog", small(catalog, keeping: streams))
      if let limit = invocation.duration(.timeout) {
        program = program.adding("timeout", .string("\(max(1, Int(limit / .seconds(1))))s"))
      }
      let file = manifest(program, streams, sources, name)
      if isSaved {
        try folder.write(service: file, as: name, rebinding: secrets.replaced)
        try secrets.save(context, environment.settings, areArguments: false)
      }
      if invocation.has(.json) {
        let document: JSON = [
          "schema": "aggregator/1", "manifest": file,
          "streams": .array(zip(streams, sources).map { $0.json(as: $1) }),
        ]
        try context.output.write("\(document.text)\n")
      } else {
        try context.output.write(table(streams))
        if isSaved {
          let list =
            sources.count > 1
            ? "  (sources \(sources.joined(separator: ", ")); --stream NAME takes one)" : ""
          try context.output.write(
            "saved    \(folder.file(of: sources[0]))\(list)\n"
              + "next     \(context.diagnostics.command("\(sources[0]) sync"))\n")
        }
      }
      for stream in streams where stream.keys.isEmpty {
        context.diagnostics.note(
          "\(stream.id.safeLine) names no column that identifies a record: the ID is a digest of the whole row, and equal rows are one record"
        )
      }
      return .success
    } catch let error as SourceError { throw failure(of: error, with: secrets) }
  }

  /// The program and its arguments, with a path that does not depend on the working directory.
  private static func words(of command: String) throws(CommandError) -> [String] {
    var words = command.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let program = words.first else {
      throw CommandError(.usage, "invalid value for --tap: must be a program and its arguments")
    }
    if program.contains("/"), !program.hasPrefix("/") {
      let path = program.hasPrefix("./") ? program.dropFirst(2) : program[...]
      words[0] = "\(try workingDirectory())/\(path)"
    }
    return words
  }

  /// The configuration, with `${NAME}` for each secret that was in it.
  private static func tapConfig(
    _ name: String, _ invocation: Invocation, avoiding taken: Set<String>
  ) throws -> (JSON, [SourceRequest.LiteralSecret]) {
    guard let path = invocation.text(tapConfig) else { return (.object([]), []) }
    guard let bytes = try PrivateFile(path: path).contents(atMost: 64 << 10) else {
      throw CommandError(.io, "cannot read \(path): no such file")
    }
    guard let text = JSONText(Data(bytes)), case let json = JSON(text), json.isObject else {
      throw CommandError(.settings, "\(path) is not a JSON object")
    }
    var secrets = TapSecrets(prefix: name, taken: taken)
    let config = secrets.extracted(from: json, called: "")
    return (config, secrets.found)
  }

  /// The streams that are added.
  private static func chosen(
    _ catalog: TapCatalog, _ invocation: Invocation
  ) throws(CommandError) -> [TapStream] {
    let known = catalog.streams.prefix(maxShownStreams).map(\.id).joined(separator: ", ")
    guard let names = invocation.list(stream) else {
      guard !catalog.streams.isEmpty else {
        throw CommandError(.notFound, "the tap has no streams", hint: "check its configuration")
      }
      guard catalog.streams.count <= ManifestFolder.maxLists else {
        throw CommandError(
          .usage, "the tap has \(catalog.streams.count) streams, too many to add all of them",
          hint: .words("choose with --stream: \(known), …".safeLine))
      }
      return catalog.streams
    }
    return try names.map { name throws(CommandError) in
      guard let stream = catalog.stream(name) else {
        throw CommandError(
          .notFound, "the tap has no stream \"\(name)\"",
          suggestion: nearest(to: name, in: catalog.streams.prefix(1000).map(\.id)),
          hint: .words("its streams: \(known)".safeLine))
      }
      return stream
    }
  }

  /// The names of the sources: the given one for one stream, else one each.
  private static func sourceNames(
    of streams: [TapStream], _ name: String, _ invocation: Invocation
  ) throws(CommandError) -> [String] {
    guard streams.count > 1 else { return [name] }
    var names: [String] = []
    for stream in streams {
      let word = String(
        stream.id.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
      let plain = String("\(name)-\(word)".prefix(32))
      let unique =
        (1...streams.count + 1).lazy.map { number in
          number == 1 ? plain : "\(plain.prefix(28))-\(number)"
        }.first { !names.contains($0) } ?? plain
      names.append(unique)
    }
    return names
  }

  /// The catalog, without streams that are not needed if it is too large for a manifest.
  private static func small(_ catalog: TapCatalog, keeping streams: [TapStream]) -> JSON {
    catalog.json.text.utf8.count <= 64 << 10 ? catalog.json : catalog.keeping(streams.map(\.id))
  }

  /// The manifest of one stream, or of a service with several.
  private static func manifest(
    _ program: JSON, _ streams: [TapStream], _ sources: [String], _ name: String
  ) -> JSON {
    let summaries = streams.map { "\($0.id) of \(program.commandName)" }
    let declared = zip(streams, summaries).map { $0.declaration(summary: $1) }
    let isOne = streams.count == 1
    let timeout = program["timeout"]
    let tap = JSON.object(program.members.filter { $0.name != "timeout" })
    let common = [JSON.Member("tap", tap)] + (timeout.map { [JSON.Member("timeout", $0)] } ?? [])
    if isOne { return .object(common + declared[0]) }
    let lists = zip(sources, declared).map { source, members in
      JSON.Member(String(source.dropFirst(name.count + 1)), .object(members))
    }
    return ["service": .object(common), "resources": .object(lists)]
  }

  /// The lines for people.
  private static func table(_ streams: [TapStream]) -> String {
    let shown = streams.prefix(maxShownStreams)
    let rows = shown.map { stream in
      let keys = stream.keys.isEmpty ? "digest" : stream.keys.joined(separator: ", ")
      let last =
        stream.isFullTable ? stream.columns.count.of("column") : stream.replicationKey ?? ""
      return [stream.id, keys, stream.methodText, last].map { $0.oneLine(atMost: 40) }
    }
    let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
    var text = ""
    for (index, row) in rows.enumerated() {
      let cells = row.enumerated().map { column, cell in
        column < 3 ? cell.padding(to: widths[column]) : cell
      }
      text +=
        (index == 0 ? "streams  " : "         ") + cells.joined(separator: "  ").trimmed + "\n"
    }
    if streams.count > shown.count { text += "         … \(streams.count - shown.count) more\n" }
    return text
  }
}

extension TapStream {
  /// The members of its manifest but for the tap.
  fileprivate func declaration(summary: String) -> [JSON.Member] {
    let paths = keys.map { JSON.string(JSONPath.root.appending($0).description) }
    var members: [JSON.Member] = [
      .init("summary", .string(summary)), .init("stream", .string(id)),
    ]
    if let first = paths.first {
      members.append(.init("id", paths.count == 1 ? first : .array(paths)))
    }
    let fields = columns.prefix(256).filter { !$0.isEmpty }.map {
      JSON.string(JSONPath.root.appending($0).description)
    }
    if !fields.isEmpty { members.append(.init("fields", .array(fields))) }
    return members
  }

  fileprivate func json(as source: String) -> JSON {
    [
      "source": .string(source), "stream": .string(id), "key": .array(keys.map(JSON.string)),
      "method": .string(methodText),
      "replicationKey": replicationKey.map(JSON.string) ?? .null,
      "columns": .array(columns.map(JSON.string)),
    ]
  }
}

extension JSON {
  fileprivate func adding(_ name: String, _ value: JSON) -> JSON {
    .object(members + [Member(name, value)])
  }

  fileprivate var commandName: String {
    let path = self["command"]?.array?.first?.string ?? ""
    return String(path.split(separator: "/").last ?? "tap")
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

/// Takes the secrets out of a configuration.
private struct TapSecrets {
  let prefix: String
  var taken: Set<String>
  var found: [SourceRequest.LiteralSecret] = []

  /// The ends of names of members that are secrets, without `-` and `_`.
  private static let endings = [
    "password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey",
    "privatekey", "authkey", "accountkey", "credentials",
  ]

  init(prefix: String, taken: Set<String>) { (self.prefix, self.taken) = (prefix, taken) }

  mutating func extracted(from json: JSON, called name: String) -> JSON {
    switch json {
    case .string(let text) where isSecret(text, called: name):
      let plain = "\(prefix)_\(name)".uppercased().map { character in
        character.isASCII && (character.isLetter || character.isNumber) ? character : "_"
      }
      let names = (1...99).lazy.map { $0 == 1 ? String(plain) : "\(String(plain))_\($0)" }
      let setting = names.first { !taken.contains($0) } ?? String(plain)
      taken.insert(setting)
      found.append(.init(setting: setting, value: text))
      return .string("${\(setting)}")
    case .array(let elements):
      return .array(elements.map { extracted(from: $0, called: name) })
    case .object(let members):
      return .object(
        members.map { JSON.Member($0.name, extracted(from: $0.value, called: $0.name)) })
    default: return json
    }
  }

  private func isSecret(_ text: String, called name: String) -> Bool {
    guard !text.isEmpty, !text.contains("${") else { return false }
    let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
    if Self.endings.contains(where: plain.hasSuffix) { return true }
    // A password in the address of a database.
    guard let scheme = text.firstRange(of: "://") else { return false }
    let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
    return authority.lastIndex(of: "@").map { authority[..<$0].contains(":") } ?? false
  }
}
