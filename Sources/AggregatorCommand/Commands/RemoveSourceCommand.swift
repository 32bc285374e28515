import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension Command {
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
      if invocation.has(.data) { throw CommandError(error) }
    }
    if cached?.isEmpty == true { cached = nil }
    let data = invocation.has(.data) ? cached : nil
    let subject = "the source \(name)" + (data.map { " and its \($0.text)" } ?? "")
    let isRemoved = try await context.remove(subject) {
      do throws(SourceError) {
        // The data first: afterwards the command would not find the source again.
        try await data?.remove()
        _ = try folder.remove(name)
      } catch {
        throw CommandError(error)
      }
    }
    if isRemoved, data == nil, let cached {
      let command = context.diagnostics.command("store clear \(name) --forget-deleted")
      context.diagnostics.note("Still in the store: \(cached.text). Remove with: \(command)")
    }
    return .success
  }
}
