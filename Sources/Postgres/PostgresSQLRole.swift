package import AggregatorCore
import AggregatorStore

/// A role for queries, which may read the views of the sources and nothing else of the store.
package struct PostgresSQLRole: Sendable {
  package let name: String

  /// The statements that create it, or give it its rights.
  package let statements: [String]

  /// - Parameter owner: The role that creates the views.
  init(_ name: String, exists: Bool, owner: String) {
    self.name = name
    let (role, schema) = (name.postgresName, PostgresSchema.viewSchema)
    let creation =
      "CREATE ROLE \(role) LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
    statements =
      (exists ? [] : [creation]) + [
        "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
        "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
        // Views are dropped and created again.
        "ALTER DEFAULT PRIVILEGES FOR ROLE \(owner.postgresName) IN SCHEMA \(schema) "
          + "GRANT SELECT ON TABLES TO \(role)",
      ]
  }

  /// True for a name that a role can have.
  package static func isName(_ text: String) -> Bool {
    1...63 ~= text.utf8.count && !["public", "none"].contains(text) && !text.hasPrefix("pg_")
      && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }
}

extension PostgresStore {
  /// The role with this name and the statements that it still needs.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a role that may do more than read the views.
  package func sqlRole(_ name: String) async throws(SourceError) -> PostgresSQLRole {
    let found = try await inspect { connection, _ throws(PostgresFailure) in
      let result = try connection.rows(
        """
        SELECT coalesce((
            SELECT pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace WHERE nspname = $2),
            current_user)::text,
          EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1),
          EXISTS (
            SELECT 1 FROM pg_catalog.pg_roles r JOIN pg_catalog.pg_roles m
              ON pg_has_role(r.oid, m.oid, 'MEMBER')
            WHERE r.rolname = $1 AND (m.rolsuper OR m.rolreplication OR m.rolname = current_user
              OR m.rolname IN ('pg_execute_server_program', 'pg_read_server_files',
                'pg_write_server_files', 'pg_read_all_data', 'pg_write_all_data')))
        """, .text(name), .text(PostgresSchema.viewSchema))
      return (result.name(0, 0), result.integer(0, 1) != 0, result.integer(0, 2) != 0)
    }
    let (owner, exists, isPowerful) = found
    guard !isPowerful, name != owner else {
      throw SourceError(
        .invalidRequest, "the role \"\(name)\" may do more than read the views of the store",
        remedy: "choose another name")
    }
    return PostgresSQLRole(name, exists: exists, owner: owner)
  }

  /// Runs the statements of a role; creates the store if there is none.
  ///
  /// - Throws: ``SourceError`` whose cause is a ``PostgresFailure`` of state 42501 if this needs an administrator.
  package func create(_ role: PostgresSQLRole) async throws(SourceError) {
    try await updateViews()
    try await write { connection throws(PostgresFailure) in
      for statement in role.statements { connection.enqueue(PostgresStatement(statement)) }
      _ = try connection.run()
    }
  }
}
