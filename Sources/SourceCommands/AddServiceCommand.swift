package import AggregatorArguments
import AggregatorInference
import AggregatorKit
import AggregatorOpenAPI
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension Command {
  static let openAPI = Option(
    "openapi", .file, "FILE|URL", about: "add the lists of an OpenAPI 3 document")
  static let only = Option(
    "only", .list, "LISTS", about: "only these lists of the document: contacts,deals")

  /// True if the documents may be YAML.
  package static var readsYAML: Bool { YAMLReader.isInstalled }

  /// Adds the lists of a service that a document describes.
  static func addService(
    _ name: String, at place: String, in folder: ManifestFolder, _ invocation: Invocation,
    _ context: CommandContext
  ) async throws -> ExitCode {
    try context.checkService(name, in: folder, invocation)
    let own = Set(folder.sources(of: name))
    let (service, literals) = try serviceRequest(name, replacing: own, invocation, context)
    var secrets = NewSecrets(literals)
    do {
      var environment = try context.localEnvironment()
      var signingIn: JSON?
      if place.hasPrefix("https://") || place.hasPrefix("http://"), !service.members.isEmpty {
        let hints = JSON.object([JSON.Member("url", .string(place))] + service.members)
        environment = try secrets.environment(
          of: name, in: hints, folder, context, mayAsk: invocation.mayAsk)
        signingIn = hints
      }
      context.progress.say { "Reading \(place)…" }
      var time = RequestTime(invocation)
      let document = try await time.limit { [environment] in
        try await OpenAPIDocument(
          at: place, allowing: invocation.texts(allowHost), signingIn: signingIn, in: environment)
      }
      let described = try DescribedService(document, for: service)
      try context.check(described.names.map { "\(name)-\($0)" }, except: own, in: folder)
      let isTold = invocation.has(.dryRun)
      if !isTold, let hints = described.hints.first {
        environment = try secrets.environment(
          of: name, in: hints, folder, context, mayAsk: invocation.mayAsk)
      }
      let proposal = try await time.limit { [environment] in
        try await ServiceProposal(described, isTold: isTold, in: environment) { list in
          context.progress.say { "Requesting \(list)…" }
        }
      }
      let file = proposal.json(includingUnproved: invocation.has(.yes) || isTold)
      var saved = isTold ? [] : file["resources"]?.members.map(\.name) ?? []
      // A moment in which a list cannot be read is no reason to lose it.
      let lost = described.names.filter { own.contains("\(name)-\($0)") && !saved.contains($0) }
      let isKept = !lost.isEmpty && !isTold && !invocation.has(.yes)
      if isKept { saved = [] }
      if !saved.isEmpty {
        try folder.write(service: file, as: name, rebinding: secrets.replaced)
        try secrets.save(context, environment.settings, areArguments: !invocation.has(curl))
        // Each list was requested after the one before it.
        let last = proposal.lists.lazy.reversed().compactMap { try? $0.result.get() }.first
        for list in saved { await last?.passOnQuota(to: "\(name)-\(list)", in: environment) }
      }
      if invocation.has(.json) {
        try context.output.write("\(proposal.document(file, saved).text)\n")
      } else {
        try context.output.write(proposal.table)
        if let first = saved.first {
          try context.output.write(
            "saved     \(folder.file(of: name)): \(saved.count.of("list"))\n"
              + "next      \(context.diagnostics.command("\(name)-\(first) list"))\n")
        }
      }
      if isKept {
        context.diagnostics.error(
          CommandError(
            .partial,
            "nothing was replaced, because lists of \(name) are not proved: \(lost.joined(separator: ", "))",
            hint: "try again later, leave them out by --only, or use --yes"))
        return .partial
      }
      return isTold ? .success : report(on: proposal, of: name, saved, context)
    } catch let error as SourceError { throw failure(of: error, with: secrets) }
  }

  /// The service that the command line describes, and the secrets that were typed.
  private static func serviceRequest(
    _ name: String, replacing own: Set<String>, _ invocation: Invocation,
    _ context: CommandContext
  ) throws(CommandError) -> (ServiceRequest, [SourceRequest.LiteralSecret]) {
    let ofService = ["rate", "fresh"]
    for option in [curl, body, each, table, single, probe] + manifestOptions
    where invocation.has(option) && !ofService.contains(option.name) {
      throw CommandError.exclusive(openAPI.spelling, option.spelling)
    }
    var request = try request(invocation, context)
    let taken = Set(
      context.catalog.plugins.filter { !own.contains($0.name) }.flatMap(\.settings).map(\.key))
    let literals = request.extractSecrets(of: name, avoiding: taken)
    let auth = try signIn(name, invocation, request, avoiding: taken)
    var service = ServiceRequest(name: name)
    service.only = invocation.list(only)
    service.taken = taken
    let parts = request.url.split(separator: "?", maxSplits: 1)
    if let url = parts.first {
      guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
        throw CommandError(
          .usage, "invalid URL \"\(url)\": must begin with https:// or http://")
      }
      service.url = String(url)
      service.query = parts.dropFirst().joined().split(separator: "&").map(String.init)
    }
    service.members = try hints(invocation, request, auth, literals).members.filter {
      $0.name != "url"
    }
    return (service, literals)
  }

  /// Says what was not proved.
  private static func report(
    on proposal: ServiceProposal, of name: String, _ saved: [String], _ context: CommandContext
  ) -> ExitCode {
    if let note = proposal.note { context.diagnostics.note(note) }
    for list in proposal.lists where list.isProved {
      for warning in (try? list.result.get().warnings) ?? [] {
        context.diagnostics.warning("\(name)-\(list.name): \(warning)")
      }
    }
    let unproved = proposal.lists.filter { !$0.isProved }
    guard !unproved.isEmpty else { return .success }
    let leftOut = unproved.filter { !saved.contains($0.name) }
    let count =
      "\((leftOut.isEmpty ? unproved : leftOut).count) of \(proposal.lists.count.of("list"))"
    context.diagnostics.error(
      CommandError(
        .partial,
        saved.isEmpty
          ? "nothing was saved, because no list is proved"
          : "\(count) not proved" + (leftOut.isEmpty ? "" : ", and so not saved"),
        hint: leftOut.contains { $0.isComplete }
          ? "use --yes to save those that can be read nevertheless" : nil))
    return .partial
  }
}

extension CommandContext {
  /// Checks that a service can have a name, and that nothing is replaced unasked.
  fileprivate func checkService(
    _ name: String, in folder: ManifestFolder, _ invocation: Invocation
  ) throws(CommandError) {
    if let service = folder.service(of: name) {
      throw CommandError(.usage, "\"\(name)\" is a list of the service \(service)")
    }
    guard name.count <= ServiceRequest.maxName else {
      throw CommandError(
        .usage,
        "the name of a service has at most \(ServiceRequest.maxName) characters, for its lists have longer ones"
      )
    }
    let mayReplace = invocation.has(Command.replace) || invocation.has(.dryRun)
    guard folder.services.contains(name) else {
      return try checkName(name, in: folder, mayReplace: mayReplace)
    }
    if !mayReplace {
      throw CommandError(
        .usage, "there is a service \"\(name)\" already", hint: "use --replace, or another name")
    }
  }

  /// Checks that no other source has the name of a new one.
  fileprivate func check(
    _ names: [String], except own: Set<String>, in folder: ManifestFolder
  ) throws(CommandError) {
    for name in names where !own.contains(name) {
      guard folder.names.contains(name) || catalog.plugins.contains(where: { $0.name == name })
      else { continue }
      throw CommandError(
        .usage, "there is a source \"\(name)\" already",
        hint: "use another name, or leave the list out by --only")
    }
  }
}

extension ServiceProposal {
  /// The most lines of what was left out.
  private static let maxLeftOut = 12

  /// A line for each list: its name, its paging, and the reason for it.
  fileprivate var table: String {
    let lines = lists.map { list -> (String, String, String) in
      switch list.result {
      case .failure(let error): return (list.name, "–", error.message)
      case .success(let proposal):
        let paging = proposal.evidence.first { $0.key == "paging" }
        let hasID = proposal.isComplete
        return (
          list.name, paging?.value ?? "–",
          hasID ? paging?.reason ?? "" : "nothing identifies a record"
        )
      }
    }
    let width = lines.map(\.0.count).max() ?? 0
    let second = min(lines.map(\.1.count).max() ?? 0, 40)
    var text = lines.map { line in
      "\(line.0.padded(to: width))  \(line.1.padded(to: second))  \(line.2)".trimmed.safeLine + "\n"
    }.joined()
    for (path, reason) in leftOut.prefix(Self.maxLeftOut) {
      text += "left out  \(path) \(reason)".safeLine + "\n"
    }
    if leftOut.count > Self.maxLeftOut {
      text += "left out  \(leftOut.count - Self.maxLeftOut) more, which --json names\n"
    }
    if let path = nested.first {
      text +=
        "left out  \(nested.count.of("list")) of single records, such as \(path)".safeLine + "\n"
    }
    if let name = excess.first {
      text += "left out  \(excess.count.of("list")), such as \(name): choose by --only\n"
    }
    if otherCount > 0 {
      text += "left out  \(otherCount.of("path")) without a list that GET reads\n"
    }
    return text
  }

  fileprivate func document(_ file: JSON, _ saved: [String]) -> JSON {
    [
      "schema": "aggregator/1", "manifest": file,
      "lists": .array(
        lists.map { list in
          let proposal = try? list.result.get()
          return [
            "name": .string(list.name), "path": .string(list.path),
            "proved": .bool(list.isProved), "saved": .bool(saved.contains(list.name)),
            "requests": proposal.map { .integer($0.requests) } ?? .null,
            "evidence": .array(proposal?.evidence.map(\.json) ?? []),
            "warnings": .array(proposal?.warnings.map(JSON.string) ?? []),
            "error": list.result.failure.map { .string($0.message) } ?? .null,
          ]
        }),
      "leftOut": .array(
        leftOut.map { ["path": .string($0.path), "reason": .string($0.reason)] }
          + nested.map { ["path": .string($0), "reason": "is one list for each of another"] }),
      "excess": .array(excess.map(JSON.string)), "others": .integer(otherCount),
    ]
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
