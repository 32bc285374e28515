public import AggregatorKit
import Foundation

/// A recording for tests, made from a local service.
///
/// It is in `Recordings/` beside the test, and recording it again yields the same bytes. It
/// contains the URL of the real service, so it works with the default settings: `aggregator heroes
/// list --replay Tests/HeroesTests/Recordings/working`.
public struct Fixture: Sendable {
  /// Fri, 20 Nov 2026, 10:10:00 UTC, the date of all recordings.
  public static let date = Date(timeIntervalSince1970: 1_795_169_400)

  public let directory: URL

  /// The recording with this name in `Recordings/` beside the test.
  public init(_ name: String, beside file: String = #filePath) {
    directory = URL(filePath: file).deletingLastPathComponent()
      .appending(path: "Recordings/\(name)")
  }

  /// The contents of the files by name.
  public func files() throws -> [String: String] { try Self.files(in: directory) }

  /// An environment that replays this recording.
  public func environment(
    for plugin: some Plugin, with settings: [String: String] = [:]
  ) throws(SourceError) -> PluginEnvironment {
    PluginEnvironment(settings: Settings(settings), transport: HTTPTransport.standard)
      .replaying(try Recording(directory), knowing: plugin.settings)
  }

  /// Records requests to a service, and returns the contents of the files by name.
  ///
  /// Replaces the recording if `AGGREGATOR_RECORD_FIXTURES=1`.
  public func recordedAnew<Item: Record>(
    from service: some FakeService, for plugin: some Plugin<Item>,
    _ ask: (any DataSource<Item>) async throws -> Void
  ) async throws -> [String: String] {
    let isKept = ProcessInfo.processInfo.environment["AGGREGATOR_RECORD_FIXTURES"] == "1"
    let place =
      isKept
      ? directory : .temporaryDirectory.appending(path: "fixture-\(UUID())")
    defer { if !isKept { try? FileManager.default.removeItem(at: place) } }
    if isKept {
      for name in try files().keys {
        try FileManager.default.removeItem(at: directory.appending(path: name))
      }
    }
    var settings = service.settings
    let address = plugin.settings.first { $0.form == .url && settings[$0.key] != nil }
    if let address { settings[address.key] = nil }
    let transport = Rerouted(
      base: service.transport, from: address?.defaultValue ?? "", to: service.url.absoluteString)
    let environment = PluginEnvironment(
      settings: Settings(settings), transport: transport, now: { Self.date })
    try await ask(
      plugin.remote(in: environment.recording(into: place, hiding: plugin.settings)))
    return try Self.files(in: place)
  }

  private static func files(in place: URL) throws -> [String: String] {
    guard FileManager.default.fileExists(atPath: place.path) else { return [:] }
    let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
    return try names.reduce(into: [:]) { files, name in
      files[name] = String(
        decoding: try Data(contentsOf: place.appending(path: name)), as: UTF8.self)
    }
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
