import AggregatorFakeServices
import AggregatorKit
import Foundation
import Testing

@testable import aggregator

/// The recordings beside the tests of the sources, which `Scripts/record-fixtures` makes.
@Suite struct FixtureTests {
  static let fixtures = plugins.flatMap { plugin in
    ["fair", "failing"].map { (plugin.name, recordings(of: plugin.name).appending(path: $0)) }
  }

  private static func recordings(of source: String) -> URL {
    Repository.root.appending(path: "Tests/\(source.capitalized)Tests/Recordings")
  }

  @Test(arguments: fixtures) func `they are recordings, and small`(
    source: String, directory: URL
  ) throws {
    #expect(try Recording(directory.path).count > 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    let texts = try names.map { name in
      #expect(name.hasSuffix(".http"))
      return String(
        decoding: try Data(contentsOf: directory.appending(path: name)), as: UTF8.self)
    }
    #expect(texts.allSatisfy { $0.hasPrefix("# aggregator recording 1\n# 2026-11-20T10:10:00Z\n") })
    #expect(texts.map(\.utf8.count).reduce(0, +) < 60_000)
    // Nothing of this machine: no port, and so no difference tomorrow.
    #expect(!texts.contains { $0.contains("127.0.0.1") })
  }

  @Test(arguments: fixtures) func `they answer the program with its default settings`(
    source: String, directory: URL
  ) async throws {
    let outcome = try await Binary.run(
      ["\(source)", "list", "--json", "--replay", directory.path],
      environment: [
        "COUNTRIES_URL": nil, "COMIC_VINE_URL": nil, "PRODUCTS_URL": nil, "RANDOM_USER_URL": nil,
        "RANDOM_USER_PAGE_SIZE": "10",
      ])
    #expect(outcome.status == 0)
    let isFair = directory.lastPathComponent == "fair"
    let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
    #expect(answer.provenance.origin == (isFair ? "live" : "bundled"))
    if isFair { #expect(answer.provenance.fetchedAt?.hasPrefix("2026-11-20T10:10:") == true) }
  }

  /// The metadata of a list of any source.
  private struct Answer: Decodable {
    let provenance: Envelope.Provenance
  }
}
