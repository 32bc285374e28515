import AggregatorFakeServices
import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import DeclaredSource
import Foundation
import Testing

/// `Fixture`: one line that records or replays.
@Suite(.timeLimit(.minutes(10))) struct FixtureTests {
  private let directory = URL.temporaryDirectory.appending(path: "recording-\(UUID())")
  private let service: FakeAPI
  private let plugin: DeclaredPlugin

  init() throws {
    service = try FakeAPI(.page)
    plugin = try service.plugin()
  }

  /// The line of a test.
  private func laws(in fixture: Fixture, with settings: [String: String] = [:]) async throws
    -> [String]
  {
    try await expectLaws(
      ofRemoteOf: plugin, in: fixture.environment(for: plugin, with: settings)
    ).entries.map { "\($0.law.name): \($0.verdict)" }
  }

  @Test func `laws hold of the recording that they made, without the service and its key`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: directory) }
    let recorded = try await laws(
      in: Fixture(in: directory, recording: service.transport), with: service.settings)
    // A service is asked nothing twice.
    let requests = service.requests.map { "\($0.method) \($0.path) \($0.rawQuery ?? "")" }
    #expect(Set(requests).count == requests.count && requests.count > 5)
    let files = try Fixture(in: directory).files()
    #expect(files.count == requests.count)
    #expect(!files.values.contains { $0.contains(FakeAPI.key) })

    #expect(try await laws(in: Fixture(in: directory)).count == recorded.count)
    #expect(service.requests.count == requests.count)
  }

  @Test func `recording again replaces the recording, once in a process`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let old = directory.appending(path: "0001-get-old.http")
    for name in [old, directory.appending(path: "README.md")] { try Data().write(to: name) }
    let fixture = Fixture(in: directory, recording: service.transport)
    for limit in [10, 20] {
      let lamps = try plugin.remote(
        in: fixture.environment(for: plugin, with: service.settings))
      _ = try await lamps.page(PageRequest(limit: limit))
    }
    let names = try fixture.files().keys.sorted()
    #expect(names.count == 3 && names.last == "README.md")
    #expect(!names.contains(old.lastPathComponent))
  }

  @Test func `says how to make a recording that is missing`() throws {
    let error = #expect(throws: SourceError.self) {
      try Fixture(in: directory).environment(for: plugin)
    }
    #expect(error?.code == .storage)
    #expect(error?.remedy?.text == "make it with AGGREGATOR_RECORD_FIXTURES=live")
  }
}
