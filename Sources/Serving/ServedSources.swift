import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorServer
import AggregatorTelemetry
import AggregatorTerminal

/// Makes the sources of a server.
struct ServedSources: Sendable {
  private let context: CommandContext
  private let metrics: Metrics?
  private let resources: ServedResources
  let isRecorded: Bool

  init(
    _ invocation: Invocation, _ environment: PluginEnvironment, _ metrics: Metrics?,
    _ images: ImagePool, _ context: CommandContext
  ) throws(CommandError) {
    isRecorded = try RecordingOptions(
      invocation, environment.settings, of: context.catalog.name
    ).isOn
    resources = ServedResources(
      imageFiles: isRecorded ? nil : try context.imageFiles(environment.settings),
      imagePool: images, duckDB: try? DuckDB(context.variables))
    self.context = context
    self.metrics = metrics
  }

  func source(
    _ plugin: some Plugin, _ environment: PluginEnvironment
  ) throws(CommandError) -> any ServedSource {
    let lock = try SyncLock(
      of: plugin.name, environment.settings, context,
      isNeeded: environment.store?.isShared == false)
    var environment = environment
    if let metrics {
      environment.observer = environment.observer.also(
        metrics.observer(of: plugin.name).callAsFunction)
    }
    return ServedPlugin(plugin, in: environment, sharing: resources) { body in
      try await lock.holding(body)
    }
  }
}
