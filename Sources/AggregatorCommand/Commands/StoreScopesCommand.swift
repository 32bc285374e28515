import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Command {
  static let storeScopes = Command(
    "[SOURCE]", options: Option.formatting, fields: ScopeEntry.fields,
    notes: [
      "Another URL, other IDs or another account give a source another scope, with records, deletions and a "
        + "history of its own. One is shown; the others are kept."
    ],
    examples: [("store scopes", "show what is kept of all sources")]
  ) { invocation, context in
    let output = try OutputOptions(invocation, in: context)
    let store = try context.scopedStore()
    try invocation.refuseArguments(after: 1)
    let plugins =
      if let name = invocation.arguments.first { [try context.catalog.plugin(named: name)] } else {
        context.catalog.plugins
      }
    var entries: [ScopeEntry] = []
    for plugin in plugins {
      do throws(SourceError) {
        entries += try await store.scopes(of: plugin.name).map {
          ScopeEntry(source: plugin.name, scope: $0)
        }
      } catch {
        throw CommandError(error, of: plugin)
      }
    }
    try RecordPrinter.print(
      entries, as: output.plainListing("scopes", ScopeEntry.self), output, in: context)
    if entries.isEmpty { context.diagnostics.note("Nothing is cached") }
    return .success
  }

  static func adoptScope(_ plugins: [any Plugin]) -> Command {
    Command(
      "SOURCE SCOPE", words: CompletionSource.source(plugins), needs: .init(newest: true),
      notes: [
        "Shows the records of a scope, as those of the present secret: for an account whose records have all "
          + "changed since it got another secret. The scope that was shown is kept."
      ],
      examples: plugins.prefix(1).map {
        ("store adopt \($0.name) d4e5~1b2c3", "show this scope from now on")
      }
    ) { invocation, context in
      guard invocation.arguments.count >= 2 else {
        throw CommandError.missingArgument("SCOPE", hint: .command("store scopes"))
      }
      try invocation.refuseArguments(after: 2)
      let plugin = try context.catalog.plugin(named: invocation.arguments[0])
      let scope = invocation.arguments[1]
      let store = try context.scopedStore()
      do {
        guard try await store.adopt(scope, of: plugin.name) else {
          throw CommandError.unknownScope(scope, of: plugin.name)
        }
      } catch let error as SourceError {
        throw CommandError(error, of: plugin)
      }
      context.diagnostics.note("\(plugin.name) shows \(scope)")
      return .success
    }
  }
}

extension CommandContext {
  func scopedStore() throws -> ScopedStore {
    guard let store = try localEnvironment().requiredStore().capabilities.scopes else {
      throw CommandError(.notFound, "this store has no scopes")
    }
    return store
  }
}

extension CommandError {
  static func unknownScope(_ scope: String, of source: String) -> CommandError {
    CommandError(
      .notFound, "\(source) has no scope \"\(scope.oneLine(atMost: 80))\"",
      hint: .command("store scopes \(source)"))
  }
}

private struct ScopeEntry: Entry {
  let source: String
  let scope: ScopeStatus

  var id: String { "\(source)@\(scope.name)" }

  static let fields: [Field<ScopeEntry>] = [
    Field("source", "Source", \.source, about: "The source."),
    Field("scope", "Scope", \.scope.name, about: "The name of the scope."),
    Field("isShown", "Shown", \.scope.isShown, about: "True for the scope that is shown."),
    Field("records", "Records", \.scope.status.records, about: "The number of records."),
    Field("deleted", "Deleted", \.scope.status.deleted, about: "The number of deleted IDs."),
    Field(
      "secrets", "Secrets", \.scope.secrets,
      about: "The number of secrets that read it, 0 if it needs none."),
    Field(
      "fetchedAt", "Last fetched", \.scope.status.fetchedAt?.iso8601,
      about: "Time of the newest fetched page."),
  ]
}
