import AggregatorFiles
package import AggregatorKit
import AggregatorSelection
package import AggregatorTerminal

/// The private file of a session position: `positions/SESSION/SOURCE.json`.
package struct SessionPositionFile: Sendable {
  package let name: SessionPositionKey

  private let path: String

  private static let defaultMaxWait = Duration.seconds(15)

  /// Throws ``CommandError`` with code `io` if there is no state directory.
  package init(_ name: SessionPositionKey, in directories: Directories) throws(CommandError) {
    guard let state = directories.state else {
      throw CommandError(
        .io, "no directory for session positions", hint: .home("set HOME or"))
    }
    self.name = name
    path = "\(state)/positions/\(name.session)/\(name.source)"
  }

  /// `nil` if there is none; throws `notFound` for an invalid file and `io` for an unreadable one.
  package func read() throws(CommandError) -> SessionPosition? {
    let bytes: [UInt8]?
    do throws(SourceError) { bytes = try file.contents(atMost: SessionPosition.maxFileSize) } catch
    {
      throw error.code == .malformed ? invalid(.damaged) : CommandError(error)
    }
    guard let bytes else { return nil }
    do throws(SessionPosition.FormatError) { return try SessionPosition(bytes) } catch {
      throw invalid(error)
    }
  }

  /// Replaces the position atomically; after an error (`io`) the old one stays.
  package func write(_ position: SessionPosition) throws(CommandError) {
    do throws(SourceError) { try file.write(position.bytes) } catch { throw CommandError(error) }
  }

  /// Runs `body` under a lock between processes; throws `tryLater` if waiting for it times out,
  /// `io` if it cannot be created.
  package func holding<Value>(
    within limit: Duration?, clock: any Clock<Duration>, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      let lock = FileLock(path: "\(path).lock")
      return try await lock.holding(within: limit ?? Self.defaultMaxWait, clock: clock, body)
    } catch is FileLock.Taken {
      throw CommandError(
        .tryLater, "another process is using the session position of \(name.source)",
        hint: "try again later, or use another session with --session NAME")
    } catch let error as SourceError {
      throw CommandError(error)
    }
  }

  private var file: PrivateFile { PrivateFile(path: "\(path).json") }

  /// The error for an invalid position; `nil` stands for a cursor that the source rejected.
  package func invalid(_ error: SessionPosition.FormatError?) -> CommandError {
    let problem =
      switch error {
      case .damaged: "is damaged"
      case .otherVersion: "was written by another version of this program"
      case nil: "is no longer valid"
      }
    return CommandError(
      .notFound, "\(name.source): the session position \(problem)",
      hint: .command(name.command(.reset)))
  }
}

/// The JSON form of a position, in a file that may have been modified.
extension SessionPosition {
  package enum FormatError: Error {
    case damaged
    case otherVersion
  }

  /// In bytes: ten thousand digests take 107 KB, two hundred cursors of maximum length 114 KB.
  package static let maxFileSize = 1 << 20

  private static let version = 1
  private static let counts = 0...1_000_000_000

  private struct Version: Codable { let version: Int }

  private struct Contents: Codable {
    let version: Int
    let query: String?
    let fields: [String]?
    let selection: SelectionText?
    let next: PageCursor?
    let request: PageCursor?
    let latest: Shown
    let earlier: [Shown]
    /// The digests, 8 bytes each, big-endian.
    let ids: Data
  }

  package var bytes: [UInt8] {
    let stored = Contents(
      version: Self.version, query: query?.text, fields: fields, selection: selection, next: next,
      request: request, latest: latest, earlier: earlier,
      ids: Data(ids.digests.flatMap { digest in withUnsafeBytes(of: digest.bigEndian, Array.init) })
    )
    // Text, numbers and data always encode; an empty file would be read as damaged.
    return Array((try? CanonicalJSON.bytes(of: stored)) ?? Data())
  }

  package init(_ bytes: [UInt8]) throws(FormatError) {
    guard let json = JSONText(Data(bytes)), let version = try? json.read(Version.self)
    else { throw .damaged }
    guard version.version == Self.version else { throw .otherVersion }
    guard let stored = try? json.read(Contents.self),
      stored.earlier.count <= Self.maxEarlierPages,
      (stored.earlier + [stored.latest]).allSatisfy({
        Self.counts ~= $0.count && Self.counts ~= $0.limit && $0.limit > 0
      }),
      stored.ids.count % 8 == 0, stored.ids.count <= 8 * ShownIDs.maxCount
    else { throw .damaged }
    var query: SearchQuery?
    if let text = stored.query {
      guard let parsed = try? SearchQuery(text), parsed.text == text else { throw .damaged }
      query = parsed
    }
    let ids = Array(stored.ids)
    self.init(
      query: query, fields: stored.fields, selection: stored.selection, earlier: stored.earlier,
      latest: stored.latest,
      request: stored.request,
      next: stored.next,
      ids: ShownIDs(
        stride(from: 0, to: ids.count, by: 8).map { start in
          ids[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }))
  }
}

/// Saves the position for `next`, only if standard output is a terminal or a session was named: a
/// script never moves a person's position.
package struct SessionPositionKeeper {
  private let name: SessionPositionKey
  private let directories: Directories
  private let clock: any Clock<Duration>
  private let maxWait: Duration?
  private let context: CommandContext

  /// `nil` if no position is to be saved; `hasNamedSession` if a session was named.
  package init?(
    _ name: SessionPositionKey, for environment: PluginEnvironment, waiting limit: Duration?,
    in context: CommandContext, hasNamedSession: Bool
  ) throws(CommandError) {
    guard context.terminal.isOutput || hasNamedSession else { return nil }
    self.name = name
    directories = try context.directories(environment.settings)
    clock = environment.clock
    maxWait = limit
    self.context = context
  }

  /// Returns the command that continues; `nil`, with a warning, if the position was not saved: the
  /// listing itself has succeeded.
  package func keep(_ position: SessionPosition) async -> String? {
    do {
      let file = try SessionPositionFile(name, in: directories)
      try await file.holding(within: maxWait, clock: clock) { try file.write(position) }
      return "\(context.catalog.program) \(name.command())"
    } catch {
      let failure = error as? CommandError
      context.diagnostics.warning(
        "\(name.source): the session position was not saved: \(failure?.message ?? "\(error)")",
        hint: failure?.hint)
      return nil
    }
  }
}

/// The key of a session position: a session and a source.
package struct SessionPositionKey: Hashable, Sendable {
  /// `default` without `--session`.
  package let session: String

  package let source: String

  /// False for the default session.
  package let isNamed: Bool

  private static let maxLength = 64

  /// Throws ``CommandError`` with code `usage` for a name that is not a safe directory name.
  package init(of source: String, _ invocation: Invocation) throws(CommandError) {
    self.source = source
    isNamed = invocation.has(.session)
    session = invocation.text(.session) ?? "default"
    guard Self.isSession(session) else {
      throw CommandError(
        .usage, "invalid session name \"\(session)\"",
        hint:
          "use up to \(Self.maxLength) characters of A-Z a-z 0-9 . _ -, not starting with . or -"
      )
    }
  }

  package static func isSession(_ text: String) -> Bool {
    guard 1...maxLength ~= text.utf8.count, let first = text.utf8.first else { return false }
    return text.utf8.allSatisfy(\.isNameByte) && first != UInt8(ascii: ".")
      && first != UInt8(ascii: "-")
  }

  /// The arguments that run `next` in this session, with an option if given.
  package func command(_ option: Option? = nil) -> String {
    [
      "\(source) next", option?.spelling, isNamed ? "\(Option.session.spelling) \(session)" : nil,
    ].compactMap(\.self).joined(separator: " ")
  }
}

extension UInt8 {
  fileprivate var isNameByte: Bool {
    isASCIIAlphanumeric || "._-".utf8.contains(self)
  }
}
