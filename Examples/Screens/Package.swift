// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Screens",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [.package(name: "aggregator", path: "../..")],
  targets: [
    .target(
      name: "Screens",
      dependencies: [
        .product(name: "AggregatorKit", package: "aggregator"),
        .product(name: "AggregatorObservation", package: "aggregator"),
        .product(name: "CountriesSource", package: "aggregator"),
        .product(name: "HeroesSource", package: "aggregator"),
        .product(name: "ProductsSource", package: "aggregator"),
        .product(name: "UsersSource", package: "aggregator"),
      ]),
    .testTarget(
      name: "ScreensTests",
      dependencies: [
        "Screens", .product(name: "AggregatorKit", package: "aggregator"),
        .product(name: "AggregatorObservation", package: "aggregator"),
        .product(name: "AggregatorSourceTesting", package: "aggregator"),
        .product(name: "CountriesSource", package: "aggregator"),
      ]),
  ]
)
