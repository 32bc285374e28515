import AggregatorKit
import Foundation

extension Plugin {
  /// `aggregator SOURCE open ID`.
  var openCommand: Command {
    Command(
      "ID", words: CompletionSource.one(.ids(of: name)), options: Option.reading + [.printURL],
      notes: layout.link == nil ? ["\(name) have no web pages."] : [],
      examples: layout.link == nil
        ? [] : [("\(name) open \(example.id) --print-url", "its address")]
    ) { invocation, session in
      let id = try invocation.argument("an ID")
      guard let link = layout.link else {
        throw CommandError(
          .usage, "\(name) have no web pages",
          hint: .command("\(name) show \(id.isPlainWord ? id : "ID")"))
      }
      let environment = try session.environment()
      let source = try ReadingOptions(invocation).source(of: self, in: environment)
      let found: LookupResult<Item>
      do throws(SourceError) { found = try await find(id, in: source).get() } catch {
        throw CommandError(error, of: self)
      }
      var outcome = ListingOutcome(of: self, at: environment.now())
      outcome.add(found)
      guard let url = link(found.item)?.webAddress.flatMap({ URL(string: $0) }) else {
        throw CommandError(.notFound, "\(name): no web page is known of '\(id)'")
      }
      if invocation.has(.printURL) {
        try session.output.write("\(url.absoluteString)\n")
      } else {
        try Browser.open(url, variables: session.variables)
      }
      outcome.tell(session.diagnostics)
      return .success
    }
  }
}
