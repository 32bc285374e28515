import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The choice of records of a source on the terminal.
struct RecordPicker<P: Plugin> {
  private let plugin: P
  private let device: BrowseDevice
  private let context: CommandContext

  /// `nil` if nobody can be asked.
  init?(of plugin: P, _ context: CommandContext) {
    guard let device = BrowseDevice.asking(context) else { return nil }
    self.plugin = plugin
    self.device = device
    self.context = context
  }

  /// The IDs of the records that the person picks; `nil` if they leave without one, none if no record is deleted of
  /// which one is to be picked.
  ///
  /// - Parameter isLocal: True if the command asks no service.
  func pick(
    _ picking: BrowseState.Picking, matching query: String = "", isLocal: Bool = false
  ) async throws -> [String]? {
    // The command itself warns of settings and the store.
    let context = context.quiet
    var environment = try context.localEnvironment()
    // Progress would be drawn over the screen.
    environment.observer = context.tracingObserver
    let isRecorded = try RecordingOptions(
      context.invocation, environment.settings, of: context.catalog.name
    ).isOn
    let isOffline = isLocal || isRecorded || context.invocation.has(.offline)
    if picking.areDeleted {
      let status = try await environment.requiredStore().status(of: plugin.name)
      guard status.deleted > 0 else { return [] }
    }
    let browser = try await RecordBrowser(
      of: [plugin], in: environment, context, on: device,
      picking.areDeleted ? .deleted : isOffline ? .local : .service)
    return try await browser.pick(
      picking, matching: query,
      where: context.invocation.texts(.condition).joined(separator: " and "))
  }
}
