import AggregatorArguments
import AggregatorFiles
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension Command {
  static let editSource = Command(
    "NAME", words: CompletionSource.addedSource,
    notes: [
      "Opens a copy of the manifest in $VISUAL, $EDITOR or vi, and checks it before it replaces the manifest."
    ],
    examples: [("sources edit issues", "change the manifest of an added source")],
    run: editSource)

  private static func editSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let folder = try context.manifestFolder(of: name)
    let directory = FileManager.default.temporaryDirectory.path
    let copy = PrivateFile(
      path:
        "\(directory)/\(context.catalog.program)-\(name)-\(UInt64.random(in: .min ... .max)).json")
    let old = try folder.text(of: name)
    try copy.write(old)
    while true {
      try context.openEditor(copy.path)
      let new = try copy.contents(atMost: CurlCommand.maxSize) ?? old
      guard new != old else {
        context.diagnostics.note("Nothing changed")
        break
      }
      do throws(SourceError) {
        try folder.replace(name, with: new)
        context.diagnostics.note("Changed \(folder.file(of: name))")
        break
      } catch {
        let failure = CommandError(
          ExitCode(error), "\(error.message); nothing was changed",
          hint: .words("your version is in \(copy.path)"))
        guard !invocation.has(.noInput), isatty(STDIN_FILENO) == 1 else { throw failure }
        context.diagnostics.error(failure)
        guard try Confirmation.ask("Edit it again", mayAsk: true) else { return failure.code }
      }
    }
    unlink(copy.path)
    return .success
  }

  static let removeSource = Command(
    "NAME", words: CompletionSource.addedSource,
    options: [.data, .yes, .dryRun],
    notes: ["Its cached records and images stay in the store, unless --data is given."],
    examples: [
      ("sources remove issues --yes", "remove an added source"),
      ("sources remove issues --data --yes", "remove it and its cached records"),
    ],
    run: removeSource)

  private static func removeSource(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let name = try invocation.argument("NAME")
    let folder = try context.manifestFolder(of: name)
    let environment = try context.localEnvironment()
    let files = try context.imageFiles(environment.settings)
    var cached: CachedData?
    do throws(SourceError) {
      if let store = environment.store {
        cached = try await CachedData(of: name, in: store, files, .everything)
      }
    } catch {
      // A source can be removed whatever the state of the store.
      if invocation.has(.data) { throw error }
    }
    if cached?.isEmpty == true { cached = nil }
    let data = invocation.has(.data) ? cached : nil
    let subject = "the source \(name)" + (data.map { " and its \($0.text)" } ?? "")
    let isRemoved = try await context.remove(subject) {
      // The data first: afterwards the command would not find the source again.
      try await data?.remove()
      _ = try folder.remove(name)
    }
    if isRemoved, data == nil, let cached {
      let command = context.diagnostics.command("store clear \(name) --forget-deleted")
      context.diagnostics.note("Still in the store: \(cached.text). Remove with: \(command)")
    }
    return .success
  }
}

extension CommandContext {
  /// Waits until the user's editor has ended.
  fileprivate func openEditor(_ path: String) throws(CommandError) {
    let editor =
      ["VISUAL", "EDITOR"].lazy.compactMap { variables[$0]?.nonBlank }.first ?? "vi"
    // The variable may hold options, as in `code --wait`.
    let status = ExternalProgram.run(["/bin/sh", "-c", "\(editor) \"$@\"", "sh", path], variables)
    guard status == 0 else {
      unlink(path)
      throw CommandError(
        .io, "the editor \"\(editor)\" failed; nothing was changed",
        hint: "set VISUAL or EDITOR to the command of your editor")
    }
  }
}
