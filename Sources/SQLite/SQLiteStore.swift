public import AggregatorCore
import AggregatorFiles
public import AggregatorFoundation
public import AggregatorStore
import CAggregatorSQLite
import Synchronization

/// A store in one SQLite file (https://sqlite.org), shared by any number of processes.
///
/// The file is opened on first use and created on the first write. A damaged file is moved aside, never deleted; one
/// of another program, or of a newer version of this one, is left alone: every call fails with `unusableStore`.
public final class SQLiteStore: SourceStore {
  /// The path of the file, which need not exist yet.
  package let path: String

  package let file: StoreFile
  let history: HistoryLimit
  private let views: ViewDefinitions?
  private let writer: StoreConnection
  private let checkpointer: Checkpointer
  /// Connections of their own, so that reads never wait for a writer; the second one is opened only if reads overlap.
  ///
  /// A short read does not wait for a long one, such as a search that counts thousands.
  let readers: [StoreConnection]
  /// The number of calls that wait for each of the readers.
  private let waiting = Mutex(Waiting())
  /// The state of each source when its revision was last asked for.
  let revisions = Mutex(Revisions())
  let pollInterval: Duration
  let clock: any Clock<Duration>
  let listeners = ChangeListeners()

  // Types of their own, because those of dictionaries and arrays are made at run time, also if they stay empty.
  struct Revisions {
    var bySource: [RecordKey: StoreFileState] = [:]
  }
  private struct Waiting {
    var calls = [0, 0]
  }

  /// Creates a store without touching its file.
  ///
  /// Missing directories are created with mode 0700. The longest wait for another
  /// process is 5 s by default. `history` bounds the changes kept of each source. While anybody listens for
  /// changes, the file is examined every `pollInterval`, which takes some microseconds. `report` receives a
  /// warning when a file is moved aside.
  public convenience init(
    at file: URL, busyTimeout: Duration = .seconds(5), history: HistoryLimit = .standard,
    pollInterval: Duration = .milliseconds(500), clock: any Clock<Duration> = ContinuousClock(),
    report: @escaping @Sendable (Warning) -> Void = { _ in }
  ) {
    self.init(
      at: file.path, busyTimeout: busyTimeout, history: history,
      pollInterval: pollInterval, clock: clock, report: report)
  }

  public var capabilities: StoreCapabilities { StoreCapabilities(database: self) }

  /// Creates a store at an absolute path, which keeps these views of its sources up to date in the file; `nil`
  /// leaves them alone.
  ///
  /// With `isStrict` a damaged file is an error, too, instead of being moved aside, and so is a missing directory above its
  /// own. The log is copied into the file when it has `threshold` pages.
  package init(
    at path: String, busyTimeout: Duration = .seconds(5), history: HistoryLimit = .standard,
    showing views: SourceViews? = nil, isStrict: Bool = false,
    checkpointing threshold: Int = Checkpointer.standardThreshold,
    pollInterval: Duration = .milliseconds(500), clock: any Clock<Duration> = ContinuousClock(),
    report: @escaping @Sendable (Warning) -> Void = { _ in }
  ) {
    self.path = path
    self.history = history
    self.pollInterval = pollInterval
    self.clock = clock
    self.views = views.map { views in
      ViewDefinitions(views) { ($0.storedName, $0.definition) }
    }
    file = StoreFile(
      path: path, busyTimeout: busyTimeout, isStrict: isStrict, report: report)
    writer = StoreConnection(to: file, for: .writing)
    checkpointer = Checkpointer(of: file, threshold: threshold)
    readers = [StoreConnection(to: file, for: .reading), StoreConnection(to: file, for: .reading)]
  }

  /// True for a file that says in its head that it is a store of any version (https://sqlite.org/fileformat.html).
  package static func isStore(_ path: String) -> Bool {
    guard let file = try? OpenFile(reading: path), let head = try? file.prefix(72) else {
      return false
    }
    return head.starts(with: "SQLite format 3\0".utf8)
      && head.dropFirst(68).elementsEqual("aggr".utf8)
  }

  package var comparesScopes: Bool { true }

  /// Reads a consistent snapshot, unless the task is cancelled; `nil` if there is no file, or another scope is shown than the
  /// caller expects.
  @_semantics("optimize.sil.specialize.generic.never")
  package func read<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer
  ) async throws(SourceError) -> Answer? {
    guard !Task.isCancelled else { throw .cancelled }
    let index = waiting.withLock { waiting in
      let index = waiting.calls[0] <= waiting.calls[1] ? 0 : 1
      waiting.calls[index] += 1
      return index
    }
    defer { waiting.withLock { $0.calls[index] -= 1 } }
    let expected = ExpectedScope.current
    return try await readers[index].perform { connection throws(SQLiteFailure) in
      try connection.snapshot { connection throws(SQLiteFailure) -> Answer? in
        if let expected {
          let shown = try connection.checkpoint(ExpectedScope.checkpoint, of: expected.source)
          guard expected.check(shown) else { return nil }
        }
        return try body(&connection)
      }
    } ?? nil
  }

  @_semantics("optimize.sil.specialize.generic.never")
  package func write<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer
  ) async throws(SourceError) -> Answer {
    let answer = try await writer.perform {
      [views, checkpointer] connection throws(SQLiteFailure) in
      let answer = try connection.transaction { connection throws(SQLiteFailure) in
        // Here and not when the file is opened, so that it waits for the lock once.
        if let views { try connection.update(views) }
        return try body(&connection)
      }
      checkpointer.transactionDidEnd(of: connection)
      return answer
    }
    guard let answer else {
      throw SourceError(
        .storage, "cannot create \(path)",
        remedy: Remedy("choose another directory", .moveStore))
    }
    return answer
  }

  /// Returns unused space to the disk, if no other process uses the file.
  func compact() async throws(SourceError) {
    _ = try await writer.perform { [checkpointer] connection throws(SQLiteFailure) in
      checkpointer.wait()
      // This is optional and may fail: another process reads, or the disk has no room for a copy. The
      // copy goes to a file, because in memory it could be of any size.
      try? connection.execute(
        "PRAGMA temp_store = FILE; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
      try connection.execute("PRAGMA temp_store = MEMORY")
    }
  }
}

/// A lazily opened connection to the store's file, with a thread of its own.
actor StoreConnection {
  private let file: StoreFile
  private let purpose: StoreFile.Purpose
  private let executor: QueueExecutor
  private var connection: Connection?

  /// True until the file has changed while it was open without locks: it is in use.
  private var mayBeUnlocked: Bool

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(to file: StoreFile, for purpose: StoreFile.Purpose) {
    self.file = file
    self.purpose = purpose
    mayBeUnlocked = purpose == .reading
    executor = QueueExecutor("store.\(purpose.rawValue)")
  }

  /// Runs `body`, which must leave nothing half done if it throws; `nil` if there is no file to read.
  ///
  /// If the file turns out to be damaged, it is moved aside and `body` runs once more on a new one. It also runs
  /// once more if the file was read without locks and has changed meanwhile, or if it was written and has been moved.
  @_semantics("optimize.sil.specialize.generic.never")
  func perform<Answer: Sendable>(
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer, mayRetry: Bool = true
  ) throws(SourceError) -> Answer? {
    guard var open = try take() else { return nil }
    var isLost = false
    do throws(SQLiteFailure) {
      let answer = try body(&open)
      // Anything written to a file that another process moved aside meanwhile would be lost.
      isLost = mayRetry && purpose == .writing && open.hasMoved
      if !open.isOutdated, !isLost {
        connection = consume open
        return answer
      }
    } catch {
      if !open.isOutdated {
        return try recovered(from: error, open, body, mayRetry: mayRetry)
      }
    }
    mayBeUnlocked = false
    return try perform(body, mayRetry: mayRetry && !isLost)
  }

  /// Runs `body` once more after its failure, or throws it.
  private func recovered<Answer: Sendable>(
    from failure: SQLiteFailure, _ open: consuming Connection,
    _ body: @Sendable (inout Connection) throws(SQLiteFailure) -> Answer, mayRetry: Bool
  ) throws(SourceError) -> Answer? {
    let hasMoved = open.hasMoved
    let isDamage = mayRetry && !hasMoved && open.isDamaged(after: failure)
    guard mayRetry, isDamage || hasMoved else {
      connection = consume open
      throw failure.error(of: file.path)
    }
    // The connection is closed only after the move, so that closing it does not write to the file.
    if isDamage { try file.moveAside("is damaged", if: { !open.hasMoved }) }
    _ = consume open
    return try perform(body, mayRetry: false)
  }

  /// Keeps the file locked from now on, so that SQLite counts the changes by others.
  func keepLocked() {
    mayBeUnlocked = false
    if connection?.idleFile != nil { connection = nil }
  }

  private func take() throws(SourceError) -> Connection? {
    if let open = connection.take() {
      // The file may have been deleted, or moved aside by another process. Without locks, that is noticed
      // after reading.
      if open.idleFile != nil || !open.hasMoved { return open }
    }
    return try file.open(for: purpose, mayBeUnlocked: mayBeUnlocked)
  }
}
