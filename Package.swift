// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "aggregator",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "aggregator", targets: ["aggregator"]),
    .library(name: "Core", targets: ["Core"]),
    .library(name: "Countries", targets: ["Countries"]),
    .library(name: "Heroes", targets: ["Heroes"]),
    .library(name: "AggregatorCommand", targets: ["AggregatorCommand"]),
    .library(name: "Products", targets: ["Products"]),
    .library(name: "Users", targets: ["Users"]),
    .library(name: "SourceTesting", targets: ["SourceTesting"]),
    .plugin(name: "EmbedJSON", targets: ["EmbedJSON"]),
  ],
  traits: [
    .trait(
      name: "URLSessionOnLinux",
      description: "Compiles the engine of Apple systems on Linux too, beside libcurl, to check it."
    )
  ],
  targets: [
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .systemLibrary(
      name: "CSQLite",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    .target(
      name: "Core",
      dependencies: ["CSQLite", .target(name: "CCurl", condition: .when(platforms: [.linux]))]),
    .source("Countries"),
    .source("Heroes"),
    .source("Products"),
    .source("Users"),
    .target(name: "SourceTesting", dependencies: ["Core"]),
    .target(name: "AggregatorCommand", dependencies: ["Core"]),
    .executableTarget(
      name: "aggregator",
      dependencies: [
        "AggregatorCommand", "Core",
        "Countries", "Heroes", "Products", "Users",
      ]),

    .executableTarget(name: "embed-json", path: "Plugins/EmbedJSON/Tool"),
    .plugin(
      name: "EmbedJSON", capability: .buildTool(), dependencies: ["embed-json"],
      path: "Plugins/EmbedJSON/Plugin"),

    .testTarget(name: "CoreTests", dependencies: ["CSQLite", "Core", "SourceTesting"]),
    .sourceTests("Countries"),
    .sourceTests("Heroes"),
    .sourceTests("Products"),
    .sourceTests("Users"),
    .testTarget(
      name: "aggregatorTests",
      dependencies: [
        "AggregatorCommand", "Core", "Countries", "FakeServices", "Heroes", "Products",
        "SourceTesting",
        "Users", "aggregator",
      ],
      exclude: ["Rendering/Golden"]),

    .executableTarget(
      name: "weather-report",
      dependencies: [
        "Core", "Countries", "FakeServices", "Heroes", "Products", "SourceTesting", "Users",
      ],
      path: "Tests/WeatherReport"),
    .target(
      name: "FakeServices", dependencies: ["Core", "SourceTesting"], path: "Tests/FakeServices"),

    .target(
      name: "Fuzzing",
      dependencies: [
        "AggregatorCommand", "CSQLite", "Core", "Countries", "Heroes", "Products", "SourceTesting",
        "Users",
      ],
      path: "Tests/Fuzzing"),
    .executableTarget(
      name: "fuzz", dependencies: ["Fuzzing"], path: "Tests/FuzzProgram"),
    .testTarget(name: "FuzzTests", dependencies: ["Fuzzing"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where ![.system, .plugin, .binary].contains(target.type) {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .enableUpcomingFeature("ExistentialAny"),  // SE-0335
      .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
      .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
      .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
      .enableUpcomingFeature("ImmutableWeakCaptures"),  // SE-0481
      .treatAllWarnings(as: .error),  // SE-0480
    ]
}

extension Target {
  /// A data-source module: target `Heroes` lives in `Sources/Sources-Heroes`, and the JSON files of
  /// its `Resources/` are compiled into it.
  static func source(_ name: String) -> Target {
    .target(
      name: name, dependencies: ["Core"], path: "Sources/Sources-\(name)",
      exclude: ["Resources/README.md"], plugins: ["EmbedJSON"])
  }

  /// The tests of a data-source module, with the recordings that they replay.
  static func sourceTests(_ name: String) -> Target {
    .testTarget(
      name: "\(name)Tests",
      dependencies: [.byName(name: name), "FakeServices", "SourceTesting"],
      exclude: ["Recordings"])
  }
}
