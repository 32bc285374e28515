// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Goods",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "aggregator", path: "../..")],
  targets: [
    .target(
      name: "Goods", dependencies: [.product(name: "AggregatorKit", package: "aggregator")],
      plugins: [.plugin(name: "AggregatorEmbedJSON", package: "aggregator")]),
    .executableTarget(
      name: "goods-cli",
      dependencies: [
        "Goods", .product(name: "CountriesSource", package: "aggregator"),
        .product(name: "AggregatorCommand", package: "aggregator"),
      ]),
    .testTarget(
      name: "GoodsTests",
      dependencies: ["Goods", .product(name: "AggregatorSourceTesting", package: "aggregator")]),
  ]
)
