import AggregatorArguments
import AggregatorFiles
import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal
import DeclaredSource

extension Command {
  static let editSource = Command(
    "NAME", words: CompletionSource.addedSourceOrService,
    notes: [
      "Opens a copy of the manifest in $VISUAL, $EDITOR or vi, and checks it before it replaces the manifest. The manifest "
        + "of a service has all of its lists."
    ],
    examples: [("sources edit issues", "change the manifest of an added source")],
    run: editSource)

  private static func editSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let folder = try context.manifestFolder(of: name, orService: true)
    return try context.edit(folder.text(of: name), as: "\(name).json") {
      text throws(CommandError) in
      try CommandError.wrapping(try folder.replace(name, with: text))
      return folder.file(of: name)
    }
  }

  static let removeSource = Command(
    "NAME", words: CompletionSource.addedSourceOrService,
    options: [.data, .yes, .dryRun],
    notes: [
      "A service is removed with all of its lists. Its cached records and images stay in the store, and the tokens with which it "
        + "signed in in their private files, unless --data is given."
    ],
    examples: [
      ("sources remove issues --yes", "remove an added source"),
      ("sources remove issues --data --yes", "remove it and its cached records"),
    ],
    run: removeSource)

  private static func removeSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let folder = try context.manifestFolder(of: name, orService: true)
    if let service = folder.service(of: name) {
      throw CommandError(
        .usage, "\(name) is a list of the service \(service)",
        hint: .steps(.command("sources edit \(service)"), .command("sources remove \(service)")))
    }
    let environment = try context.localEnvironment()
    let files = try context.imageFiles(environment.settings)
    var cached: [(source: String, data: CachedData)] = []
    for source in folder.sources(of: name) {
      do throws(SourceError) {
        guard let store = environment.store else { break }
        let data = try await CachedData(of: source, in: store, files, .everything)
        if !data.isEmpty { cached.append((source, data)) }
      } catch {
        // A source can be removed whatever the state of the store.
        if invocation.has(.data) { throw error }
      }
    }
    let data = invocation.has(.data) ? cached.map(\.data) : []
    let kind = folder.services.contains(name) ? "service" : "source"
    let subject = (["the \(kind) \(name)"] + data.map { "its \($0.text)" }).joined(
      separator: " and ")
    let isRemoved = try await context.remove(subject) {
      // The data first: afterwards the command would not find the source again.
      for data in data { try await data.remove() }
      if invocation.has(.data) {
        let names = Set(folder.sources(of: name))
        let others = context.catalog.plugins.filter { !names.contains($0.name) }
        for plugin in context.catalog.plugins where names.contains(plugin.name) {
          try await (plugin as? DeclaredPlugin)?.removeTokens(butThoseOf: others, in: environment)
        }
      }
      _ = try folder.remove(name)
    }
    if isRemoved, data.isEmpty {
      for (source, data) in cached {
        let command = context.diagnostics.command("store clear \(source) --forget-deleted")
        context.diagnostics.note("Still in the store: \(data.text). Remove with: \(command)")
      }
    }
    return .success
  }
}

extension CommandContext {
  /// Opens a copy of a text in an editor, again if the changed text is refused and the person wants to.
  ///
  /// - Parameters:
  ///   - ending: The end of the name of the copy.
  ///   - save: Checks the changed text and replaces the old one; returns what was changed.
  package func edit(
    _ old: [UInt8], as ending: String, save: ([UInt8]) throws(CommandError) -> String
  ) throws -> ExitCode {
    let directory = FileManager.default.temporaryDirectory.path
    let number = UInt64.random(in: .min ... .max)
    let copy = PrivateFile(path: "\(directory)/\(catalog.program)-\(number)-\(ending)")
    try copy.write(old)
    while true {
      try openEditor(copy.path)
      let new = try copy.contents(atMost: CurlCommand.maxSize) ?? old
      guard new != old else {
        diagnostics.note("Nothing changed")
        break
      }
      do throws(CommandError) {
        let changed = try save(new)
        diagnostics.note("Changed \(changed)")
        break
      } catch {
        let failure = CommandError(
          error.code, "\(error.message); nothing was changed",
          hint: .words("your version is in \(copy.path)"))
        guard !invocation.has(.noInput), isatty(STDIN_FILENO) == 1 else { throw failure }
        diagnostics.error(failure)
        guard try Confirmation.ask("Edit it again", mayAsk: true) else { return failure.code }
      }
    }
    unlink(copy.path)
    return .success
  }

  private func openEditor(_ path: String) throws(CommandError) {
    do throws(CommandError) { try Editor.open(path, variables) } catch {
      unlink(path)
      throw error
    }
  }
}
