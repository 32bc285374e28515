import AggregatorArguments
import AggregatorKit
import AggregatorQueries
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
    ],
    run: createRole)

  private static func createRole(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let environment = try context.localEnvironment()
    let store = try environment.requiredStore()
    guard let roles = store.capabilities.roles else {
      throw CommandError(.usage, "this store has no roles: it is not in PostgreSQL")
    }
    let role = try await roles.sqlRole(name)
    guard !invocation.has(.dryRun) else {
      try context.output.write(role.script)
      return .success
    }
    do throws(SourceError) { try await roles.create(role) } catch {
      guard let reason = error.missingRight else { throw error }
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

extension SQLRole {
  fileprivate var script: String { statements.map { "\($0);\n" }.joined() }
}
