import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  func command(for verb: Verb<Item>) -> Command {
    let parameters = verb.parameters.map { parameter in
      (
        name: parameter.name,
        option: Option(
          parameter.name, .count(parameter.range), parameter.placeholder, about: parameter.about)
      )
    }
    return Command(
      verb.argument.map { "[\($0.placeholder)]" } ?? "",
      needs: .init(ownArenas: verb.role == .loadsMore, newest: true),
      options: parameters.map(\.option) + (verb.requiresService ? Option.fetching : Option.reading)
        + Option.formatting,
      fields: fields,
      notes: (verb.argument.map { ["\($0.placeholder) is \($0.about)."] } ?? []) + verb.notes,
      examples: [
        ("\(name) \(verb.name)", verb.summary.lowercasedFirst)
      ]
    ) { invocation, context in
      var values: [String: Int] = [:]
      for (name, option) in parameters { values[name] = invocation.count(option) }
      if let argument = verb.argument {
        values[argument.name] = try invocation.count(for: argument)
      }
      return try await run(verb, values, invocation, context)
    }
  }

  private func run(
    _ verb: Verb<Item>, _ values: [String: Int], _ invocation: Invocation,
    _ context: CommandContext
  ) async throws -> ExitCode {
    let output = try OutputOptions(invocation, in: context)
    let listing = try output.listing(verb.name, of: name, fields: fields, layout: layout)
    let environment = try context.environment()
    let options = SourceOptions(invocation)
    let call = VerbCall(
      values: values, source: try options.source(of: self, in: environment),
      upstreamLoader: try options.upstreamLoader(of: self, in: environment),
      environment: environment)
    let run = { await Result { () async throws(SourceError) in try await verb.run(call) } }
    // Verbs of an endless source may load more, and each page is fetched once: after another process
    // that does so.
    let outcome =
      policy.isEndless
      ? try await SyncLock(of: name, environment.settings, context)
        .holding(within: .seconds(600), isRequired: false, run) : await run()
    switch try outcome.get() {
    case .records(let page, let title):
      if let title, output.isForPeople { context.diagnostics.note(title) }
      var listed = ListingOutcome(of: self, at: environment.now())
      listed.add(page, showing: page.records.count)
      try RecordPrinter.print(page.records, as: listing, output, in: context, listed.summary)
      listed.report(to: context.diagnostics)
      return .success
    case .done(let summary, let failure):
      context.diagnostics.note(summary)
      guard let failure else { return .success }
      context.diagnostics.warning(
        "\(name): \(failure.message)", hint: failure.hint(settings: settings))
      return .partial
    }
  }
}

extension Invocation {
  fileprivate func count(for parameter: Parameter) throws(CommandError) -> Int? {
    try refuseArguments(after: 1)
    guard let text = arguments.first else { return nil }
    guard let number = Int(text), parameter.range.contains(number) else {
      throw CommandError(
        .usage,
        "invalid value \"\(text)\" for \(parameter.placeholder): must be an integer from "
          + "\(parameter.range.lowerBound) to \(parameter.range.upperBound)")
    }
    return number
  }
}
