package import AggregatorArguments
package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Command {
  package static func browse(_ plugins: [any Plugin]) -> Command {
    let plugin = plugins.dropFirst().first ?? plugins.first
    let name = plugin?.name ?? "SOURCE"
    let query = (plugin?.example.query ?? "word").typed
    return Command(
      "[SOURCE] [QUERY…]", words: CompletionSource.source(plugins),
      // The list always shows local records.
      options: [.condition, .order] + Option.reading.filter { $0 != .noFallback },
      notes: [
        "Shows the cached records at once, and asks the service beside that. Press ? for the keys, q to quit.",
        "Requires a terminal. Pictures require chafa.",
      ],
      examples: [
        ("browse", "all sources"),
        ("browse \(name) \(query)", "the \(name) that match"),
        ("browse \(name) --offline", "without asking the service"),
      ], run: browse)
  }

  private static func browse(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    try RecordBrowser.requireTerminal(context)
    guard !invocation.has(.noInput) else {
      throw CommandError(.usage, "browse cannot be used with --no-input")
    }
    let name = invocation.arguments.first
    if let name { _ = try context.catalog.plugin(named: name) }
    let environment = try context.environment()
    environment.warnIfNoStore(context.diagnostics)
    // It would be drawn over the screen.
    ProgressLine.close()
    let browser = try await RecordBrowser(of: context.catalog.plugins, in: environment, context)
    return try await browser.run(opening: name) { request in
      request.query = invocation.arguments.dropFirst().joined(separator: " ")
      request.condition = invocation.texts(.condition).joined(separator: " and ")
      request.order = invocation.text(.order)
    }
  }
}
