@testable import AggregatorCommand
@testable import aggregator

extension CommandTree {
  /// The commands of the program under test.
  static let standard = CommandTree("aggregator", plugins: aggregator.plugins)
}
