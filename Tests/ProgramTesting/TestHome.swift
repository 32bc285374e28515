import Foundation

/// A home directory that persists across runs of the program.
struct TestHome: Sendable {
  /// The home and working directory.
  let sandbox: Sandbox

  /// The environment variables of every run.
  let environment: [String: String?]

  /// - Parameter settings: The settings of every run.
  init(_ settings: [String: String?] = [:]) throws {
    sandbox = try Sandbox()
    environment = settings
  }

  /// A new home, with services.
  init(_ settings: [String: String]) throws { try self.init(settings.mapValues(Optional.some)) }

  /// Runs a command line, split at spaces.
  ///
  /// - Parameters:
  ///   - variables: Variables besides, or instead of, the settings of this home.
  ///   - program: Another program that runs ours, with its arguments.
  func run(
    _ line: String, _ variables: [String: String?] = [:], input: String = "",
    by program: [String] = []
  ) async throws -> Outcome {
    try await Binary.run(
      line, environment: environment.merging(variables) { $1 }, input: input, in: sandbox,
      by: program)
  }

  func start(_ line: String) throws -> Binary.Run {
    try Binary.start(line, environment: environment, in: sandbox)
  }

  /// The value of a field in each record.
  func column(_ field: String, _ line: String) async throws -> [String] {
    try await run("\(line) --fields \(field) --tsv").lines
  }

  /// The path of the store.
  static let store = "home/.local/share/aggregator/store.sqlite"

  /// The file of the store.
  var file: StoredFile { StoredFile(path: sandbox.root.appending(path: Self.store).path) }
}
