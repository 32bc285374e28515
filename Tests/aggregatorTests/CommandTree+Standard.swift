import AggregatorPlugins

@testable import AggregatorArguments
@testable import AggregatorCommand

extension CommandTree {
  /// The commands of the program under test.
  static let standard = CommandTree("aggregator", plugins: AggregatorPlugins.plugins)
}
