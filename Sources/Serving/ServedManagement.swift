import AggregatorAPI
import AggregatorArguments
import AggregatorInference
import AggregatorKit
import AggregatorQueries
import AggregatorSourceCommands
import AggregatorTerminal
import AggregatorWeb
import DeclaredSource
import Synchronization

/// Adds sources to a server, as `sources add` does with no other option than `--rows` and `--id`, and changes them as
/// `sources edit`, `sources rename`, `sources remove` and `config set` do.
struct ServedManagement: SourceManagement {
  private let context: CommandContext
  private let folder: ManifestFolder
  private let served: ServedFolder

  init(of served: ServedFolder, _ context: CommandContext) throws(CommandError) {
    (self.served, self.context) = (served, context)
    folder = try context.manifestFolder()
  }

  func isFree(_ name: String) -> Bool {
    (try? context.checkName(name, in: folder, mayReplace: false)) != nil
  }

  func mayChange(_ name: String) -> Bool {
    !context.catalog.isReserved(name) && folder.names.contains(name)
      && folder.service(of: name) == nil
  }

  func leftovers(of name: String) async throws -> SourceAdding.Leftovers {
    let run = context.rereadingSources()
    let cached = try await run.cachedData(
      of: name, in: folder, served.environment, isNeeded: false)
    let settings = try? run.loadSettings().settings
    let keys = settings.map { run.catalog.secrets(ofOnly: [name], in: $0).map(\.key) }
    return .init(data: cached.first?.data.text, keys: keys ?? [])
  }

  func remove(_ name: String, withData: Bool, keys: [String]) async throws -> ProposedSource? {
    let run = context.rereadingSources()
    let environment = served.environment
    let text = try? folder.text(of: name)
    let data =
      withData
      ? try await run.cachedData(of: name, in: folder, environment, isNeeded: true).map(\.data)
      : nil
    try await run.removeSources([name], in: folder, with: data, environment)
    let file = SettingsFile(try run.userSettingsFile(), settings: run.catalog.settings)
    for key in keys { _ = try file.unset(key) }
    guard let text else { return nil }
    return ProposedSource(name, .null, isProved: true) { [self] _ in
      guard !folder.names.contains(name) else {
        throw Problem(409, "invalidRequest", "there is a source \"\(name)\" already")
      }
      try await served.adding(name) { try folder.replace(name, with: text) }
      return name
    }
  }

  func proposal(toEdit name: String) throws -> ProposedSource {
    let text = try folder.text(of: name)
    let manifest = try folder.manifest(name)
    var proposed = ProposedSource(name, ["manifest": manifest.json], isProved: true) {
      [self] edits in
      try requireUnchanged(name, since: text)
      let run = context.rereadingSources()
      let edited = try manifest.edited(
        title: edits.title, names: edits.names, id: edits.id, link: edits.link, image: edits.image)
      let new = edits.name?.nonBlank?.trimmed ?? name
      if new != name { try run.checkName(new, in: folder, mayReplace: false) }
      if edited != manifest { try folder.write(edited, as: name) }
      guard new != name else { return name }
      do {
        try await served.adding(new) {
          try await run.renameSource(name, to: new, in: folder) { served.environment }
        }
      } catch {
        // A source that is not renamed is not edited either, and can be saved again.
        if edited != manifest { try? folder.replace(name, with: text) }
        throw error
      }
      return new
    }
    proposed.edited = name
    proposed.keys = manifest.secretNames
    proposed.warnings = Self.warnings(ofSaving: text)
    return proposed
  }

  private func requireUnchanged(_ name: String, since text: [UInt8]) throws {
    guard try folder.text(of: name) == text else {
      throw Problem(
        409, "invalidRequest", "\(name) has been changed meanwhile", hint: "edit it again")
    }
  }

  private static func warnings(ofSaving text: [UInt8]) -> [String] {
    JSONText(Data(text)) == nil ? ["its manifest has comments, which saving removes"] : []
  }

  func verifyKeys(_ values: [String: String]) async throws -> String? {
    try await setKeys(values, isTrial: true).unverified?.message
  }

  func saveKeys(_ values: [String: String]) async throws -> String {
    try await setKeys(values, isTrial: false).source
  }

  /// Verifies keys with one request, or saves them without any.
  private func setKeys(
    _ values: [String: String], isTrial: Bool
  ) async throws -> (source: String, unverified: SourceError?) {
    let run = context.rereadingSources()
    let own = run.catalog.ownSettings.map(\.key)
    let source = run.catalog.plugins.first { plugin in
      let secrets = plugin.settings.filter(\.isSecret).map(\.key)
      return served.serves(plugin.name)
        && values.keys.allSatisfy { secrets.contains($0) && !own.contains($0) }
    }
    let settings = source?.settings.filter { values[$0.key] != nil } ?? []
    guard let source, let first = settings.first else {
      throw Problem(404, "notFound", "no source has a key with this name")
    }
    var environment = served.environment
    environment.settings = try run.loadSettings().settings
    for setting in settings where environment.settings.origin(of: setting) == .environment {
      throw Problem(
        409, "invalidRequest", "\(setting.key) is an environment variable of the server",
        hint: "restart the server with another value")
    }
    let saved = try await run.save(
      values.mapValues(\.trimmed), of: first, verifiedBy: source, in: isTrial ? environment : nil,
      isTrial: isTrial)
    return (source.name, saved.unverified)
  }

  func proposal(
    for name: String, at url: String, given: [String: String], signedBy key: SourceAdding.Key?,
    isReplacing: Bool
  ) async throws -> ProposedSource {
    let run = context.rereadingSources()
    guard !isReplacing || mayChange(name) else { throw Problem.unknownPath }
    try run.checkName(name, in: folder, mayReplace: isReplacing)
    let text = isReplacing ? try folder.text(of: name) : nil
    var request = SourceRequest(url: url)
    try Command.checkScheme(of: request)
    var kept: [JSON.Member] = []
    // Another host gets nothing that was meant for this one, nor does a connection that others can read.
    if isReplacing, let old = try? folder.manifest(name), let authority = old.authority,
      Manifest.authority(of: url) == authority,
      url.hasPrefix("https:") || old.url.hasPrefix("http:")
    {
      request.headers = old.headers.filter { key == nil || !$0.value.contains("${") }
      kept = old.otherMembers.filter { given[$0.name] == nil }
    }
    let keyName = try key.map { try request.add(key: $0.value, in: $0.place) }
    let literals = request.extractSecrets(
      of: name, avoiding: Set(run.catalog.settings(except: name).map(\.key)), including: keyName)
    let hints = JSON.object(
      request.members + kept
        + given.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
    var secrets = NewSecrets(literals)
    var requests = try secrets.environment(of: name, in: hints, folder, run, mayAsk: false)
    requests.transport = served.limited(requests.transport)
    let deadline = Deadline(after: SourceAdding.time, on: requests.clock)
    let proposal: Proposal
    do {
      proposal = try await Deadline.$current.withValue(deadline) {
        try await Proposal(for: name, from: hints, in: requests)
      }
    } catch var error as SourceError {
      guard let response = error.cause as? UnusableResponse else {
        // Its remedy is an option of the command line.
        let isLate = error.code == .timedOut
        let remedy = isLate ? "try again later" : error.remedyOfService
        if isLate || error.remedy == nil { error.remedy = remedy.map { Remedy($0) } }
        throw error
      }
      if case .page = response {
        throw SourceError(
          .rejected, "this URL is a web page, not an API: \(error.message)",
          remedy: "use the URL of a list of the API, which the documentation of the service names"
        )
      }
      error.remedy = error.remedy ?? Prober.wrongURL
      guard let place = response.keyPlace else { throw error }
      error.remedy = run.keyRemedy(for: name, request, in: key == nil ? place : nil)
      var problem = Problem(error)
      problem.keyPlace = place
      throw problem
    }
    var proposed = ProposedSource(name, proposal.document, isProved: proposal.isProved) {
      [self, secrets, requests] edits in
      if let text { try requireUnchanged(name, since: text) }
      try run.checkName(name, in: folder, mayReplace: isReplacing)
      try await served.adding(name) {
        try proposal
          .edited(title: edits.title, names: edits.names, link: edits.link, image: edits.image)
          .save(as: name, in: folder, rebinding: secrets.replaced)
        try secrets.save(run, requests.settings, areArguments: false)
      }
      return name
    }
    proposed.evidence = proposal.evidence.map { .init($0.key, $0.value, $0.reason) }
    proposed.rows = proposal.rows
    proposed.rowCount = proposal.rowCount
    proposed.warnings = proposal.warnings + (text.map(Self.warnings) ?? [])
    proposed.edited = isReplacing ? name : nil
    proposed.choices = proposal.choices
    proposed.obstacle = proposal.obstacle
    return proposed
  }
}
