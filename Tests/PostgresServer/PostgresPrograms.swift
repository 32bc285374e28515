import Foundation
public import Testing

/// The programs of PostgreSQL 13 or later, and the user that runs them.
struct PostgresPrograms: Sendable {
  let directory: String

  /// The newest that are installed; `nil` without any.
  static let installed: PostgresPrograms? = {
    let debian = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
    let packaged = versions.compactMap { Int($0) }.sorted(by: >).map { "\(debian)/\($0)/bin" }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return (packaged + path.split(separator: ":").map(String.init))
      .map { PostgresPrograms(directory: $0) }.first { $0.isUsable }
  }()

  private var isUsable: Bool {
    let needed = ["initdb", "postgres", "psql", "pg_basebackup"]
    guard needed.allSatisfy({ FileManager.default.isExecutableFile(atPath: path(of: $0)) }),
      let words = try? Program.output(of: [path(of: "postgres"), "--version"]),
      let version = words.firstMatch(of: /([0-9]+)/).flatMap({ Int($0.1) })
    else { return false }
    return version >= 13
  }

  func path(of name: String) -> String { "\(directory)/\(name)" }
}

/// The user that servers run as: the user of the tests, or an ordinary one in the place of root,
/// for which PostgreSQL and PgBouncer refuse to run.
enum ServerUser {
  private static let substitute: (name: String, id: uid_t, group: gid_t)? = {
    guard geteuid() == 0 else { return nil }
    return ["postgres", "nobody"].lazy.compactMap { name in
      getpwnam(name).map { (name, $0.pointee.pw_uid, $0.pointee.pw_gid) }
    }.first
  }()

  /// The words before a command line that run it as that user.
  ///
  /// Not `runuser`, which stays between the server and its signals.
  static var prefix: [String] {
    guard let substitute else { return [] }
    return [
      "setpriv", "--reuid=\(substitute.id)", "--regid=\(substitute.group)", "--clear-groups",
    ]
  }

  /// The options that make a mounted file system this user's own.
  static var mountOptions: String {
    "mode=700,uid=\(substitute?.id ?? getuid()),gid=\(substitute?.group ?? getgid())"
  }

  /// Makes a directory that only this user, and root, can enter.
  ///
  /// Not in the user's own temporary directory: others may not enter it, and the path of a socket
  /// is limited to about a hundred bytes. A database is some 300 files, which memory has twice as fast as a
  /// disk: they are there if that directory is.
  static func makeDirectory() throws -> String {
    let memory = "/dev/shm"
    let parent = NSTemporaryDirectory().hasPrefix("\(memory)/") ? memory : "/tmp"
    let path = try "\(parent)/aggregator-postgres-XXXXXX".withCString { template in
      let buffer = strdup(template)
      defer { free(buffer) }
      guard let made = buffer.flatMap({ mkdtemp($0) }) else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
      return String(cString: made)
    }
    if let substitute { chown(path, substitute.id, substitute.group) }
    return path
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test, by name, without a PostgreSQL to start.
  public static var requiresPostgres: Self {
    .enabled(
      if: PostgresServer.isAvailable,
      "PostgreSQL 13 or later is not installed (Debian's package: postgresql)")
  }

  /// Skips a test, by name, without PgBouncer or without a PostgreSQL behind it.
  public static var requiresPgBouncer: Self {
    .enabled(
      if: PostgresServer.isAvailable && PgBouncer.isAvailable,
      "PgBouncer or PostgreSQL is not installed (Debian's packages: pgbouncer, postgresql)")
  }

  /// Skips a test, by name, where no file system can be mounted for a server.
  public static var requiresSmallDisk: Self {
    .enabled(
      if: PostgresServer.isAvailable && PostgresServer.canMount,
      "PostgreSQL is not installed, or this user cannot mount a tmpfs (run the tests as root)")
  }
}
