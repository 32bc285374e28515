import AggregatorKit

extension PluginEnvironment {
  private static let remedy = Hint.words("set HOME, XDG_DATA_HOME or AGGREGATOR_HOME")

  /// The store, where there must be one.
  func requiredStore() throws(CommandError) -> any Store {
    guard let store else {
      throw CommandError(.io, "there is no place for a store", hint: Self.remedy)
    }
    return store
  }

  /// Says that what is read is not remembered, and that what was deleted is not known, if that is so.
  func warnIfNoStore(_ diagnostics: Diagnostics) {
    guard store == nil else { return }
    diagnostics.warning("nothing is remembered: there is no place for a store", hint: Self.remedy)
  }
}
