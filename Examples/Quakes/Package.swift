// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Quakes",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "aggregator", path: "../..")],
  targets: [
    .target(
      name: "Quakes", dependencies: [.product(name: "AggregatorKit", package: "aggregator")],
      plugins: [.plugin(name: "AggregatorEmbedJSON", package: "aggregator")]),
    .target(
      name: "Paintings", dependencies: [.product(name: "AggregatorKit", package: "aggregator")],
      plugins: [.plugin(name: "AggregatorEmbedJSON", package: "aggregator")]),
    .executableTarget(
      name: "quakes-cli",
      dependencies: [
        "Quakes", "Paintings", .product(name: "AggregatorCommand", package: "aggregator"),
      ]),
    .testTarget(
      name: "QuakesTests",
      dependencies: ["Quakes", .product(name: "AggregatorSourceTesting", package: "aggregator")]),
    .testTarget(
      name: "PaintingsTests",
      dependencies: [
        "Paintings", .product(name: "AggregatorKit", package: "aggregator"),
        .product(name: "AggregatorSourceTesting", package: "aggregator"),
      ]),
  ]
)
