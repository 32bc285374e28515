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
        .aggregator("AggregatorKit"), .aggregator("AggregatorObservation"),
        .aggregator("CountriesSource"), .aggregator("HeroesSource"),
        .aggregator("ProductsSource"), .aggregator("UsersSource"),
      ],
      swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")]),
    // The four screens in a window, where there is SwiftUI.
    .executableTarget(
      name: "ScreensApp", dependencies: ["Screens", .aggregator("AggregatorKit")]),
    .testTarget(
      name: "ScreensTests",
      dependencies: [
        "Screens", .aggregator("AggregatorFakeServices"), .aggregator("AggregatorKit"),
        .aggregator("AggregatorObservation"), .aggregator("AggregatorTestSupport"),
        .aggregator("CountriesSource"),
      ]),
  ]
)

#if os(Linux)
  package.targets.append(
    .target(name: "SwiftUI", dependencies: [.aggregator("AggregatorObservation")]))
  for target in package.targets where target.name.hasPrefix("Screens") {
    target.dependencies.append("SwiftUI")
  }
#endif

extension Target.Dependency {
  /// A library of the package above.
  static func aggregator(_ name: String) -> Target.Dependency {
    .product(name: name, package: "aggregator")
  }
}
