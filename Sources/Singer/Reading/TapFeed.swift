import AggregatorFiles
import AggregatorHTTP
package import AggregatorKit
import AggregatorTerminal
package import DeclaredSource

/// A tap, with all that it needs to run.
package final class TapProgram: Sendable {
  /// The longest output of `--discover`, in bytes.
  private static let maxCatalogBytes = 64 << 20

  private let tap: Manifest.Tap
  private let config: String
  private let variables: [String: String]
  private let directory: String
  private let scanner: SecretScanner
  private let maxSilence: Duration

  var name: String { tap.name }

  /// - Parameters:
  ///   - variables: The environment of this process, of which the tap gets the usual ones and those that it names.
  ///   - scanner: Finds the secrets that its messages must not repeat.
  /// - Throws: ``SourceError``: `missingKey`, or `invalidSettings` for a variable that holds a secret.
  package init(
    _ tap: Manifest.Tap, in environment: PluginEnvironment, secrets: [Setting],
    variables: [String: String], maxSilence: Duration
  ) throws(SourceError) {
    self.tap = tap
    self.maxSilence = maxSilence
    var values: [String: String] = [:]
    var known: [Secret] = []
    for setting in secrets {
      guard let secret = environment.settings.secret(setting) else {
        throw SourceError(.missingKey, "\(setting.key) is not set")
      }
      known.append(secret)
      values[setting.key] = secret.reveal(\.self)
    }
    scanner = SecretScanner(known)
    config = tap.config.filled(with: values).text
    let others = environment.sources().flatMap(\.settings).filter(\.isSecret).map(\.key)
    if let secret = tap.variables.first(where: Set(others).contains) {
      throw SourceError(
        .invalidSettings, "\(secret) is a secret, which \(tap.name) cannot have as a variable",
        remedy: "write ${\(secret)} into its config, or use another name")
    }
    let names = ["PATH", "HOME", "LANG", "LC_ALL"] + tap.variables
    self.variables = variables.filter { names.contains($0.key) }
    directory =
      (environment.tokenDirectory?.deletingLastPathComponent()
      ?? FileManager.default.temporaryDirectory).appending(path: "taps").path
  }

  /// A tap that is running, and its files.
  struct Run {
    let process: PipedProgram
    let files: TapFiles
  }

  /// - Parameters:
  ///   - arguments: Arguments besides the configuration.
  ///   - contents: The files of further options, by the name of the option.
  func start(
    _ arguments: [String], _ contents: [String: String] = [:]
  ) throws(SourceError) -> Run {
    guard let path = ExternalProgram.path(of: tap.command[0], variables) else {
      guard !tap.command[0].contains("/") else {
        throw SourceError(
          .unreachable, "\(tap.command[0].oneLine(atMost: 200)) is no program",
          remedy: "correct its path, or make it executable with chmod +x")
      }
      throw SourceError(
        .unreachable, "\(name) is not installed",
        remedy: Remedy("install it, such as with pipx install \(name), or give its path"))
    }
    let files = try TapFiles(in: directory)
    do throws(SourceError) {
      var words = [path] + tap.command.dropFirst() + ["--config"]
      words.append(try files.write(config, as: "config.json"))
      words += arguments
      for (option, text) in contents {
        words += ["--\(option)", try files.write(text, as: "\(option).json")]
      }
      // Files that it leaves there go with the run.
      let variables = variables.merging(["TMPDIR": files.path]) { $1 }
      return Run(
        process: try PipedProgram(words, variables) { files.remove() }, files: files)
    } catch {
      files.remove()
      throw error
    }
  }

  /// Waits for the end of a run, and throws if it is no success.
  func finish(_ process: PipedProgram) async throws(SourceError) {
    let status = await process.status(within: maxSilence)
    guard status != 0 else { return }
    let ending = status.map(ExternalProgram.ending)
    throw failed(process, ending.map { "ended with \($0)" } ?? "did not end after its output")
  }

  /// The failure with the last lines of standard error, without secrets.
  private func failed(_ process: PipedProgram, _ what: String) -> SourceError {
    let lines = process.lastErrors.map { scanner.redacted($0).oneLine(atMost: 160) }
    let log = lines.isEmpty ? "" : ": \(lines.joined(separator: " / "))"
    return SourceError(.serverError, "\(name) \(what)\(log)")
  }

  /// The output that follows, within the time that the tap may be silent.
  func output(
    of process: PipedProgram, since last: ContinuousClock.Instant
  ) async throws(SourceError) -> [UInt8]? {
    do throws(SourceError) { return try await process.next(until: last + maxSilence) } catch {
      await process.end()
      guard error.code == .timedOut else { throw error }
      var failure = failed(process, "sent no message for \(maxSilence.text)")
      (failure.code, failure.remedy) = (.timedOut, error.remedy)
      throw failure
    }
  }

  /// Runs the tap with an option that prints something, and returns that.
  private func printed(
    by option: String, atMost count: Int
  ) async throws(SourceError) -> Data {
    let run = try start([option])
    defer { run.files.remove() }
    var bytes: [UInt8] = []
    while let new = try await output(of: run.process, since: .now) {
      bytes += new
      guard bytes.count <= count else {
        await run.process.end()
        throw SourceError(.tooLarge, "\(name) \(option) prints more than \(count >> 20) MB")
      }
    }
    try await finish(run.process)
    return Data(scanner.redacted(bytes))
  }

  /// Asks the tap for its streams.
  package func discover() async throws(SourceError) -> TapCatalog {
    guard let text = JSONText(try await printed(by: "--discover", atMost: Self.maxCatalogBytes))
    else {
      throw SourceError(.malformed, "\(name) --discover printed no JSON")
    }
    return try TapCatalog(JSON(text))
  }

  /// True if the help of the tap names an option; one without help has none.
  fileprivate func has(_ option: String) async throws(SourceError) -> Bool {
    do throws(SourceError) {
      let help = try await printed(by: "--help", atMost: 1 << 20)
      return String(decoding: help, as: UTF8.self).contains(option)
    } catch {
      guard error.code != .cancelled else { throw error }
      return false
    }
  }

  /// The feed of a stream.
  fileprivate func feed(of stream: TapStream, ids: [JSONPath], _ catalog: TapCatalog) -> TapFeed {
    TapFeed(self, stream, ids: ids, catalog)
  }

  fileprivate func reader(
    of stream: TapStream, ids: [JSONPath], _ files: TapFiles
  ) -> TapReader {
    TapReader(
      stream, ids: ids, redacting: scanner, files: TapBatchFiles(directory: files.path))
  }
}

private final class TapFeed: RecordFeed {
  private let program: TapProgram
  private let stream: TapStream
  private let ids: [JSONPath]
  private let catalog: TapCatalog

  init(_ program: TapProgram, _ stream: TapStream, ids: [JSONPath], _ catalog: TapCatalog) {
    (self.program, self.stream, self.ids, self.catalog) = (program, stream, ids, catalog)
  }

  var isIncremental: Bool { !stream.isFullTable }

  func run(
    from state: String?, _ save: (FeedBatch<DeclaredRecord>) async throws(SourceError) -> Void
  ) async throws(SourceError) -> FeedEnd {
    var files = ["catalog": catalog.selecting(stream.id).text]
    // Old taps ignore a catalog, and send nothing without these.
    if catalog.isOld, try await program.has("--properties") {
      files["properties"] = files["catalog"]
    }
    files["state"] = state
    let run = try program.start([], files)
    defer { run.files.remove() }
    let reader = program.reader(of: stream, ids: ids, run.files)
    do throws(SourceError) {
      var last = ContinuousClock.now
      while let bytes = try await program.output(of: run.process, since: last) {
        let lines = reader.lines
        try reader.add(bytes)
        if reader.lines > lines { last = .now }
        // While more is there, batches become larger, and each takes a transaction.
        if !run.process.hasInput { reader.flush(isEnd: false) }
        while let batch = reader.next() {
          try await save(batch)
          last = .now
        }
      }
      try reader.finish()
      try await saveRest(of: reader, save)
      try await program.finish(run.process)
    } catch {
      await run.process.end()
      if error.code == .timedOut || error.code == .rejected {
        try await saveRest(of: reader, save)
      }
      throw error
    }
    var end = reader.end
    // A tap that ignores what is selected ends as well as one of an empty table.
    if !isIncremental, !reader.hasSchema {
      end.incompleteReason = "\(program.name) sent no SCHEMA of \(stream.name)"
    }
    return end
  }

  private func saveRest(
    of reader: TapReader,
    _ save: (FeedBatch<DeclaredRecord>) async throws(SourceError) -> Void
  ) async throws(SourceError) {
    reader.flush(isEnd: true)
    while let batch = reader.next() { try await save(batch) }
  }
}

extension ManifestFolder {
  /// This folder, whose manifests may start programs if it is the person's own.
  ///
  /// - Parameter variables: The environment of this process.
  package func startingTaps(
    ifSameAs own: String?, variables: [String: String]
  ) -> ManifestFolder {
    guard let own, path == own || OpenFile.isSame(path, own) else { return self }
    var folder = self
    folder.feeds = ManifestFeeds { plugin, environment, maxSilence throws(SourceError) in
      let manifest = plugin.manifest
      guard let tap = manifest.tap else {
        throw SourceError(.invalidSettings, "the manifest has no tap")
      }
      let catalog = try TapCatalog(tap.catalog)
      guard let stream = catalog.stream(tap.stream) else {
        throw SourceError(
          .invalidSettings,
          "the catalog has no stream \"\(tap.stream.oneLine(atMost: 80))\"",
          remedy: "add the source again")
      }
      let program = try TapProgram(
        tap, in: environment, secrets: plugin.settings.filter(\.isSecret), variables: variables,
        maxSilence: maxSilence ?? manifest.timeout)
      return program.feed(of: stream, ids: manifest.id, catalog)
    }
    return folder
  }
}

extension JSON {
  /// This value with the values of settings for `${NAME}`.
  fileprivate func filled(with values: [String: String]) -> JSON {
    switch self {
    case .string(let text):
      var (filled, rest) = ("", text.startIndex)
      for place in Manifest.placeholders(in: text[...]) {
        filled += text[rest..<place.range.lowerBound] + (values[String(place.name)] ?? "")
        rest = place.range.upperBound
      }
      return .string(filled + text[rest...])
    case .array(let elements): return .array(elements.map { $0.filled(with: values) })
    case .object(let members):
      return .object(members.map { Member($0.name, $0.value.filled(with: values)) })
    default: return self
    }
  }
}
