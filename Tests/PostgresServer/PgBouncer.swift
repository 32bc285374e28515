import AggregatorSourceTesting
import Foundation

/// A PgBouncer in transaction mode before one database.
public final class PgBouncer: Sendable {
  /// True if it is installed.
  public static var isAvailable: Bool { path != nil }

  private static let path = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
    .map { "\($0)/pgbouncer" }.first(where: FileManager.default.isExecutableFile)

  /// Its port, for ``PostgresDatabase/uri(port:role:password:parameters:)``.
  public let port: Int

  private let guardian: Guardian
  private let reservation: RefusingPort?

  /// - Parameter connections: Its connections to the server; clients take turns.
  public init(before database: PostgresDatabase, connections: Int = 2) async throws {
    guard let path = Self.path else {
      throw Program.Failure(description: "PgBouncer is not installed")
    }
    let directory = try ServerUser.makeDirectory()
    let reservation = try RefusingPort()
    port = reservation.port
    let settings = """
      [databases]
      \(database.name) = host=127.0.0.1 port=\(database.server.port)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(reservation.port)
      unix_socket_dir =
      auth_type = trust
      auth_file = \(directory)/users
      pool_mode = transaction
      default_pool_size = \(connections)

      """
    try Data(settings.utf8).write(to: URL(filePath: "\(directory)/ini"))
    try Data("\"\(database.name)\" \"\"\n".utf8).write(to: URL(filePath: "\(directory)/users"))
    guardian = try Guardian(
      ServerUser.prefix + [path, "\(directory)/ini"],
      isReady: #"grep -q 'process up' "$directory/log""#, lastSignal: "TERM",
      in: directory)
    #if os(Linux)
      self.reservation = reservation
    #else
      self.reservation = nil
    #endif
    try await guardian.start()
  }
}
