// swift-tools-version: 6.2
import PackageDescription

// SwiftPM refuses two packages that have a target, or a module, of the same name, so every name says
// whose it is: `Aggregator…`, `CAggregator…` or `…Source`. Folders are free to be short.
// The data sources: `Heroes` is the module `HeroesSource` in `Sources/Sources-Heroes`.
let sources = [
  "Countries",
  "Heroes",
  "Products",
  "Users",
]
let sourceModules: [Target.Dependency] = sources.map { .byName(name: "\($0)Source") }

// The command line: its rooms, and the commands above them.
let commandLine = [
  "AggregatorFilters", "AggregatorTelemetry", "AggregatorTerminal", "AggregatorSavedQueries",
  "AggregatorSelection", "AggregatorQueries",
  "AggregatorArguments",
  "AggregatorSQL",
  "AggregatorAPI", "AggregatorAgents", "AggregatorWeb", "AggregatorBrowse",
  "AggregatorSinger", "AggregatorSourceCommands", "AggregatorServing", "AggregatorCommand",
]

let package = Package(
  name: "aggregator",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "aggregator", targets: ["aggregator"]),
    .library(name: "AggregatorKit", targets: ["AggregatorKit"]),
    .library(name: "AggregatorObservation", targets: ["AggregatorObservation"]),
    .library(name: "AggregatorPostgres", targets: ["AggregatorPostgres"]),
    .library(name: "AggregatorCommand", targets: ["AggregatorCommand"]),
    .library(name: "AggregatorSourceTesting", targets: ["AggregatorSourceTesting"]),
    .library(name: "AggregatorTestSupport", targets: ["AggregatorTestSupport"]),
    .library(name: "AggregatorFakeServices", targets: ["AggregatorFakeServices"]),
    .plugin(name: "AggregatorEmbedJSON", targets: ["AggregatorEmbedJSON"]),
  ] + sources.map { .library(name: "\($0)Source", targets: ["\($0)Source"]) },
  targets: [
    // Loads the libraries of the eight below at run time.
    .target(
      name: "CAggregatorLibrary",
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "CAggregatorCurl", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorFormats", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorLineEditor", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorPixbuf", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorPostgres", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorServer", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorTerminal"),
    .target(name: "CAggregatorYAML", dependencies: ["CAggregatorLibrary"]),
    .target(name: "CAggregatorZlib", dependencies: ["CAggregatorLibrary"]),
    .systemLibrary(
      name: "CAggregatorSQLite",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    .target(name: "CAggregatorSQLiteMemory", dependencies: ["CAggregatorSQLite"]),

    // Each target depends only on targets above it.
    .library("Foundation"),
    .library("Text"),
    .library("JSON"),
    .library("Core"),
    .library("Files", dependsOn: ["AggregatorCore"]),
    .library("Settings", dependsOn: ["AggregatorCore", "AggregatorFiles"]),
    // Records in CSV, TSV, NDJSON and XML, as JSON.
    .library("Formats", dependsOn: ["AggregatorCore", "CAggregatorFormats", "CAggregatorZlib"]),
    .library(
      "HTTP",
      dependsOn: [
        "AggregatorCore", "AggregatorFiles", "AggregatorFormats",
        .target(name: "CAggregatorCurl", condition: .when(platforms: [.linux])),
      ]),
    // Signing in at services.
    .library(
      "Authorization",
      dependsOn: ["AggregatorCore", "AggregatorFiles", "AggregatorHTTP", "AggregatorSettings"]),
    // The engine of Apple systems. On Linux only tests depend on it.
    .library("URLSession", dependsOn: ["AggregatorCore", "AggregatorHTTP"]),
    .library("Images", dependsOn: ["AggregatorCore", "AggregatorFiles", "AggregatorHTTP"]),
    // Decoded pictures for views. The program draws none.
    .library(
      "Thumbnails",
      dependsOn: [
        "AggregatorCore", "AggregatorImages",
        .target(name: "CAggregatorPixbuf", condition: .when(platforms: [.linux])),
      ]),
    // The filters and the order of a list, parsed and evaluated.
    .library("Filters", dependsOn: ["AggregatorCore"]),
    .library("Store", dependsOn: ["AggregatorCore"]),
    // From a service into a store.
    .library("Sync", dependsOn: ["AggregatorCore", "AggregatorStore"]),
    .library(
      "SQLite",
      dependsOn: [
        "AggregatorCore", "AggregatorFiles", "AggregatorStore", "CAggregatorSQLite",
        "CAggregatorSQLiteMemory",
      ]),
    .library(
      "Postgres",
      dependsOn: ["AggregatorCore", "AggregatorStore", "CAggregatorPostgres"]),
    // From a store in a database to another one.
    .library("Copy", dependsOn: ["AggregatorCore", "AggregatorStore"]),
    .library("Server", dependsOn: ["AggregatorCore", "CAggregatorServer", "CAggregatorZlib"]),
    .library(
      "Observation",
      dependsOn: [
        "AggregatorCore", "AggregatorImages", "AggregatorStore", "AggregatorThumbnails",
      ]),
    .target(
      name: "AggregatorKit",
      dependencies: [
        "AggregatorAuthorization", "AggregatorCore", "AggregatorFiles", "AggregatorFormats",
        "AggregatorHTTP", "AggregatorImages", "AggregatorSQLite", "AggregatorSettings",
        "AggregatorStore", "AggregatorSync", "AggregatorText",
        .target(
          name: "AggregatorURLSession",
          condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
      ]),
    .library("Laws", dependsOn: ["AggregatorKit"]),
    // Services on this machine, scripted sources and a manual clock, for tests and previews.
    .library("TestSupport", dependsOn: ["AggregatorKit"]),
    .library("FakeServices", dependsOn: ["AggregatorKit", "AggregatorTestSupport"]),
    .library(
      "SourceTesting", dependsOn: ["AggregatorKit", "AggregatorLaws", "AggregatorTestSupport"]),
    .target(
      name: "DeclaredSource",
      dependencies: ["AggregatorFiles", "AggregatorFormats", "AggregatorKit"],
      path: "Sources/Sources-Declared"),
    // Manifests from what a service answers.
    .library(
      "Inference", dependsOn: ["AggregatorFormats", "AggregatorKit", "DeclaredSource"]),
    // Manifests from an OpenAPI document.
    .library(
      "OpenAPI",
      dependsOn: [
        "AggregatorFiles", "AggregatorFormats", "AggregatorInference", "AggregatorKit",
        "CAggregatorYAML", "DeclaredSource",
      ]),
    // A manifest's module in Swift.
    .library("Export", dependsOn: ["AggregatorInference", "AggregatorKit", "DeclaredSource"]),
    // Traces for OpenTelemetry.
    .library("Telemetry", dependsOn: ["AggregatorCore", "AggregatorHTTP"]),
    // The command line: what it writes, what a run is asked and answers, how its words are read, its SQL, its pages,
    // and the commands.
    .library("Terminal", dependsOn: ["AggregatorFiles", "AggregatorKit"]),
    // Taps and targets of Singer.
    .library(
      "Singer",
      dependsOn: [
        "AggregatorFiles", "AggregatorFormats", "AggregatorHTTP", "AggregatorKit",
        "AggregatorTerminal", "DeclaredSource",
      ]),
    // Command lines under names of their own.
    .library(
      "SavedQueries",
      dependsOn: ["AggregatorFiles", "AggregatorFilters", "AggregatorKit", "AggregatorTerminal"]),
    // The records that a list shows, and the values that it can be filtered by.
    .library(
      "Selection", dependsOn: ["AggregatorFilters", "AggregatorKit", "AggregatorTerminal"]),
    .library(
      "Queries",
      dependsOn: [
        "AggregatorFiles", "AggregatorFilters", "AggregatorKit", "AggregatorPostgres",
        "AggregatorSavedQueries", "AggregatorSelection", "AggregatorTelemetry",
        "AggregatorTerminal", "DeclaredSource",
      ]),
    .library(
      "Arguments",
      dependsOn: [
        "AggregatorFilters", "AggregatorKit", "AggregatorQueries", "AggregatorSavedQueries",
        "AggregatorSelection", "AggregatorTerminal", "DeclaredSource",
      ]),
    .library(
      "SQL",
      dependsOn: [
        "AggregatorFiles", "AggregatorFormats", "AggregatorKit", "AggregatorQueries",
        "AggregatorSavedQueries", "AggregatorTerminal", "CAggregatorLineEditor",
        "CAggregatorSQLite",
      ]),
    .library(
      "API",
      dependsOn: [
        "AggregatorFiles", "AggregatorFilters", "AggregatorKit", "AggregatorQueries",
        "AggregatorSQL", "AggregatorSelection", "AggregatorServer", "AggregatorTerminal",
      ]),
    // Sources as tools of language models.
    .library(
      "Agents",
      dependsOn: [
        "AggregatorAPI", "AggregatorKit", "AggregatorQueries", "AggregatorServer",
        "AggregatorTelemetry", "AggregatorTerminal",
      ]),
    .library(
      "Web",
      dependsOn: [
        "AggregatorAPI", "AggregatorAgents", "AggregatorFiles", "AggregatorFilters",
        "AggregatorKit", "AggregatorQueries", "AggregatorSelection", "AggregatorServer",
        "AggregatorTelemetry", "AggregatorTerminal",
      ], plugins: ["AggregatorEmbedJSON"]),
    .library(
      "Browse",
      dependsOn: [
        "AggregatorArguments", "AggregatorFiles", "AggregatorFilters", "AggregatorKit",
        "AggregatorQueries", "AggregatorSQL", "AggregatorSelection", "AggregatorTerminal",
        "CAggregatorTerminal",
      ]),
    // The commands that add, change, check and export sources, and that send a request to the service of one.
    .library(
      "SourceCommands",
      dependsOn: [
        "AggregatorArguments", "AggregatorExport", "AggregatorFiles", "AggregatorInference",
        "AggregatorKit", "AggregatorLaws", "AggregatorOpenAPI", "AggregatorQueries",
        "AggregatorSinger",
        "AggregatorTerminal", "DeclaredSource",
      ]),
    // The commands that run a server, of pages or for language models.
    .library(
      "Serving",
      dependsOn: [
        "AggregatorAPI", "AggregatorAgents", "AggregatorArguments", "AggregatorFiles",
        "AggregatorInference", "AggregatorKit", "AggregatorQueries", "AggregatorServer",
        "AggregatorSourceCommands", "AggregatorTelemetry", "AggregatorTerminal", "AggregatorWeb",
        "DeclaredSource",
      ]),
    .target(
      name: "AggregatorCommand",
      dependencies: [
        "AggregatorArguments", "AggregatorBrowse", "AggregatorCopy", "AggregatorFiles",
        "AggregatorFilters", "AggregatorKit", "AggregatorQueries", "AggregatorSQL",
        "AggregatorSavedQueries", "AggregatorSelection", "AggregatorServer", "AggregatorServing",
        "AggregatorSinger", "AggregatorSourceCommands", "AggregatorTelemetry",
        "AggregatorTerminal", "DeclaredSource",
      ]),
    // The list of the sources, which tests read without the program.
    .target(
      name: "AggregatorPlugins", dependencies: ["AggregatorKit"] + sourceModules,
      path: "Sources/Plugins"),
    .executableTarget(
      name: "aggregator", dependencies: ["AggregatorCommand", "AggregatorPlugins"]),

    .executableTarget(name: "aggregator-embed-json", path: "Plugins/EmbedJSON/Tool"),
    .plugin(
      name: "AggregatorEmbedJSON", capability: .buildTool(),
      dependencies: ["aggregator-embed-json"], path: "Plugins/EmbedJSON/Plugin"),

    .testTarget(
      name: "LibraryTests",
      dependencies: [
        "AggregatorCopy", "AggregatorCore", "AggregatorFiles", "AggregatorImages",
        "AggregatorKit", "AggregatorLaws", "AggregatorNeighbors", "AggregatorObservation",
        "AggregatorPostgres", "AggregatorPostgresServer", "AggregatorSQLite",
        "AggregatorSourceTesting", "AggregatorStore", "AggregatorSync", "CAggregatorSQLite",
      ]),
    .testTarget(
      name: "TransportTests",
      dependencies: [
        "AggregatorAuthorization", "AggregatorCore", "AggregatorFakeServices", "AggregatorFiles",
        "AggregatorFormats", "AggregatorHTTP", "AggregatorKit", "AggregatorLaws",
        "AggregatorServer", "AggregatorSettings", "AggregatorSourceTesting", "AggregatorText",
        "AggregatorURLSession",
      ]),
    .testTarget(
      name: "FiltersTests",
      dependencies: [
        "AggregatorCore", "AggregatorFilters", "AggregatorFoundation", "AggregatorText",
      ]),
    .testTarget(
      name: "DeclaredTests",
      dependencies: [
        "AggregatorExport", "AggregatorFakeServices", "AggregatorInference", "AggregatorKit",
        "AggregatorLaws", "AggregatorOpenAPI", "AggregatorSourceTesting", "DeclaredSource",
      ]),
    .testTarget(
      name: "SingerTests",
      dependencies: [
        "AggregatorFakeServices", "AggregatorKit", "AggregatorPostgresServer", "AggregatorSinger",
        "AggregatorTestSupport",
      ]),
    .sourceTests("Countries"),
    .sourceTests("Heroes"),
    .sourceTests("Products"),
    .sourceTests("Users"),
    .programTests("EndToEndTests"),
    .programTests(
      "aggregatorTests", beyond: commandLine + ["AggregatorFormats", "AggregatorGuideSnippets"],
      exclude: ["Agents/Client", "Rendering/Golden", "Serve/Browser"]),
    // Homes, terminals and services for the two.
    .target(
      name: "AggregatorProgramTesting",
      dependencies: [
        "AggregatorArguments", "AggregatorFakeServices", "AggregatorKit", "AggregatorPlugins",
        "AggregatorSourceTesting", "AggregatorTerminal",
      ], path: "Tests/ProgramTesting"),

    .executableTarget(
      name: "aggregator-dialects",
      dependencies: [
        "AggregatorInference", "AggregatorKit", "AggregatorSourceTesting", "DeclaredSource",
      ], path: "Tests/DialectReport"),
    .executableTarget(
      name: "aggregator-faults",
      dependencies: ["AggregatorFakeServices", "AggregatorKit", "AggregatorSourceTesting"]
        + sourceModules,
      path: "Tests/FaultReport"),
    .executableTarget(
      name: "aggregator-truth",
      dependencies: ["AggregatorFakeServices", "AggregatorKit"], path: "Tests/TruthReport"),
    .target(
      name: "AggregatorPostgresServer", dependencies: ["AggregatorKit", "AggregatorSourceTesting"],
      path: "Tests/PostgresServer"),
    .target(name: "AggregatorNeighbors", path: "Tests/Neighbors"),
    .target(
      name: "AggregatorGuideSnippets", dependencies: ["AggregatorKit", "HeroesSource"],
      path: "Tests/GuideSnippets"),

    .target(
      name: "AggregatorFuzzing",
      dependencies: [
        "AggregatorFiles", "AggregatorFormats", "AggregatorInference", "AggregatorKit",
        "AggregatorLaws", "AggregatorOpenAPI", "AggregatorServer", "AggregatorSourceTesting",
        "CAggregatorSQLite", "DeclaredSource",
      ] + sourceModules + commandLine.map { .byName(name: $0) },
      path: "Tests/Fuzzing"),
    .executableTarget(
      name: "aggregator-fuzz", dependencies: ["AggregatorFuzzing"], path: "Tests/FuzzProgram"),
    .testTarget(name: "FuzzTests", dependencies: ["AggregatorFuzzing"]),
  ] + sources.map { .source($0) },
  swiftLanguageModes: [.v6]
)

// A module does not change when one that it only exports does: without these dependencies SwiftPM would leave
// those who import it as they are, compiled for the old layout of a type.
let exported = [
  "AggregatorObservation": ["AggregatorThumbnails"],
  "AggregatorSourceTesting": ["AggregatorTestSupport"],
  "AggregatorKit": [
    "AggregatorAuthorization", "AggregatorCore", "AggregatorFormats", "AggregatorFoundation",
    "AggregatorHTTP", "AggregatorImages", "AggregatorJSON", "AggregatorSQLite",
    "AggregatorSettings", "AggregatorStore", "AggregatorSync", "AggregatorText",
  ],
]
for target in package.targets {
  let names = target.dependencies.compactMap { dependency in
    if case .byNameItem(let name, _) = dependency { name } else { nil }
  }
  let missing = names.flatMap { exported[$0] ?? [] }.filter { !names.contains($0) }
  target.dependencies += missing.map { .byName(name: $0) }
}

// Apps on Apple systems take it from a bundle. On Linux that would be a directory beside the program.
for target in package.targets where target.name == "AggregatorFiles" {
  #if os(macOS)
    target.resources = [.copy("PrivacyInfo.xcprivacy")]
  #else
    target.exclude = ["PrivacyInfo.xcprivacy"]
  #endif
}

for target in package.targets where ![.system, .plugin, .binary].contains(target.type) {
  // The guides are for packages that enable no upcoming feature.
  guard target.name != "AggregatorGuideSnippets" else { continue }
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

// Scripts/test --only: the tests of one target, and what they need. SwiftPM would build the tests of all others too,
// because it links all tests of a package into one program.
if let tests = Context.environment["AGGREGATOR_ONLY"] {
  var kept: [String] = []
  var waiting = [tests]
  while let name = waiting.popLast() {
    guard !kept.contains(name), let target = package.targets.first(where: { $0.name == name })
    else { continue }
    kept.append(name)
    for case .targetItem(let name, _) in target.dependencies { waiting.append(name) }
    for case .byNameItem(let name, _) in target.dependencies { waiting.append(name) }
    for case .plugin(let name, _) in target.plugins ?? [] { waiting.append(name) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
  // The laws under faults spend their time in these targets: optimised, they take half of it. They are rarely edited.
  for name in ["Text", "JSON", "Core", "Filters", "HTTP", "Store", "SQLite"] {
    let target = package.targets.first { $0.name == "Aggregator\(name)" }
    target?.swiftSettings =
      (target?.swiftSettings ?? []) + [
        .unsafeFlags(["-O", "-whole-module-optimization", "-num-threads", "2"])
      ]
  }
}

// All but JSON and texts is compiled for size. The optimiser makes no copies of generic functions where hardly a record
// passes: elsewhere, a sync of products takes twice as long without them. Decision 31 has the measures.
let small = [
  "AggregatorAPI", "AggregatorCore", "AggregatorFiles", "AggregatorFilters", "AggregatorFormats",
  "AggregatorPostgres", "AggregatorQueries", "AggregatorSQLite", "AggregatorSelection",
  "AggregatorServer", "AggregatorStore", "AggregatorSync", "AggregatorTerminal",
  "CountriesSource", "DeclaredSource", "HeroesSource", "ProductsSource", "UsersSource",
]
let smallest = [
  "AggregatorAgents", "AggregatorArguments", "AggregatorAuthorization", "AggregatorBrowse",
  "AggregatorCommand", "AggregatorCopy", "AggregatorExport", "AggregatorHTTP", "AggregatorImages",
  "AggregatorInference", "AggregatorKit", "AggregatorLaws", "AggregatorOpenAPI", "AggregatorSQL",
  "AggregatorSavedQueries", "AggregatorServing", "AggregatorSettings", "AggregatorSinger",
  "AggregatorSourceCommands", "AggregatorTelemetry", "AggregatorWeb",
]
/// The targets that find the command of a run, which each start waits for.
let startup = [
  "AggregatorArguments", "AggregatorCommand", "AggregatorFoundation", "AggregatorPlugins",
  "AggregatorSavedQueries", "AggregatorSettings", "AggregatorText", "CountriesSource",
  "HeroesSource", "ProductsSource", "UsersSource", "aggregator",
]
/// The options by which an optimised target is small.
func optionsForSize(of target: String) -> [String] {
  var options: [String] = []
  if (small + smallest).contains(target) {
    options += ["-Osize", "-Xllvm", "-enable-machine-outliner=always"]
  }
  if smallest.contains(target) {
    options += ["-Xllvm", "-sil-disable-pass=generic-specializer"]
  }
  return options
}

// Scripts/build makes the program, and the tests that link the same modules as the program does: decision 30.
if let linkerFlags = Context.environment["AGGREGATOR_RELEASE"] {
  // Optimising the tests, and what only tests use, would take minutes.
  let unoptimised = Set(
    package.targets.filter { target in
      target.path?.hasPrefix("Tests/") ?? (target.type == .test)
        || [
          "AggregatorFakeServices", "AggregatorSourceTesting", "AggregatorTestSupport",
        ].contains(target.name)
    }.map(\.name))
  // The same bytes in every directory. Tests read files beside their sources.
  let prefix = "\(Context.packageDirectory)=."
  let unprinted = Set(
    commandLine + [
      "AggregatorExport", "AggregatorFiles", "AggregatorFormats", "AggregatorInference",
      "AggregatorLaws", "AggregatorOpenAPI", "AggregatorPostgres", "AggregatorSQLite",
      "AggregatorServer", "AggregatorStore", "AggregatorSync",
    ])
  for target in package.targets where ![.system, .plugin, .binary].contains(target.type) {
    var flags: [String] = []
    if unoptimised.contains(target.name) {
      // Tests say where they fail; a debugger has the debug build.
      flags = ["-Onone", "-Xfrontend", "-gnone"]
      // Nothing imports the tests: their modules are by-products, not made by a compilation of their own.
      if target.type == .test { flags.append("-no-emit-module-separately-wmo") }
    } else {
      flags = ["-file-prefix-map", prefix, "-Xcc", "-ffile-prefix-map=\(prefix)"]
      // These print no value by its members. Tests print those of the rest, and look for keys in them.
      if unprinted.contains(target.name) {
        flags += ["-Xfrontend", "-disable-reflection-metadata"]
      }
      // Generic types are called by functions, not looked up by their names, with a search of all conformances.
      if startup.contains(target.name) {
        flags += ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"]
      }
    }
    flags += optionsForSize(of: target.name)
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
    if target.name.hasPrefix("CAggregator") {
      target.cSettings =
        (target.cSettings ?? []) + [.unsafeFlags(["-ffile-prefix-map=\(prefix)"])]
    }
    if target.name == "aggregator" {
      target.linkerSettings = [.unsafeFlags(linkerFlags.split(separator: "\n").map(String.init))]
    }
  }
} else {
  // Programs of other packages, too, have only those functions that something calls. SwiftPM takes such options from
  // dependencies that, as this one, need its version 6.2.
  for target in package.targets
  where ![.system, .plugin, .binary, .test].contains(target.type)
    && !target.name.hasPrefix("CAggregator")
  {
    target.swiftSettings =
      (target.swiftSettings ?? []) + [
        .unsafeFlags(
          ["-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link"]
            + optionsForSize(of: target.name),
          .when(platforms: [.linux], configuration: .release))
      ]
  }
}

extension Target {
  /// Tests of the command line: those with the built binary need no more of its modules than these, so that they are
  /// compiled beside the others.
  static func programTests(
    _ name: String, beyond modules: [String] = [], exclude: [String] = []
  ) -> Target {
    .testTarget(
      name: name,
      dependencies: Set(
        [
          "AggregatorArguments", "AggregatorFakeServices", "AggregatorFiles", "AggregatorKit",
          "AggregatorLaws", "AggregatorPlugins", "AggregatorPostgres", "AggregatorPostgresServer",
          "AggregatorProgramTesting", "AggregatorQueries", "AggregatorSQL", "AggregatorServer",
          "AggregatorSourceTesting", "AggregatorTelemetry", "AggregatorTerminal", "DeclaredSource",
        ] + modules
      ).sorted().map { .byName(name: $0) } + sourceModules, exclude: exclude)
  }

  /// A part of the library: module `AggregatorStore` lives in `Sources/Store`.
  static func library(
    _ folder: String, dependsOn dependencies: [Dependency] = [], plugins: [PluginUsage] = []
  ) -> Target {
    // All others stand on these three.
    let ground = ["Foundation", "Text", "JSON"]
    let known = ground.prefix { $0 != folder }.map { Dependency(stringLiteral: "Aggregator\($0)") }
    return .target(
      name: "Aggregator\(folder)", dependencies: known + dependencies,
      path: "Sources/\(folder)", plugins: plugins)
  }

  /// A data-source module: `HeroesSource` lives in `Sources/Sources-Heroes`, and the JSON files of
  /// its `Resources/` are compiled into it.
  static func source(_ name: String) -> Target {
    .target(
      name: "\(name)Source", dependencies: ["AggregatorKit"], path: "Sources/Sources-\(name)",
      exclude: ["Resources/README.md"], plugins: ["AggregatorEmbedJSON"])
  }

  /// The tests of a data-source module, with the recordings that they replay.
  static func sourceTests(_ name: String) -> Target {
    .testTarget(
      name: "\(name)Tests",
      dependencies: [
        .byName(name: "\(name)Source"), "AggregatorFakeServices", "AggregatorKit",
        "AggregatorSourceTesting",
      ],
      exclude: ["Recordings"])
  }
}
