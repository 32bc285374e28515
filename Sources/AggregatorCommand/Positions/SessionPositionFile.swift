import AggregatorFiles
import AggregatorKit

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
