import AggregatorArguments
import AggregatorKit
import AggregatorPostgres
import AggregatorQueries
import AggregatorSQL
import AggregatorTerminal

extension Command {
  static let initSQLRole = Command(
    "NAME", options: [.dryRun],
    notes: [
      "For a store in PostgreSQL. The role may read the tables that sql shows, also those of sources that "
        + "are added later, and nothing else of the store. It has no password yet. Creating a role needs "
        + "the right to (CREATEROLE): --dry-run prints the statements for an administrator.",
      "Then set the URL by which sql logs in as this role.",
    ],
    examples: [
      ("store init-sql-role reader", "create the role reader"),
      ("store init-sql-role reader --dry-run", "print the statements instead"),
    ]
  ) { invocation, context in
    try await createRole(invocation, context)
  }

  private static func createRole(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    guard PostgresSQLRole.isName(name) else {
      throw CommandError(
        .usage, "invalid role name \"\(name)\"",
        hint: "use a name of 1 to 63 bytes that does not begin with pg_")
    }
    let environment = try context.localEnvironment()
    let store = try environment.requiredStore()
    guard let store = store.unscoped as? PostgresStore else {
      throw CommandError(.usage, "this store has no roles: it is not in PostgreSQL")
    }
    let role: PostgresSQLRole
    do throws(SourceError) { role = try await store.sqlRole(name) } catch {
      throw CommandError(error)
    }
    guard !invocation.has(.dryRun) else {
      try context.output.write(role.script)
      return .success
    }
    do throws(SourceError) { try await store.create(role) } catch {
      guard error.isLackOfRights else { throw CommandError(error) }
      let reason = (error.cause as? PostgresFailure)?.message ?? error.message
      context.diagnostics.error(
        CommandError(
          .io, "cannot create the role \"\(name)\": \(reason)",
          hint: "run these statements as an administrator"))
      try context.output.write(role.script)
      return .io
    }
    let setting = SQLAddress.setting(of: context.catalog.name).key
    context.diagnostics.note(
      "The role \(name) may read the tables of sql, and nothing else of the store.")
    context.diagnostics.note(
      "Next: give it a password, with \\password in psql, and its URL to "
        + context.diagnostics.command("config set \(setting)"))
    return .success
  }
}

extension PostgresSQLRole {
  fileprivate var script: String { statements.map { "\($0);\n" }.joined() }
}
