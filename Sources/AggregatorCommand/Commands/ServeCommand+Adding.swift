import AggregatorAPI
import AggregatorArguments
import AggregatorInference
import AggregatorKit
import AggregatorQueries
import AggregatorSourceCommands
import AggregatorTerminal
import AggregatorWeb
import DeclaredSource

extension CommandContext {
  /// Adds sources to a server, as `sources add` does with no other option than `--rows` and `--id`, and removes them as
  /// `sources remove` does.
  ///
  /// - Parameters:
  ///   - limited: Limits the hosts that are requested.
  ///   - serve: Makes a source of the server of a plugin and its environment.
  func sourceAdding(
    in environment: PluginEnvironment,
    by limited: @escaping @Sendable (any Transport) -> any Transport = { $0 },
    serving serve:
      @escaping @Sendable (DeclaredPlugin, PluginEnvironment) throws -> any ServedSource
  ) throws(CommandError) -> SourceAdding {
    let folder = try manifestFolder()
    let served = { @Sendable [self] (name: String) throws -> any ServedSource in
      let plugin = DeclaredPlugin(name, in: folder)
      var environment = environment
      environment.transport = limited(environment.transport)
      environment.settings = try settings(knowing: plugin.settings)
      let others = environment.sources
      environment.sources = { others() + [plugin] }
      return try serve(plugin, environment)
    }
    let removal = SourceAdding.Removal(
      isPossible: { folder.names.contains($0) && folder.service(of: $0) == nil },
      data: { [self] name in
        let cached = try await cachedData(of: name, in: folder, environment, isNeeded: false)
        return cached.first?.data.text
      },
      remove: { [self] name, withData in
        let text = try? folder.text(of: name)
        let cached = try await cachedData(of: name, in: folder, environment, isNeeded: withData)
        try await removeSources(
          [name], in: folder, with: withData ? cached.map(\.data) : nil, environment)
        guard let text else { return nil }
        return ProposedSource(name, .null, isProved: true) {
          guard !folder.names.contains(name) else {
            throw Problem(409, "invalidRequest", "there is a source \"\(name)\" already")
          }
          try folder.replace(name, with: text)
          return try served(name)
        }
      })
    let isFree = { @Sendable [self] name in
      (try? checkName(name, in: folder, mayReplace: false)) != nil
    }
    return SourceAdding(removing: removal, isFree: isFree) { [self] name, url, given in
      try checkName(name, in: folder, mayReplace: false)
      var request = SourceRequest(url: url)
      try Command.checkScheme(of: request)
      let literals = request.extractSecrets(
        of: name, avoiding: Set(catalog.settings(except: name).map(\.key)))
      let hints = JSON.object(
        [.init("url", .string(request.url))]
          + given.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
      var secrets = NewSecrets(literals)
      var requests = try secrets.environment(of: name, in: hints, folder, self, mayAsk: false)
      requests.transport = limited(requests.transport)
      let deadline = Deadline(after: SourceAdding.time, on: requests.clock)
      let proposal: Proposal
      do {
        proposal = try await Deadline.$current.withValue(deadline) {
          try await Proposal(for: name, from: hints, in: requests)
        }
      } catch var error as SourceError {
        guard let response = error.cause as? UnusableResponse else { throw error }
        guard response != .page else {
          throw SourceError(
            .rejected, "this URL is a web page, not an API: \(error.message)",
            remedy: "use the URL of a list of the API, which the documentation of the service names"
          )
        }
        error.remedy =
          response.wantsCredentials
          ? """
          if it needs a key, add it on the command line: aggregator sources add \(name) URL \
          -H 'Authorization: Bearer KEY'
          """ : error.remedy ?? Prober.wrongURL
        throw error
      }
      var proposed = ProposedSource(name, proposal.document, isProved: proposal.isProved) {
        [self, secrets, requests] in
        try checkName(name, in: folder, mayReplace: false)
        try proposal.save(as: name, in: folder, rebinding: secrets.replaced)
        try secrets.save(self, requests.settings, areArguments: false)
        return try served(name)
      }
      proposed.evidence = proposal.evidence.map { .init($0.key, $0.value, $0.reason) }
      proposed.rows = proposal.rows
      proposed.rowCount = proposal.rowCount
      proposed.warnings = proposal.warnings
      proposed.choices = proposal.choices
      proposed.obstacle = proposal.obstacle
      return proposed
    }
  }
}
