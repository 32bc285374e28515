import Foundation

/// What came of running the program.
struct Outcome: Sendable, CustomStringConvertible {
  /// How it ended.
  let ending: Child.Ending

  /// What it wrote to standard output.
  let output: String

  /// What it wrote to standard error.
  let errors: String

  /// Its home and working directory.
  let sandbox: Sandbox

  /// Its exit status; `nil` if it died of a signal.
  var status: Int32? {
    if case .exit(let status) = ending { status } else { nil }
  }

  /// The lines of its standard output, without their line breaks.
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The lines of its standard error, blank ones too.
  var errorLines: [String] {
    errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// The document of `--json`.
  func envelope() throws -> Envelope {
    try JSONDecoder().decode(Envelope.self, from: Data(output.utf8))
  }

  var description: String { "\(ending)\n\(output.prefix(2000))\n--\n\(errors.prefix(2000))" }
}

/// The document of `--json`, as another program reads it.
struct Envelope: Decodable, Sendable {
  struct Page: Decodable, Sendable {
    let count: Int
    let total: Int?
    let next: String?
  }

  struct Provenance: Decodable, Sendable {
    let origin: String
    let fetchedAt: String?
    let reason: String?
    let endpoint: String?
  }

  struct Warning: Decodable, Sendable {
    let code: String
    let source: String?
    let message: String
  }

  /// A hero or a country.
  struct Item: Decodable, Sendable {
    let id: Int?
    let code: String?
    let name: String
    let powers: [String]?
    let teams: [String]?
    let biography: String?
  }

  let schema: String
  let source: String?
  let verb: String
  let query: String?
  let items: [Item]
  let page: Page
  let provenance: Provenance?
  let warnings: [Warning]
}
