import AggregatorFiles
import AggregatorKit
import Foundation

/// The file of a place: `positions/SESSION/SOURCE.json`, for its owner alone.
struct SessionPositionFile: Sendable {
  /// Whose place it is.
  let name: SessionName

  private let path: String

  /// How long a lock is waited for where nobody says so.
  private static let standardWait = Duration.seconds(15)

  /// A file, which need not exist.
  ///
  /// - Parameters:
  ///   - name: Whose place it is.
  ///   - directories: Where the program keeps what it writes.
  /// - Throws: ``CommandError`` with code `io` if there is no directory for it.
  init(_ name: SessionName, in directories: Directories) throws(CommandError) {
    guard let state = directories.state else {
      throw CommandError(
        .io, "there is no directory to keep a place in", hint: "set HOME or AGGREGATOR_HOME")
    }
    self.name = name
    path = "\(state)/positions/\(name.session)/\(name.source)"
  }

  /// The place; `nil` if there is none.
  ///
  /// - Throws: ``CommandError`` with code `notFound` if what is there is no place, and `io` if it cannot be
  ///   read.
  func read() throws(CommandError) -> SessionPosition? {
    let bytes: [UInt8]?
    do throws(SourceError) { bytes = try file.contents(atMost: SessionPosition.largestFile) } catch
    {
      throw error.code == .malformed ? invalid(.damaged) : CommandError(error)
    }
    guard let bytes else { return nil }
    do throws(SessionPosition.Fault) { return try SessionPosition(bytes) } catch {
      throw invalid(error)
    }
  }

  /// Keeps a place.
  ///
  /// - Throws: ``CommandError`` with code `io`; the old place is still there then.
  func write(_ place: SessionPosition) throws(CommandError) {
    do throws(SourceError) { try file.write(place.bytes) } catch { throw CommandError(error) }
  }

  /// Does something while no other process may use this place.
  ///
  /// - Parameters:
  ///   - limit: How long to wait for another; 15 s by default.
  ///   - clock: What measures it.
  ///   - body: What to do.
  /// - Returns: What `body` returns.
  /// - Throws: ``CommandError`` with code `tryLater` if the other takes longer, `io` if the lock cannot be
  ///   had at all, and what `body` throws.
  func holding<Value>(
    within limit: Duration?, clock: any Clock<Duration>, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      let lock = FileLock(path: "\(path).lock")
      return try await lock.holding(within: limit ?? Self.standardWait, clock: clock, body)
    } catch is FileLock.Taken {
      throw CommandError(
        .tryLater, "another process is using this place of \(name.source)",
        hint: "try again later, or go your own way with --session NAME")
    } catch let error as SourceError {
      throw CommandError(error)
    }
  }

  private var file: PrivateFile { PrivateFile(path: "\(path).json") }

  /// What to say of a place that leads nowhere.
  func invalid(_ fault: SessionPosition.Fault?) -> CommandError {
    let what =
      switch fault {
      case .damaged: "is damaged"
      case .otherVersion: "was kept by another version of this program"
      case nil: "is no longer valid"
      }
    return CommandError(
      .notFound, "\(name.source): the place to go on from \(what)",
      hint: .command(name.command(.reset)))
  }
}

/// A place as it is kept in a file, which anybody may have changed.
extension SessionPosition {
  /// Why a file is no place.
  package enum Fault: Error {
    /// It is not what was written.
    case damaged
    /// Another version of the program wrote it.
    case otherVersion
  }

  /// The largest file that is read, in bytes.
  ///
  /// Ten thousand digests take 107 KB, two hundred cursors at their longest 114 KB.
  static let largestFile = 1 << 20

  private static let version = 1
  private static let counts = 0...1_000_000_000

  private struct Version: Codable { let version: Int }

  private struct Stored: Codable {
    let version: Int
    let query: String?
    let next: Cursor?
    let request: Cursor?
    let latest: Shown
    let earlier: [Shown]
    /// The digests, 8 bytes each, big-endian.
    let ids: Data
  }

  /// What is written to a file.
  package var bytes: [UInt8] {
    let stored = Stored(
      version: Self.version, query: query?.text, next: next, request: request, latest: latest,
      earlier: earlier,
      ids: Data(ids.digests.flatMap { digest in withUnsafeBytes(of: digest.bigEndian, Array.init) })
    )
    // Texts, numbers and bytes: nothing that an encoder refuses. What cannot be read is damaged.
    return Array((try? CanonicalJSON.bytes(of: stored)) ?? Data())
  }

  /// Reads a file's contents.
  package init(_ bytes: [UInt8]) throws(Fault) {
    guard let json = JSONText(Data(bytes)), let version = try? json.read(Version.self)
    else { throw .damaged }
    guard version.version == Self.version else { throw .otherVersion }
    guard let stored = try? json.read(Stored.self),
      stored.earlier.count <= Self.mostEarlier,
      (stored.earlier + [stored.latest]).allSatisfy({
        Self.counts ~= $0.count && Self.counts ~= $0.limit && $0.limit > 0
      }),
      stored.ids.count % 8 == 0, stored.ids.count <= 8 * ShownIDs.most
    else { throw .damaged }
    var query: Query?
    if let text = stored.query {
      guard let read = try? Query(text), read.text == text else { throw .damaged }
      query = read
    }
    let ids = Array(stored.ids)
    self.init(
      query: query, earlier: stored.earlier, latest: stored.latest, request: stored.request,
      next: stored.next,
      ids: ShownIDs(
        stride(from: 0, to: ids.count, by: 8).map { start in
          ids[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }))
  }
}

/// Keeps the place at which a `list` or a `search` ended, for `next`.
///
/// Only where a person sees the listing or a session was named: a script never moves a person's place.
struct SessionPositionKeeper {
  private let name: SessionName
  private let directories: Directories
  private let clock: any Clock<Duration>
  private let limit: Duration?
  private let session: Session

  /// A keeper; `nil` where no place is to be kept.
  ///
  /// - Parameters:
  ///   - name: Whose place it is.
  ///   - environment: The settings, and what measures time.
  ///   - limit: How long to wait for another process that uses the place.
  ///   - session: The run.
  ///   - isWanted: Whether a session was named.
  /// - Throws: ``CommandError`` with code `settings`.
  init?(
    _ name: SessionName, for environment: PluginEnvironment, waiting limit: Duration?,
    in session: Session, isWanted: Bool
  ) throws(CommandError) {
    guard session.terminal.isOutput || isWanted else { return nil }
    self.name = name
    directories = try Directories(environment.settings, variables: session.variables)
    clock = environment.clock
    self.limit = limit
    self.session = session
  }

  /// Keeps a place, or warns that it could not: the listing was shown all the same.
  ///
  /// - Returns: What to type to go on; `nil` if the place was not kept.
  func keep(_ place: SessionPosition) async -> String? {
    do {
      let file = try SessionPositionFile(name, in: directories)
      try await file.holding(within: limit, clock: clock) { try file.write(place) }
      return "\(session.tree.program) \(name.command())"
    } catch {
      let failure = error as? CommandError
      session.diagnostics.warning(
        "\(name.source): the place for next was not kept: \(failure?.message ?? "\(error)")",
        hint: failure?.hint)
      return nil
    }
  }
}
