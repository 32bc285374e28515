import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  var pictureOptions: [Option] { layout.images == nil ? [] : [.image] }

  /// The program that draws pictures for `--image`; `nil` without that option.
  func drawing(
    _ invocation: Invocation, _ output: OutputOptions, _ context: CommandContext
  ) throws(CommandError) -> Chafa? {
    guard invocation.has(.image) else { return nil }
    let id = invocation.arguments.first.flatMap { $0.isPlainWord ? $0 : nil } ?? "ID"
    guard output.isForPeople, context.terminal.isOutput else {
      throw CommandError(
        .usage, "\(Option.image.spelling) requires a table on a terminal",
        hint: .command("\(name) image \(id) -o ."))
    }
    return try Chafa(
      invocation, context, requiredBy: Option.image.spelling,
      or: ", or save the image with image -o")
  }
}

/// The pictures beside the cards of records.
struct RecordPictures<P: Plugin>: Sendable {
  let card: IllustratedCard

  private let finder: ImageFinder<P>
  private let chafa: Chafa

  init(
    of plugin: P, drawnBy chafa: Chafa, _ environment: PluginEnvironment, _ invocation: Invocation,
    _ context: CommandContext
  ) throws(CommandError) {
    self.chafa = chafa
    finder = try ImageFinder(of: plugin, in: environment, invocation, context)
    card = IllustratedCard(
      on: context.terminalLayout, height: context.terminal.height, chafa.format)
  }

  /// `nil` without a picture: a record may have none, and a failure is added to `outcome`.
  func picture(
    of record: P.Item, _ outcome: inout ListingOutcome, _ diagnostics: Diagnostics
  ) async -> Picture? {
    do throws(SourceError) {
      let loaded = try await finder.image(of: record)
      for warning in loaded.warnings {
        diagnostics.warning("\(finder.plugin.name): \(warning.message)")
      }
      return try await chafa.picture(of: loaded.item, within: card.size)
    } catch let error where error.code == .notFound {
      diagnostics.note(error.message)
    } catch {
      var error = error
      error.message = "no image of \(finder.plugin.noun.singular) \(record.id): \(error.message)"
      outcome.fail(error)
    }
    return nil
  }
}
