import AggregatorFakeServices
import AggregatorKit
import AggregatorPlugins
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The recordings beside the tests of the sources, which `Scripts/record-fixtures` makes.
@Suite struct FixtureTests {
  /// The existing ones: a new source has none.
  static let fixtures = sourceNames.flatMap { source in
    ["working", "failing"].map { (source, recordings(of: source).appending(path: $0)) }
  }.filter { FileManager.default.fileExists(atPath: $1.path) }

  @Test func `each fake service has recordings`() {
    let recorded = Self.fixtures.map { "\($0) \($1.lastPathComponent)" }
    for (source, _) in FourServices.sources {
      for kind in ["working", "failing"] { #expect(recorded.contains("\(source) \(kind)")) }
    }
  }

  private static func recordings(of source: String) -> URL {
    Repository.root.appending(path: "Tests/\(source.capitalized)Tests/Recordings")
  }

  @Test(arguments: fixtures) func `they are recordings, and small`(
    source: String, directory: URL
  ) throws {
    #expect(try Recording(directory).count > 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    let texts = try names.map { name in
      #expect(name.hasSuffix(".http"))
      return String(
        decoding: try Data(contentsOf: directory.appending(path: name)), as: UTF8.self)
    }
    // Those of other sources are of their real services, and of any date and size.
    let isOfFake = FourServices.sources.contains { $0.name == source }
    let date = isOfFake ? "2026-11-20T10:10:00Z\n" : ""
    #expect(texts.allSatisfy { $0.hasPrefix("# aggregator recording 1\n# \(date)") })
    #expect(texts.reduce(0) { $0 + $1.utf8.count } < (isOfFake ? 60_000 : 2_000_000))
    // Nothing of this machine: no port, and so no difference tomorrow.
    #expect(!texts.contains { $0.contains("127.0.0.1") })
  }

  @Test(arguments: fixtures) func `they answer the program with its default settings`(
    source: String, directory: URL
  ) async throws {
    let outcome = try await Binary.run(
      ["\(source)", "list", "--json", "--replay", directory.path],
      environment: Dictionary(sourceURLSettings.map { ($0, nil) }) { $1 }
        .merging(["RANDOM_USER_PAGE_SIZE": "10"]) { $1 })
    #expect(outcome.status == 0)
    let isWorking = directory.lastPathComponent == "working"
    let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
    #expect(answer.provenance.origin == (isWorking ? "live" : "bundled"))
    if isWorking { #expect(answer.provenance.fetchedAt?.hasPrefix("2026-11-20T10:10:") == true) }
  }

  /// The metadata of a list of any source.
  private struct Answer: Decodable {
    let provenance: Envelope.Provenance
  }
}
