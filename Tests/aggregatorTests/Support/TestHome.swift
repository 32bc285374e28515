import Foundation

/// One person's home, in which the program is run again and again, and remembers.
struct TestHome: Sendable {
  /// Home and working directory.
  let sandbox: Sandbox

  /// Variables of every run.
  let environment: [String: String?]

  /// A home in which nothing happened yet.
  ///
  /// - Parameter settings: What is set in every run.
  /// - Throws: `CocoaError` if there is no room for it.
  init(_ settings: [String: String?] = [:]) throws {
    sandbox = try Sandbox()
    environment = settings
  }

  /// A home in which nothing happened yet, with services.
  init(_ settings: [String: String]) throws { try self.init(settings.mapValues(Optional.some)) }

  /// Runs a command line to its end.
  ///
  /// - Parameters:
  ///   - line: The arguments, with a space between them.
  ///   - variables: What is set beside, or instead of, the settings of this home.
  ///   - input: What standard input holds.
  ///   - program: Another program that runs ours, with its arguments.
  /// - Returns: What came of it.
  /// - Throws: `POSIXError` if it cannot be started.
  func run(
    _ line: String, _ variables: [String: String?] = [:], input: String = "",
    by program: [String] = []
  ) async throws -> Outcome {
    try await Binary.run(
      line, environment: environment.merging(variables) { $1 }, input: input, in: sandbox,
      by: program)
  }

  /// Starts a command line.
  func start(_ line: String) throws -> Binary.Run {
    try Binary.start(line, environment: environment, in: sandbox)
  }

  /// What is in one field of each record.
  func column(_ field: String, _ line: String) async throws -> [String] {
    try await run("\(line) --fields \(field) --tsv").lines
  }

  /// Where the program keeps its store by default.
  static let store = "home/.local/share/aggregator/store.sqlite"

  /// The file of the store.
  var file: StoredFile { StoredFile(path: sandbox.root.appending(path: Self.store).path) }
}
