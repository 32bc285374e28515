package import AggregatorCore
package import AggregatorStore

extension PostgresStore: SQLRoleStore {
  package func sqlRole(_ name: String) async throws(SourceError) -> SQLRole {
    guard Self.isRoleName(name) else {
      throw SourceError(
        .invalidRequest, "invalid role name \"\(name)\"",
        remedy: "use a name of 1 to 63 bytes that does not begin with pg_")
    }
    let (owner, exists, isPowerful) = try await inspect { connection, _ throws(PostgresFailure) in
      let row = try connection.rows(
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
        """, .text(name), .text(PostgresSchema.viewSchema))[0]
      return (row.name(0), row.bool(1), row.bool(2))
    }
    guard !isPowerful, name != owner else {
      throw SourceError(
        .invalidRequest, "the role \"\(name)\" may do more than read the views of the store",
        remedy: "choose another name")
    }
    let (role, schema) = (name.postgresName, PostgresSchema.viewSchema)
    let creation =
      "CREATE ROLE \(role) LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
    let grants = [
      "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
      "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
      // Views are dropped and created again, by their owner.
      "ALTER DEFAULT PRIVILEGES FOR ROLE \(owner.postgresName) IN SCHEMA \(schema) "
        + "GRANT SELECT ON TABLES TO \(role)",
    ]
    return SQLRole(name: name, statements: (exists ? [] : [creation]) + grants)
  }

  package func create(_ role: SQLRole) async throws(SourceError) {
    try await updateViews()
    try await write { connection throws(PostgresFailure) in
      for statement in role.statements { connection.enqueue(statement) }
      _ = try connection.run()
    }
  }

  private static func isRoleName(_ text: String) -> Bool {
    1...63 ~= text.utf8.count && !["public", "none"].contains(text) && !text.hasPrefix("pg_")
      && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }
}
