package import AggregatorKit
import AggregatorTerminal

extension Plugin {
  /// The fields that lists do not include.
  package var detailFields: [Field<Item>] { fields.filter { $0.isDetail } }

  /// The option to fetch them, for commands that list records.
  package var detailOptions: [Option] { fields.contains { $0.isDetail } ? [.details] : [] }

  /// True for a record without a value in any field that lists do not include: then it was hardly fetched alone.
  package var lacksDetails: @Sendable (Item) -> Bool {
    let fields = detailFields
    return { item in !fields.isEmpty && fields.allSatisfy { $0[item] == .null } }
  }
}

/// Fetches the details of listed records one by one, at the source's rate, until the service fails.
package struct DetailLoader<P: Plugin> {
  private let plugin: P
  private let source: any DataSource<P.Item>
  private let environment: PluginEnvironment
  private let context: CommandContext
  private var hasStopped = false

  /// `nil` without `--details`.
  package init?(
    of plugin: P, _ source: any DataSource<P.Item>, in environment: PluginEnvironment,
    _ invocation: Invocation, _ context: CommandContext
  ) {
    guard invocation.has(.details) else { return nil }
    self.plugin = plugin
    self.source = source
    self.environment = environment
    self.context = context
  }

  /// Returns the records with their details; a failure that ends it is added to `outcome`.
  package mutating func completed(
    _ items: [P.Item], _ outcome: inout ListingOutcome
  ) async throws(SourceError) -> [P.Item] {
    var items = items
    let lacksDetails = plugin.lacksDetails
    defer { context.progress.say(nil) }
    for (index, item) in items.enumerated() {
      // Details that an earlier run fetched, however long ago, need no request.
      if let known = await stored(item.id) { items[index] = item.merged(over: known) }
      guard !hasStopped, lacksDetails(items[index]) else { continue }
      let (progress, count) = (context.progress, items.count)
      progress.say { [name = plugin.name] in
        progress.withStatus("Fetching details of \(name)… \(index + 1) of \(count)")
      }
      do {
        let found = try await source.item(item.id)
        items[index] = found.item.merged(over: items[index])
        // Another tier answered: the service would fail for the next record, too.
        if let reason = found.provenance.reason { stop(because: reason, &outcome) }
      } catch {
        guard error.code != .cancelled else { throw error }
        // The service may list a record that it does not have alone.
        if error.code != .notFound { stop(because: error, &outcome) }
      }
    }
    return items
  }

  private func stored(_ id: P.Item.ID) async -> P.Item? {
    guard let store = environment.store else { return nil }
    return try? await plugin.recordStore(in: store).records.item(id).item
  }

  private mutating func stop(because error: SourceError, _ outcome: inout ListingOutcome) {
    hasStopped = true
    // Requested offline mode is no failure.
    if error.code != .offline { outcome.fail(error) }
  }
}
