import AggregatorKit
import Foundation

extension Plugin {
  /// `aggregator SOURCE delete ID… | -`.
  var deleteCommand: Command {
    Command(
      "ID… | -", words: CompletionSource.severalIDs(of: name), options: [.yes, .dryRun],
      notes: [
        "A deleted record is hidden here, for good, whatever the service sends. Nothing is deleted at the "
          + "service. '-' reads ids from standard input, one a line."
      ],
      examples: [
        ("\(name) delete \(example.id) --yes", "hide it"),
        ("\(name) delete \(example.id) --dry-run", "only say what would be done"),
      ]
    ) { invocation, session in
      let texts = try invocation.ids(of: self)
      let environment = try session.localEnvironment()
      let store = try environment.requiredStore()
      let choice = try await choose(texts, in: store)
      for text in choice.unknown {
        session.diagnostics.error(
          CommandError(
            .notFound, "no \(name) record with the id '\(text)' is stored or bundled",
            hint: .command("\(name) search WORD…")))
      }
      if !choice.ids.isEmpty {
        guard !invocation.has(.dryRun) else {
          session.diagnostics.note("would delete \(choice.ids.joined(separator: ", "))")
          return choice.code
        }
        let question = "delete \(choice.ids.count == 1 ? choice.ids[0] : choice.words(name))"
        guard try invocation.confirms(question) else {
          session.diagnostics.note("nothing was deleted")
          return .success
        }
        _ = try await failing(self) { () async throws(SourceError) in
          try await store.delete(choice.ids, of: name, at: environment.now())
        }
        session.diagnostics.note(
          "deleted \(choice.words(name)) · back with: \(session.tree.program) \(name) restore "
            + (choice.ids.count == 1 ? choice.ids[0] : "ID…"))
      }
      return choice.code
    }
  }

  /// `aggregator SOURCE restore ID… | --all`.
  var restoreCommand: Command {
    Command(
      "ID… | -", words: { [name] _, _ in .ids(of: name, areDeleted: true) }, options: [.all],
      notes: ["A record that is restored is back in its old place."],
      examples: [
        ("\(name) restore \(example.id)", "bring it back"),
        ("\(name) restore --all", "bring back all that was deleted"),
      ]
    ) { invocation, session in
      let texts: [String]?
      if invocation.has(.all) {
        try invocation.refuseArguments()
        texts = nil
      } else {
        texts = try invocation.ids(of: self)
      }
      let store = try session.localEnvironment().requiredStore()
      let restored = try await failing(self) { () async throws(SourceError) in
        try await store.restore(texts?.map { Item.ID($0)?.description ?? $0 }, of: name)
      }
      let missing = (texts ?? []).filter { !restored.contains(Item.ID($0)?.description ?? $0) }
      for text in missing { session.diagnostics.note("\(text) was not deleted") }
      if !restored.isEmpty || texts == nil {
        session.diagnostics.note("restored \(restored.count) of \(name)")
      }
      return .success
    }
  }

  /// Which of the ids typed can be deleted.
  private func choose(
    _ texts: [String], in store: any Store
  ) async throws(CommandError) -> DeletionChoice {
    var choice = DeletionChoice()
    for text in texts {
      guard let id = Item.ID(text) else {
        choice.unknown.append(text)
        continue
      }
      let isStored = try await failing(self) { () async throws(SourceError) in
        let isKnown = try await store.record(id.description, of: name) != nil
        if isKnown { return true }
        return try await !store.deleted(among: [id.description], of: name).isEmpty
      }
      let isKnown: Bool
      if isStored { isKnown = true } else { isKnown = (try? await bundled.item(id)) != nil }
      if isKnown { choice.ids.append(id.description) } else { choice.unknown.append(text) }
    }
    return choice
  }
}

/// What is to be deleted.
private struct DeletionChoice {
  var ids: [String] = []
  /// What is no id, or one that nobody knows.
  var unknown: [String] = []

  func words(_ name: String) -> String { "\(ids.count) of \(name)" }

  var code: ExitCode {
    guard !unknown.isEmpty else { return .success }
    return ids.isEmpty ? .notFound : .partial
  }
}

/// Does something with the store, and tells its failure as one of a source.
private func failing<Answer: Sendable>(
  _ plugin: some Plugin, _ body: () async throws(SourceError) -> Answer
) async throws(CommandError) -> Answer {
  do { return try await body() } catch { throw CommandError(error, of: plugin) }
}

extension Invocation {
  /// More ids than these are not read.
  private static let mostIDs = 100_000

  /// The ids typed, or those on standard input.
  fileprivate func ids(of plugin: some Plugin) throws(CommandError) -> [String] {
    guard !arguments.isEmpty else {
      throw CommandError(.usage, "an ID is missing", hint: .command("\(plugin.name) search WORD…"))
    }
    guard arguments == ["-"] else { return arguments.uniqued }
    var ids: [String] = []
    while let line = readLine() {
      let id = line.trimmingCharacters(in: .whitespaces)
      if !id.isEmpty { ids.append(id) }
      guard ids.count <= Self.mostIDs else {
        throw CommandError(.usage, "more than \(Self.mostIDs) ids; nothing was done")
      }
    }
    guard !ids.isEmpty else { throw CommandError(.usage, "standard input has no id") }
    return ids.uniqued
  }

  /// Whether it is to be done: `--yes` was given, or a person says so.
  func confirms(_ question: String) throws(CommandError) -> Bool {
    if has(.yes) { return true }
    return try Confirmation.ask(question, mayAsk: !has(.noInput))
  }
}

extension [String] {
  /// Each once, in order.
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
