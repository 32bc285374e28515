public import AggregatorKit
public import Foundation

/// A recording that tests replay, made from a service of this machine.
///
/// It lies in `Recordings/` beside the test, and is the same, byte for byte, whenever it is made. It
/// speaks of the address of the real service, so that it answers a source with its default settings:
/// `aggregator heroes list --replay Tests/HeroesTests/Recordings/fair`.
public struct Fixture: Sendable {
  /// Fri, 20 Nov 2026, 10:10:00 UTC, when all of them were made.
  public static let date = Date(timeIntervalSince1970: 1_795_169_400)

  /// Where it lies.
  public let directory: URL

  /// The recording of this name.
  ///
  /// - Parameters:
  ///   - name: Of the directory in `Recordings/`.
  ///   - file: The test.
  public init(_ name: String, beside file: String = #filePath) {
    directory = URL(filePath: file).deletingLastPathComponent()
      .appending(path: "Recordings/\(name)")
  }

  /// What is in it.
  ///
  /// - Returns: Texts by the names of their files.
  /// - Throws: What the system says if a file cannot be read.
  public func files() throws -> [String: String] { try Self.files(in: directory) }

  /// An environment in which this recording answers.
  ///
  /// - Parameters:
  ///   - plugin: Whose.
  ///   - settings: What is set, beside the defaults.
  /// - Returns: The environment.
  /// - Throws: ``SourceError`` if it cannot be read.
  public func environment(
    for plugin: some Plugin, with settings: [String: String] = [:]
  ) throws(SourceError) -> PluginEnvironment {
    PluginEnvironment(settings: Settings(settings), transport: HTTPTransport.standard)
      .replaying(try Recording(directory.path), knowing: plugin.settings)
  }

  /// Asks a service, and gives the files that are written of it.
  ///
  /// With `AGGREGATOR_RECORD_FIXTURES=1` they take the place of those that are there.
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - plugin: Whose bare source asks.
  ///   - ask: What is asked.
  /// - Returns: Texts by the names of their files.
  /// - Throws: What `ask` throws, or what the system says if a file cannot be written.
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
      plugin.remote(in: environment.recording(into: place.path, hiding: plugin.settings)))
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

/// Sends to a service of this machine what is meant for the real one.
private struct Rerouted<Base: Transport>: Transport {
  let base: Base
  let from: String
  let to: String

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let address = request.url.absoluteString
    guard address.hasPrefix(from), let url = URL(string: to + address.dropFirst(from.count)) else {
      throw SourceError(.badUsage, "\(address) is not at \(from)")
    }
    var request = request
    request.url = url
    return try await base.send(request)
  }
}
