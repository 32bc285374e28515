import Core

extension Plugin {
  /// A verb of this source's own: `aggregator countries deal`.
  func command(for verb: Verb<Item>) -> Command {
    let options = verb.parameters.map { parameter in
      (
        name: parameter.name,
        option: Option(
          parameter.name, .count(parameter.range), parameter.placeholder, about: parameter.about)
      )
    }
    return Command(
      options: options.map(\.option) + Option.reading + Option.output, fields: fields,
      examples: [("\(name) \(verb.name)", verb.summary)]
    ) { invocation, session in
      try invocation.refuseArguments()
      let output = try OutputOptions(invocation, in: session)
      let listing = try output.listing(verb.name, of: name, fields: fields, layout: layout)
      let environment = try session.environment()
      let call = VerbCall(
        values: options.reduce(into: [:]) { $0[$1.name] = invocation.count($1.option) },
        source: try ReadingOptions(invocation).source(of: self, in: environment),
        environment: environment)
      let result: VerbResult<Item>
      do throws(SourceError) { result = try await verb.run(call) } catch {
        throw Failure(error, of: self)
      }
      switch result {
      case .records(let page, let title):
        if let title, output.isForPeople { session.diagnostics.note(title) }
        var printer = RecordPrinter(listing, output, in: session)
        var tally = Tally(of: self)
        tally.add(page, showing: page.records.count)
        try printer.print(page.records)
        try printer.finish(tally.summary)
        tally.tell(session.diagnostics)
      }
      return .success
    }
  }
}
