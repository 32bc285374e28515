import Foundation

/// The result of a run of the program.
struct Outcome: Sendable, CustomStringConvertible {
  /// The exit status or signal.
  let ending: Child.Ending

  /// Standard output.
  let output: String

  /// Standard error.
  let errors: String

  /// The home and working directory.
  let sandbox: Sandbox

  /// The exit status; `nil` if a signal ended it.
  var status: Int32? {
    if case .exit(let status) = ending { status } else { nil }
  }

  /// The lines of standard output, without line breaks.
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The lines of standard error, including blank ones.
  var errorLines: [String] {
    errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// The document of `--json`.
  func envelope() throws -> Envelope {
    try JSONDecoder().decode(Envelope.self, from: Data(output.utf8))
  }

  var description: String { "\(ending)\n\(output.prefix(2000))\n--\n\(errors.prefix(2000))" }
}

/// The document of `--json`, decoded as by another program.
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
