import AggregatorSourceTesting
import Foundation

/// A real PostgreSQL on 127.0.0.1, with its data in a temporary directory.
///
/// It is fast because it survives no loss of power: nothing is flushed to the disk. It does survive
/// its own death. It ends with this object, or with the process, however that ends.
public final class PostgresServer: Sendable {
  /// True if a server can be started.
  public static var isAvailable: Bool { PostgresPrograms.installed != nil }

  /// True if a file system can be mounted, for a full disk.
  public static let canMount =
    (try? Program.output(of: ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])) != nil

  private static let starting = Task { try await PostgresServer() }

  /// The server of the whole run, started when it is first needed.
  public static func shared() async throws -> PostgresServer { try await starting.value }

  /// The name of the superuser.
  static let superuser = "postgres"

  /// The role whose members need a password.
  static let passwordGroup = "needs_password"

  public let port: Int
  /// The directory of the server's socket, for addresses with `?host=DIRECTORY`.
  public let socketDirectory: String

  let programs: PostgresPrograms
  private let guardian: Guardian
  /// Keeps the port from other processes while the server is stopped.
  private let reservation: RefusingPort?

  /// Starts a server of its own, for tests that disturb it.
  ///
  /// - Parameters:
  ///   - settings: Settings beside those for speed: `["max_connections": "8"]`.
  ///   - diskMegabytes: The size of the disk for databases with `isOnSmallDisk`, from about 10;
  ///     requires ``Testing/Trait/requiresSmallDisk``.
  public convenience init(
    settings: [String: String] = [:], diskMegabytes: Int? = nil
  ) async throws {
    try await self.init(settings: settings, diskMegabytes: diskMegabytes) { programs, data in
      [
        programs.path(of: "initdb"), "--no-sync", "--encoding=UTF8", "--locale=C",
        "--lc-ctype=\(PostgresDatabase.Characters.all.locale)", "--auth=trust",
        "--username=\(Self.superuser)", "--pgdata=\(data)",
      ]
    }
    _ = try await run("CREATE ROLE \(Self.passwordGroup)")
    if diskMegabytes != nil {
      _ = try await run("CREATE TABLESPACE small LOCATION '\(socketDirectory)/small'")
    }
  }

  private init(
    settings: [String: String], diskMegabytes: Int? = nil,
    makingData: (PostgresPrograms, _ data: String) -> [String]
  ) async throws {
    guard let programs = PostgresPrograms.installed else {
      throw Program.Failure(description: "PostgreSQL is not installed")
    }
    let directory = try ServerUser.makeDirectory()
    let data = "\(directory)/data"
    let reservation = try RefusingPort()
    var command = ServerUser.prefix
    if let diskMegabytes {
      try FileManager.default.createDirectory(
        atPath: "\(directory)/small", withIntermediateDirectories: false)
      command =
        [
          "unshare", "-m", "sh", "-c",
          "mount -t tmpfs -o size=\(diskMegabytes)m,\(ServerUser.mountOptions) tmpfs \"$0\""
            + " && exec \"$@\"",
          "\(directory)/small",
        ] + command
    }
    let settings = [
      "autovacuum": "off", "fsync": "off", "full_page_writes": "off",
      "listen_addresses": "127.0.0.1", "max_connections": "100",
      // A prepared transaction holds its locks without a session.
      "max_prepared_transactions": "20", "port": "\(reservation.port)",
      // More than a small disk, or anyone who needs a buffer gets its errors.
      "shared_buffers": diskMegabytes == nil ? "16MB" : "64MB",
      "unix_socket_directories": directory,
    ].merging(settings) { $1 }
    command += [programs.path(of: "postgres"), "-D", data]
    command += settings.flatMap { ["-c", "\($0)=\($1)"] }

    (self.programs, port, socketDirectory) = (programs, reservation.port, directory)
    guardian = try Guardian(
      command,
      // As pg_ctl finds out: the process, and after seven lines its state.
      isReady: """
        [ "$(sed -n '1p;8p' "$directory/data/postmaster.pid" 2>/dev/null | tr -d ' \\n')" \
        = "${server}ready" ]
        """, lastSignal: "QUIT", in: directory)
    #if os(Linux)
      self.reservation = reservation
    #else
      self.reservation = nil
    #endif
    _ = try await Program.run(ServerUser.prefix + makingData(programs, data))
    let rules = """
      local all         all                      trust
      host  all         +\(Self.passwordGroup)   127.0.0.1/32 scram-sha-256
      host  all         all                      127.0.0.1/32 trust
      host  replication all                      127.0.0.1/32 trust

      """
    // Written in place, so that the file keeps its owner.
    let file = try FileHandle(forWritingTo: URL(filePath: "\(data)/pg_hba.conf"))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(rules.utf8))
    try file.close()
    try await guardian.start()
  }

  /// Starts the server again after ``stop()`` or ``kill()``, and waits until it accepts connections.
  public func start() async throws { try await guardian.start() }

  /// Ends all connections and the server, in order.
  public func stop() async throws { try await guardian.end(by: "INT") }

  /// Stops the server and starts it again, on the same port.
  public func restart() async throws {
    try await stop()
    try await start()
  }

  /// Kills the server without a chance to tell its clients or to write anything.
  public func kill() async throws { try await guardian.end(by: "KILL") }

  /// A server that follows this one and refuses to write.
  public func standby() async throws -> PostgresServer {
    try await PostgresServer(settings: [:]) { [port] programs, data in
      [
        programs.path(of: "pg_basebackup"), "--no-sync", "--checkpoint=fast",
        "--write-recovery-conf",
        "--dbname=postgresql://\(Self.superuser)@127.0.0.1:\(port)", "--pgdata=\(data)",
      ]
    }
  }

  /// Waits until this standby has all that the other server has written so far.
  public func catchUp(with primary: PostgresServer) async throws {
    let position = try await primary.run("SELECT pg_current_wal_lsn()")[0][0]
    while try await run("SELECT pg_last_wal_replay_lsn() >= '\(position)'") != [["t"]] {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Runs statements as the superuser, in the database `postgres` unless another is named.
  ///
  /// - Returns: The rows of all of them, as texts.
  @discardableResult
  public func run(_ statements: String..., in database: String = "postgres") async throws
    -> [[String]]
  {
    try await run(
      statements, at: "postgresql://\(Self.superuser)@127.0.0.1:\(port)/\(database)")
  }

  /// Each statement is a transaction, or more than one.
  public func run(_ statements: [String], at uri: String) async throws -> [[String]] {
    let options = [
      "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--field-separator=\u{1F}",
      "--record-separator-zero", "--set=ON_ERROR_STOP=1", "--dbname=\(uri)",
    ]
    let output = try await Program.run(
      [programs.path(of: "psql")] + options + statements.map { "--command=\($0)" })
    return output.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map { row in
      row.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
    }
  }
}
