// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "aggregator", path: "..")],
  targets: [
    .executableTarget(
      name: "chain-cost",
      dependencies: [.aggregator("AggregatorKit"), .aggregator("ProductsSource")]),
    .executableTarget(
      name: "do-nothing",
      dependencies: [
        "AggregatorCommand", "AggregatorKit", "CountriesSource", "HeroesSource", "ProductsSource",
        "UsersSource",
      ].map {
        .aggregator($0)
      }),
    .executableTarget(
      name: "list-scroll",
      dependencies: [
        .aggregator("AggregatorKit"), .aggregator("AggregatorObservation"),
        .aggregator("HeroesSource"),
      ]),
    .executableTarget(
      name: "fill-store", dependencies: [.aggregator("AggregatorKit"), .aggregator("UsersSource")]),
  ]
)

extension Target.Dependency {
  /// A library of the package above.
  static func aggregator(_ name: String) -> Target.Dependency {
    .product(name: name, package: "aggregator")
  }
}
