// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "aggregator", path: "..")],
  targets: [
    .executableTarget(
      name: "fill-store",
      dependencies: [
        .product(name: "Core", package: "aggregator"),
        .product(name: "Users", package: "aggregator"),
      ])
  ]
)
