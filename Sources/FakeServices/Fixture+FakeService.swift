package import AggregatorKit
package import AggregatorTestSupport
import Foundation

/// Recordings made from a local service.
///
/// Recording again yields the same bytes. They contain the URL of the real service, so they work with the default
/// settings: `aggregator heroes list --replay Tests/HeroesTests/Recordings/working`.
extension Fixture {
  /// Fri, 20 Nov 2026, 10:10:00 UTC, the date of all these recordings.
  package static let date = Date(timeIntervalSince1970: 1_795_169_400)

  /// Records requests to a service, and returns the contents of the files by name.
  ///
  /// Replaces the recording if `AGGREGATOR_RECORD_FIXTURES=1`.
  package func recordedAnew<Item: SourceRecord>(
    from service: some FakeService, for plugin: some Plugin<Item>,
    _ ask: (any DataSource<Item>) async throws -> Void
  ) async throws -> [String: String] {
    let isKept = ProcessInfo.processInfo.environment["AGGREGATOR_RECORD_FIXTURES"] == "1"
    let place = isKept ? directory : .temporaryDirectory.appending(path: "fixture-\(UUID())")
    defer { if !isKept { try? FileManager.default.removeItem(at: place) } }
    var settings = service.settings
    let address = plugin.settings.first { $0.form == .url && settings[$0.key] != nil }
    if let address { settings[address.key] = nil }
    let transport = Rerouted(
      base: service.transport, from: address?.defaultValue ?? "", to: service.url.absoluteString)
    let environment = PluginEnvironment(
      settings: SourceSettings(settings), transport: transport, now: { Self.date })
    if isKept {
      for name in try files().keys {
        try FileManager.default.removeItem(at: directory.appending(path: name))
      }
    }
    try await ask(
      plugin.remote(in: environment.recording(into: place, hiding: plugin.settings)))
    return try Fixture(in: place).files()
  }
}

/// Redirects requests for the real service to a local one.
private struct Rerouted<Base: Transport>: Transport {
  let base: Base
  let from: String
  let to: String

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let address = request.url.absoluteString
    guard address.hasPrefix(from), let url = URL(string: to + address.dropFirst(from.count)) else {
      throw SourceError(.invalidRequest, "\(address) is not at \(from)")
    }
    var request = request
    request.url = url
    return try await base.send(request)
  }
}
