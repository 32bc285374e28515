import AggregatorKit

extension Command {
  /// `aggregator sources check [NAME…]`.
  static func checkSources(_ plugins: [any Plugin]) -> Command {
    Command(
      "[NAME…]", words: CompletionSource.severalSources(plugins),
      options: [.timeout, .record, .replay] + Option.output, fields: SourceHealth.fields,
      notes: [
        "Each service is asked for one page, which is put to the laws of records. The exit code is that "
          + "of the worst."
      ],
      examples: plugins.suffix(1).map {
        ("sources check \($0.name) --json", "how it is, for a program")
      },
      run: checkSources)
  }

  private static func checkSources(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    var plugins = session.tree.plugins
    if !invocation.arguments.isEmpty {
      plugins = try invocation.arguments.map { name throws(CommandError) in
        try session.tree.plugin(named: name)
      }
    }
    let output = try OutputOptions(invocation, in: session)
    let environment = try session.environment()
    environment.warnIfNoStore(session.diagnostics)
    let time = invocation.duration(.timeout) ?? usualTimeOfAll
    let checks = await withTaskGroup(of: (Int, SourceCheck).self) { group in
      for (index, plugin) in plugins.enumerated() {
        group.addTask { (index, await plugin.check(in: environment, within: time)) }
      }
      var checks: [(Int, SourceCheck)] = []
      for await check in group { checks.append(check) }
      return checks.sorted { $0.0 < $1.0 }.map(\.1)
    }
    try RecordPrinter.print(
      checks.map(\.health), as: output.plainListing("check", SourceHealth.self, shape: .cards),
      output,
      in: session)
    for (check, plugin) in zip(checks, plugins) {
      guard let error = check.failure else { continue }
      session.diagnostics.warning(
        "\(plugin.name): \(error.message)", hint: error.hint(settings: plugin.settings))
    }
    return checks.map(\.code).max { $0.severity < $1.severity } ?? .success
  }
}

extension ExitCode {
  /// How bad it is, compared with others.
  fileprivate var severity: Int {
    let order: [ExitCode] = [
      .success, .partial, .tryLater, .unavailable, .io, .notUnderstood, .key, .settings,
    ]
    return order.firstIndex(of: self) ?? order.count
  }
}
