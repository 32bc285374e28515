import Foundation

/// A database for one test, and the role that owns it, both of the same name.
public struct PostgresDatabase: Sendable {
  /// The characters that the database takes for letters.
  public enum Characters: Sendable {
    /// All letters of Unicode.
    case all
    /// `LC_CTYPE` C: those of ASCII.
    case ascii

    var locale: String {
      #if canImport(Darwin)
        self == .all ? "en_US.UTF-8" : "C"
      #else
        self == .all ? "C.UTF-8" : "C"
      #endif
    }
  }

  public struct Options: Sendable {
    public var characters: Characters
    /// False to refuse `CREATE EXTENSION` as a provider does.
    public var allowsExtensions: Bool
    /// The password that the owner needs over TCP.
    public var password: String?
    /// True for the disk whose size was given to ``PostgresServer``.
    public var isOnSmallDisk: Bool

    public init(
      characters: Characters = .all, allowsExtensions: Bool = true, password: String? = nil,
      isOnSmallDisk: Bool = false
    ) {
      self.characters = characters
      self.allowsExtensions = allowsExtensions
      self.password = password
      self.isOnSmallDisk = isOnSmallDisk
    }
  }

  public let server: PostgresServer
  public let name: String

  /// The address for the owner, without the password.
  public var uri: String { uri() }

  /// The address through another port, such as that of a proxy, or for another role.
  ///
  /// - Parameters:
  ///   - role: The owner by default; the superuser is `postgres`.
  ///   - parameters: Of libpq, such as `connect_timeout=2`.
  public func uri(
    port: Int? = nil, role: String? = nil, password: String? = nil, parameters: String = ""
  ) -> String {
    let user = [role ?? name, password].compactMap(\.self).joined(separator: ":")
    let query = parameters.isEmpty ? "" : "?\(parameters)"
    return "postgresql://\(user)@127.0.0.1:\(port ?? server.port)/\(name)\(query)"
  }

  /// The same database at a standby.
  public func at(_ standby: PostgresServer) -> PostgresDatabase {
    PostgresDatabase(server: standby, name: name)
  }

  /// Runs statements as the superuser, past everything that is tested.
  ///
  /// - Returns: The rows of all of them, as texts.
  @discardableResult
  public func run(_ statements: String...) async throws -> [[String]] {
    try await server.run(statements, at: uri(role: PostgresServer.superuser))
  }

  /// The first column of all rows of a query.
  public func texts(_ query: String) async throws -> [String] {
    try await run(query).compactMap(\.first)
  }

  /// Ends all connections to this database but those of the superuser.
  public func disconnectAll() async throws {
    try await run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = '\(name)' AND usename <> '\(PostgresServer.superuser)'
      """)
  }

  fileprivate static func make(
    on server: PostgresServer, _ options: Options
  ) async throws -> PostgresDatabase {
    let name = "test_\(UUID().uuidString.prefix(8).lowercased())"
    let database = PostgresDatabase(server: server, name: name)
    var statements = ["CREATE ROLE \(name) LOGIN"]
    if let password = options.password {
      let quoted = password.replacing("'", with: "''")
      statements += [
        "ALTER ROLE \(name) PASSWORD '\(quoted)'",
        "GRANT \(PostgresServer.passwordGroup) TO \(name)",
      ]
    }
    let tablespace = options.isOnSmallDisk ? "TABLESPACE small" : ""
    statements.append(
      """
      CREATE DATABASE \(name) OWNER \(name) TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' \
      LC_CTYPE '\(options.characters.locale)' \(tablespace)
      """)
    _ = try await server.run(
      statements, at: "postgresql://\(PostgresServer.superuser)@127.0.0.1:\(server.port)/postgres")
    if !options.allowsExtensions {
      // The owner needs the right to create schemas, which is that to create extensions as well.
      try await database.run(
        """
        CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE 'permission denied to create extension' USING ERRCODE = 'insufficient_privilege';
        END $$
        """,
        "CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION')"
          + " EXECUTE FUNCTION refuse()")
    }
    return database
  }

  fileprivate func drop() async {
    // A server that the test has stopped takes its databases along.
    _ = try? await server.run(
      ["DROP DATABASE \(name) WITH (FORCE)", "DROP ROLE \(name)"],
      at: "postgresql://\(PostgresServer.superuser)@127.0.0.1:\(server.port)/postgres")
  }
}

/// Runs `body` with a new database, and drops it afterwards.
///
/// - Parameter server: The server of the whole run by default.
public func withDatabase<Value>(
  _ options: PostgresDatabase.Options = .init(), on server: PostgresServer? = nil,
  do body: (PostgresDatabase) async throws -> Value
) async throws -> Value {
  let host: PostgresServer
  if let server { host = server } else { host = try await .shared() }
  let database = try await PostgresDatabase.make(on: host, options)
  let result: Result<Value, any Error>
  do { result = .success(try await body(database)) } catch { result = .failure(error) }
  await database.drop()
  return try result.get()
}
