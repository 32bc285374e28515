import AggregatorArguments
import AggregatorBrowse
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var deleteCommand: Command {
    Command(
      "[ID… | -]", words: CompletionSource.severalIDs(of: name),
      needs: .init(newest: true), options: [.yes, .dryRun, .offline],
      notes: [
        "Deleted records stay hidden until restored, whatever the service returns; the service is not "
          + "changed. A record that is not cached is looked up at the service first. With - the IDs are read from "
          + "standard input, one per line. \(pickNote)"
      ],
      examples: [
        ("\(name) delete \(example.idArgument) --yes", "hide a record"),
        ("\(name) delete \(example.idArgument) --dry-run", "show what would be deleted"),
      ], run: delete)
  }

  private func delete(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard let ids = try await invocation.ids(of: self, for: "delete", pickedIn: context) else {
      return .interrupted
    }
    let texts = ids.uniqueIDs
    let environment = try context.localEnvironment()
    let store = try environment.requiredStore()
    let options = SourceOptions(invocation)
    // A recording has no part in what is deleted.
    let recording = try? RecordingOptions(
      invocation, environment.settings, of: context.catalog.name)
    let asks = recording?.isOn == false
    // Few deletions need it, and no setting may prevent the others.
    let unasked = UnavailableSource<Item>(
      SourceError(.nothingCached, "the service was not asked"))
    let source = LazySource<Item> {
      asks ? (try? options.source(of: self, in: environment)) ?? unasked : unasked
    }
    let finder = RecordFinder(self, source, environment, invocation)
    var doubt: Warning?
    var choice = try await choose(texts) { id throws(SourceError) in
      try await isKnown(id, in: store)
    } else: { text throws(SourceError) in
      guard let id = try await finder.id(startingWith: text) else {
        return try await finder.id(lookingUp: text)
      }
      doubt = await finder.doubt()
      return id
    }
    choice.isDoubtful = doubt != nil
    await report(choice, finder, context.diagnostics, listing: "search QUERY")
    if !choice.ids.isEmpty {
      guard !invocation.has(.dryRun) else {
        context.diagnostics.note(
          "Would delete \(noun.count(choice.ids.count)): \(choice.ids.map(\.description).joined(separator: ", "))"
        )
        return choice.code
      }
      let subject =
        choice.ids.count == 1
        ? await shown(choice.ids[0], in: store)
        : "\(noun.count(choice.ids.count)) (\(firstOnes(of: choice.ids)))"
      // A question says it as well: no option hides that.
      if let doubt {
        context.diagnostics.warning(
          "\(name): \(doubt.message)",
          hint: doubt.code == .partlyCached ? .command(syncArguments) : nil)
      }
      let part = doubt.map { ", \($0.message)" } ?? ""
      guard try invocation.confirms("Delete \(subject)\(part)") else {
        context.diagnostics.note("Nothing deleted")
        return .success
      }
      let deleted = try await recordStore(in: store).delete(choice.ids, at: environment.now())
      let keys = Set(deleted.map { RecordKey($0) })
      for id in choice.ids where !keys.contains(RecordKey(id)) {
        context.diagnostics.note("\(id) was deleted already")
      }
      guard !deleted.isEmpty else { return choice.code }
      context.diagnostics.note(
        "Deleted \(noun.count(deleted.count)). "
          + "Undo: \(context.diagnostics.command("\(name) restore \(choice.typed)"))")
    }
    return choice.code
  }

  /// The first IDs: the screen on which they were picked is gone when it is asked.
  private func firstOnes(of ids: [Item.ID]) -> String {
    let first = ids.prefix(5).map { $0.description.oneLine(atMost: 40) }
    return (first + (ids.count > 5 ? ["…"] : [])).joined(separator: ", ")
  }

  var restoreCommand: Command {
    Command(
      "[ID… | - | --all]", words: { [name] _, _ in .ids(of: name, areDeleted: true) },
      needs: .init(newest: true),
      options: [.all.with(about: "restore all deleted records", in: .specific)],
      notes: [
        "Restored records return to their original position. With - the IDs are read from standard "
          + "input, one per line. Without an ID, deleted records are picked on the screen of a terminal."
      ],
      examples: [
        ("\(name) restore \(example.idArgument)", "restore a record"),
        ("\(name) restore --all", "restore all deleted records"),
      ]
    ) { invocation, context in
      try await restore(invocation, context)
    }
  }

  private func restore(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let texts: [String]?
    if invocation.has(.all) {
      try invocation.refuseArguments()
      texts = nil
    } else {
      guard let ids = try await invocation.ids(of: self, for: "restore", pickedIn: context) else {
        return .interrupted
      }
      guard !ids.isEmpty else {
        context.diagnostics.note("No deleted \(noun.word(for: 2))")
        return .success
      }
      texts = ids.uniqueIDs
    }
    let environment = try context.localEnvironment()
    let records = recordStore(in: try environment.requiredStore())
    let finder = RecordFinder(self, bundled, environment, invocation)
    var choice = DeletionChoice<Item.ID>()
    if let texts {
      let deleted = try await records.deleted(among: texts.compactMap { Item.ID($0) })
      let exact = Set(deleted.map { RecordKey($0) })
      choice = await choose(texts) {
        exact.contains(RecordKey($0))
      } else: { text throws(SourceError) in
        try await finder.deletedID(startingWith: text)
      }
    }
    let restored =
      texts == nil ? try await records.restoreAll() : try await records.restore(choice.ids)
    var present: [String] = []
    for text in choice.unknown {
      if let id = Item.ID(text), try await isKnown(id, in: environment.requiredStore()) {
        present.append(text)
      }
    }
    choice.unknown.removeAll(where: present.contains)
    await report(choice, finder, context.diagnostics, listing: "list --deleted")
    for text in present { context.diagnostics.note("\(text) is not deleted") }
    if !restored.isEmpty || texts == nil {
      context.diagnostics.note("Restored \(noun.count(restored.count))")
    }
    return present.isEmpty || choice.code == .success ? choice.code : .partial
  }

  /// Prints an error for each ID that stands for no record, or for several.
  ///
  /// - Parameter listing: The arguments by which the source shows IDs for the command.
  private func report(
    _ choice: DeletionChoice<Item.ID>, _ finder: RecordFinder<Self>, _ diagnostics: Diagnostics,
    listing: String
  ) async {
    for error in choice.ambiguous { diagnostics.error(CommandError(error, of: self)) }
    for error in choice.failures.errors { diagnostics.error(CommandError(error, of: self)) }
    for text in choice.unknown {
      var failure =
        Item.ID(text) == nil
        ? CommandError(
          .notFound, SourceError.invalidID(text, of: self).message, hint: searchHint(text))
        : CommandError(
          .notFound, "\(noun.one) \(text) not found",
          hint: .command("\(name) \(listing)"))
      // Of many IDs on standard input, each would be searched for.
      if choice.unknown.count <= 10, let hint = await finder.advice(about: text) {
        failure.hint = hint
      }
      diagnostics.error(failure)
    }
  }

  /// A record as the question names it: `Spider-Man (1443)`.
  private func shown(_ id: Item.ID, in store: any SourceStore) async -> String {
    let stored = try? await recordStore(in: store).records.item(id).item
    let record = if let stored { stored as Item? } else { try? await bundled.item(id).item }
    return record.flatMap(fields.name(of:)).map { "\($0.oneLine(atMost: 60)) (\(id))" }
      ?? id.description
  }

  /// The records that are meant by IDs that are there, or else by the beginnings of IDs.
  private func choose<Failure>(
    _ texts: [String], _ isThere: (Item.ID) async throws(Failure) -> Bool,
    else find: (String) async throws(SourceError) -> Item.ID?
  ) async throws(Failure) -> DeletionChoice<Item.ID> {
    var choice = DeletionChoice<Item.ID>()
    for text in texts {
      if let id = Item.ID(text), try await isThere(id) {
        choice.ids.append(id)
        continue
      }
      if Item.ID(text) == nil { choice.hasInvalid = true }
      do throws(SourceError) {
        if let id = try await find(text) {
          if !choice.ids.contains(id) { choice.ids.append(id) }
        } else {
          choice.unknown.append(text)
        }
      } catch {
        if error.code == .invalidRequest {
          choice.ambiguous.append(error)
        } else {
          choice.failures.add(error, of: text)
        }
      }
    }
    return choice
  }
}

private struct DeletionChoice<ID: RecordID> {
  var ids: [ID] = []
  /// Invalid IDs, and those without a record.
  var unknown: [String] = []
  var hasInvalid = false
  /// The beginnings of several IDs.
  var ambiguous: [SourceError] = []
  /// Of those that could not be looked up.
  var failures = LookupFailures()
  /// True if others may begin as typed, which are not cached.
  var isDoubtful = false

  /// The IDs as arguments, unless there are too many.
  var typed: String {
    let words = ids.prefix(5).compactMap(\.description.argument)
    return words.count == ids.count ? words.joined(separator: " ") : "ID…"
  }

  var code: ExitCode {
    guard !unknown.isEmpty || !ambiguous.isEmpty || !failures.isEmpty || isDoubtful else {
      return .success
    }
    guard ids.isEmpty else { return .partial }
    return hasInvalid || !ambiguous.isEmpty ? .usage : failures.code
  }
}
