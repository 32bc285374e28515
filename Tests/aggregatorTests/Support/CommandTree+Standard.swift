@testable import AggregatorCommand
@testable import aggregator

extension CommandTree {
  /// The commands of the program that is tested.
  static let standard = CommandTree("aggregator", plugins: aggregator.plugins)
}
